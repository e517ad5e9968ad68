//! A server that says how long datagrams were on their way. It is to have a core of its own: on that of the sender its
//! receiving would be part of what it measures.
//!
//! It says the address of its datagrams and that of its control connection. There, a byte `?` is answered with this
//! server's clock, and `!` with a count of datagrams, each the time of its sending by this clock, with what became of them.
//! Numbers are little-endian, times nanoseconds.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use nix::sys::socket::{setsockopt, sockopt};

use crate::servers::announce;

/// What has not come after this long never will.
const PATIENCE: Duration = Duration::from_secs(2);

/// Bytes of its buffer, since ten thousand datagrams can come in a few milliseconds.
const BUFFER: usize = 16 << 20;

pub fn serve() -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let datagrams = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    datagrams.set_nonblocking(true)?;
    // Beyond the system's limit only where that is allowed; elsewhere up to it.
    if setsockopt(&datagrams, sockopt::RcvBufForce, &BUFFER).is_err() {
        setsockopt(&datagrams, sockopt::RcvBuf, &BUFFER).context("cannot ask for a larger buffer")?;
    }
    announce(format_args!("{} {}", datagrams.local_addr()?, listener.local_addr()?))?;
    let start = Instant::now();
    loop {
        let (stream, _) = listener.accept()?;
        time(stream, &datagrams, start)?;
    }
}

/// One client's datagrams.
fn time(mut control: TcpStream, datagrams: &UdpSocket, start: Instant) -> io::Result<()> {
    let now = || start.elapsed().as_nanos() as u64;
    control.set_nodelay(true)?;
    let mut asked = [0];
    while control.read(&mut asked)? > 0 {
        if asked == *b"?" {
            control.write_all(&now().to_le_bytes())?;
            continue;
        }
        let mut count = [0; 4];
        control.read_exact(&mut count)?;
        let count = u32::from_le_bytes(count) as usize;
        let mut times = Vec::with_capacity(count.min(1 << 20));
        let mut sent = [0; 8];
        let mut last = Instant::now();
        while times.len() < count && last.elapsed() < PATIENCE {
            // Asked again and again: to wake a receiver that sleeps would be the sender's work.
            if datagrams.recv(&mut sent).is_ok() {
                times.push(now().saturating_sub(u64::from_le_bytes(sent)));
                last = Instant::now();
            }
        }
        let lost = count - times.len();
        times.sort_unstable();
        let at = |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
        let [min, p50, p99, max] = [0, 50, 99, 100].map(|share| at(share).copied().unwrap_or_default());
        return control
            .write_all(format!("min_ns={min} p50_ns={p50} p99_ns={p99} max_ns={max} lost={lost}\n").as_bytes());
    }
    Ok(())
}
