//! Many connections that say nothing, and some that ask without a pause: how long one of these waits at most.

use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use super::Random;
use super::connection::{Connection, parse};
use crate::clients::end_if_it_hangs;
use crate::raise_open_files;

/// `IDLE` connections beside `BUSY` ones that make `COUNT` gets each, one after the other.
pub fn idle(address: &str, idle: &str, busy: &str, count: &str) -> Result<()> {
    let number = |text: &str| text.parse::<usize>().with_context(|| format!("{text} is no number"));
    let (address, count) = (parse(address)?, number(count)?);
    raise_open_files()?;
    end_if_it_hangs();
    let _idle = (0..number(idle)?).map(|_| Connection::open(address)).collect::<Result<Vec<_>>>()?;
    let mut busy = (0..number(busy)?).map(|_| Connection::open(address)).collect::<Result<Vec<_>>>()?;
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    for (place, connection) in busy.iter().enumerate() {
        epoll.add(connection.as_fd(), EpollEvent::new(EpollFlags::EPOLLIN, place as u64))?;
    }
    let mut random = Random::new();
    let mut left = vec![count; busy.len()];
    let mut times: Vec<Duration> = Vec::with_capacity(count * busy.len());
    let start = Instant::now();
    for (place, connection) in busy.iter_mut().enumerate() {
        if left[place] > 0 {
            connection.get(random.below(1000));
            connection.send()?;
        }
    }
    let mut events = vec![EpollEvent::empty(); busy.len().max(1)];
    while left.iter().any(|left| *left > 0) {
        let ready = epoll.wait(&mut events, EpollTimeout::NONE)?;
        for event in &events[..ready] {
            let place = usize::try_from(event.data())?;
            let connection = &mut busy[place];
            connection.receive(|_, since| {
                times.push(since.elapsed());
                left[place] -= 1;
            })?;
            if connection.in_flight() == 0 && left[place] > 0 {
                connection.get(random.below(1000));
                connection.send()?;
            }
        }
    }
    let total = start.elapsed();
    times.sort_unstable();
    let at = |place: usize| times.get(place).map_or(0, Duration::as_nanos);
    println!(
        "total_ns={} p50_ns={} max_ns={}",
        total.as_nanos(),
        at(times.len() / 2),
        at(times.len().saturating_sub(1))
    );
    Ok(())
}
