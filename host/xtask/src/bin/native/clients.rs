//! The clients that do one thing after the other.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpStream, UdpSocket};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use nix::unistd::alarm;

use crate::CHUNK;

/// Seconds after which a client is ended by the system.
const PATIENCE: u32 = 120;

/// Ends a run that hangs, for one because a datagram was lost. A time limit of the socket, or a thread that watches,
/// would cost the measured calls something; this costs them nothing.
pub fn end_if_it_hangs() {
    alarm::set(PATIENCE);
}

/// Times each of `count` round trips of a byte.
pub fn echo(protocol: &str, address: &str, count: &str) -> Result<()> {
    end_if_it_hangs();
    if protocol == "tcp" {
        let mut stream = TcpStream::connect(address)?;
        return time(count, |byte| {
            stream.write_all(byte)?;
            stream.read_exact(byte)
        });
    }
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.connect(address)?;
    time(count, |byte| {
        socket.send(byte)?;
        socket.recv(byte).map(drop)
    })
}

fn time(count: &str, mut round_trip: impl FnMut(&mut [u8; 1]) -> io::Result<()>) -> Result<()> {
    let count: usize = count.parse().context("COUNT is a number")?;
    ensure!(count > 0, "COUNT is at least 1");
    let mut times = Vec::with_capacity(count);
    let start = Instant::now();
    let mut last = start;
    for _ in 0..count {
        round_trip(&mut [b'x'])?;
        // The end of one is the start of the next, as in the guest.
        let now = Instant::now();
        times.push(now - last);
        last = now;
    }
    let total = last - start;
    times.sort_unstable();
    println!("p50_ns={} total_ns={}", times[count / 2].as_nanos(), total.as_nanos());
    Ok(())
}

/// Sends `bytes`, and waits until the other end has read them all and closes.
pub fn bulk(address: &str, bytes: &str) -> Result<()> {
    let mut left: usize = bytes.parse().context("BYTES is a number")?;
    end_if_it_hangs();
    let chunk = vec![b'x'; CHUNK];
    let start = Instant::now();
    let mut stream = TcpStream::connect(address)?;
    while left > 0 {
        left -= stream.write(&chunk[..left.min(CHUNK)])?;
    }
    stream.shutdown(Shutdown::Write)?;
    ensure!(stream.read(&mut [0])? == 0, "the sink answered");
    println!("total_ns={}", start.elapsed().as_nanos());
    Ok(())
}
