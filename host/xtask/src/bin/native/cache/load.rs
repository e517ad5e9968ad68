//! Reads and writes over several connections, as many in flight as is asked for.

use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use super::Random;
use super::connection::{Connection, parse};
use crate::clients::end_if_it_hangs;

/// What is asked, in its order.
struct Work {
    random: Random,
    reads: u64,
    writes: u64,
    keys: u64,
    value: Vec<u8>,
}

impl Work {
    /// Asks for the next, of whichever kind, and says whether there was one.
    fn ask(&mut self, connection: &mut Connection) -> bool {
        let left = self.reads + self.writes;
        if left == 0 {
            return false;
        }
        let key = self.random.below(self.keys);
        if self.random.below(left) < self.reads {
            self.reads -= 1;
            connection.get(key);
        } else {
            self.writes -= 1;
            connection.set(key, &self.value);
        }
        true
    }
}

/// `ADDRESS CONNECTIONS PIPELINE parallel|one-at-a-time READS WRITES VALUE_SIZE KEYS`, every key written first.
pub fn load(arguments: &[&str]) -> Result<()> {
    let [address, connections, pipeline, mode, reads, writes, size, keys] = arguments else {
        bail!("write cache ADDRESS CONNECTIONS PIPELINE parallel|one-at-a-time READS WRITES VALUE_SIZE KEYS")
    };
    let number = |text: &str| text.parse::<u64>().with_context(|| format!("{text} is no number"));
    let (connections, pipeline, keys) = (number(connections)?, number(pipeline)?, number(keys)?);
    ensure!(connections > 0 && pipeline > 0 && keys > 0, "CONNECTIONS, PIPELINE and KEYS are at least 1");
    let address = parse(address)?;
    end_if_it_hangs();
    let mut open = (0..connections).map(|_| Connection::open(address)).collect::<Result<Vec<_>>>()?;
    let value = vec![b'v'; usize::try_from(number(size)?)?];
    for key in 0..keys {
        open[0].set(key, &value);
        while !open[0].send()? {}
        while open[0].in_flight() > 0 {
            open[0].receive(|_, _| ())?;
        }
    }
    let mut work = Work { random: Random::new(), reads: number(reads)?, writes: number(writes)?, keys, value };
    let mut times = Vec::with_capacity(usize::try_from(work.reads + work.writes)?);
    let start = Instant::now();
    match *mode {
        "parallel" => parallel(&mut open, pipeline, &mut work, &mut times)?,
        "one-at-a-time" => in_turn(&mut open, &mut work, &mut times)?,
        other => bail!("{other} is no mode: write parallel or one-at-a-time"),
    }
    let total = start.elapsed();
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).map_or(0, Duration::as_nanos);
    println!("total_ns={} p50_ns={} p95_ns={}", total.as_nanos(), at(50), at(95));
    Ok(())
}

/// As many in flight on each connection as the pipeline holds.
fn parallel(open: &mut [Connection], pipeline: u64, work: &mut Work, times: &mut Vec<Duration>) -> Result<()> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    for (place, connection) in open.iter().enumerate() {
        epoll.add(connection.as_fd(), EpollEvent::new(EpollFlags::EPOLLIN, place as u64))?;
    }
    for connection in &mut *open {
        while (connection.in_flight() as u64) < pipeline && work.ask(connection) {}
        ensure!(connection.send()?, "the server takes no more, and answers are not read yet");
    }
    let mut events = vec![EpollEvent::empty(); open.len()];
    while open.iter().any(|connection| connection.in_flight() > 0) {
        let count = epoll.wait(&mut events, EpollTimeout::NONE)?;
        for event in &events[..count] {
            let connection = &mut open[usize::try_from(event.data())?];
            connection.receive(|_, since| times.push(since.elapsed()))?;
            while (connection.in_flight() as u64) < pipeline && work.ask(connection) {}
            ensure!(connection.send()?, "the server takes no more, and answers are not read yet");
        }
    }
    Ok(())
}

/// One in flight in all, on each connection in turn.
fn in_turn(open: &mut [Connection], work: &mut Work, times: &mut Vec<Duration>) -> Result<()> {
    let epolls = open
        .iter()
        .map(|connection| {
            let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
            epoll.add(connection.as_fd(), EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
            Ok(epoll)
        })
        .collect::<Result<Vec<_>>>()?;
    let mut events = [EpollEvent::empty()];
    let count = open.len();
    for place in (0..count).cycle() {
        let connection = &mut open[place];
        if !work.ask(connection) {
            return Ok(());
        }
        ensure!(connection.send()?, "the server takes no more, and answers are not read yet");
        while connection.in_flight() > 0 {
            epolls[place].wait(&mut events, EpollTimeout::NONE)?;
            connection.receive(|_, since| times.push(since.elapsed()))?;
        }
    }
    Ok(())
}
