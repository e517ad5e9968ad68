//! Many sets of values of many sizes, for what a server then holds.

use anyhow::{Context as _, Result, ensure};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::AsFd as _;

use super::Random;
use super::connection::{Connection, parse};
use crate::clients::end_if_it_hangs;

/// Sets in flight: enough to keep a server busy, few enough for its buffers and ours.
const IN_FLIGHT: usize = 50;

/// `COUNT` sets, each of another key, of 1 to `LARGEST` bytes.
pub fn fill(address: &str, count: &str, largest: &str) -> Result<()> {
    let (count, largest): (u64, u64) =
        (count.parse().context("COUNT is a number")?, largest.parse().context("LARGEST is a number")?);
    ensure!(largest > 0, "LARGEST is at least 1");
    end_if_it_hangs();
    let mut connection = Connection::open(parse(address)?)?;
    let mut random = Random::new();
    let value = vec![b'v'; usize::try_from(largest)?];
    let mut asked = 0;
    while asked < count || connection.in_flight() > 0 {
        while asked < count && connection.in_flight() < IN_FLIGHT {
            let size = usize::try_from(1 + random.below(largest))?;
            connection.set(asked, &value[..size]);
            asked += 1;
        }
        let all = connection.send()?;
        let wanted = if all { PollFlags::POLLIN } else { PollFlags::POLLIN | PollFlags::POLLOUT };
        poll(&mut [PollFd::new(connection.as_fd(), wanted)], PollTimeout::NONE)?;
        connection.receive(|_, _| ())?;
    }
    println!("count={count}");
    Ok(())
}
