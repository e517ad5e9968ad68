//! Many connections at once, by the calls that the probe `many` makes of its host: all connects are under way together,
//! then a byte is sent on each, and then all answers are waited for together.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddrV4, TcpStream};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, connect, socket};

use crate::clients::end_if_it_hangs;
use crate::raise_open_files;

pub fn run(address: &str, count: &str) -> Result<()> {
    let address: SocketAddrV4 = address.parse().context("ADDRESS is IPv4 and a port")?;
    let count: usize = count.parse().context("COUNT is a number")?;
    raise_open_files()?;
    end_if_it_hangs();
    let start = Instant::now();
    let under_way: Vec<TcpStream> = (0..count).map(|_| start_connect(address)).collect::<Result<_>>()?;
    let mut streams = each(under_way, PollFlags::POLLOUT, |stream| Ok(stream.take_error()?.map_or(Ok(()), Err)?))?;
    for stream in &mut streams {
        stream.write_all(b"x")?;
    }
    // They stay open until all have their answer.
    let _open = each(streams, PollFlags::POLLIN, |stream| Ok(stream.read_exact(&mut [0])?))?;
    println!("total_ns={}", start.elapsed().as_nanos());
    Ok(())
}

fn start_connect(address: SocketAddrV4) -> Result<TcpStream> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    match connect(socket.as_raw_fd(), &SockaddrIn::from(address)) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(socket.into()),
        Err(error) => bail!("connect to {address}: {error}"),
    }
}

/// Does something once with each stream, as soon as it is ready for it.
fn each(
    mut waiting: Vec<TcpStream>,
    ready: PollFlags,
    mut work: impl FnMut(&mut TcpStream) -> Result<()>,
) -> Result<Vec<TcpStream>> {
    let mut done = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let mut asked: Vec<PollFd<'_>> = waiting.iter().map(|stream| PollFd::new(stream.as_fd(), ready)).collect();
        poll(&mut asked, PollTimeout::NONE)?;
        let places: Vec<usize> = (0..asked.len()).filter(|place| asked[*place].any() == Some(true)).collect();
        for place in places.into_iter().rev() {
            match work(&mut waiting[place]) {
                Ok(()) => done.push(waiting.swap_remove(place)),
                Err(error) if would_block(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(done)
}

fn would_block(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::WouldBlock)
}
