//! Round trips of a guest that never waits: `spin-echo try|wait ADDR COUNT` sends one byte and asks for it again and
//! again, COUNT times, and prints the median.
//!
//! `try` asks the stream itself, `wait` asks whether it is readable, with no time to wait. Guests that are ported from
//! firmware do so, and a host that only looks at the network when its guest waits would starve them.

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use wrun_guest::{TcpStream, args, wait};

/// A peer that goes silent ends the run instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(10);

const USAGE: &str = "usage: spin-echo try|wait ADDR COUNT, with COUNT at least 1";

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [how, address, count] = &words[..] else { return Err(USAGE.into()) };
        let arrived = match how.as_str() {
            "try" => always,
            "wait" => readable,
            _ => return Err(USAGE.into()),
        };
        let stream = TcpStream::connect(args::address(address)?, Some(PATIENCE))?;
        let median = measure(&stream, count.parse()?, arrived)?;
        println!("p50_ns={}", median.as_nanos());
        Ok(())
    })
}

fn measure(
    stream: &TcpStream,
    count: usize,
    arrived: fn(&TcpStream) -> io::Result<bool>,
) -> Result<Duration, Box<dyn Error>> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        (&mut &*stream).write_all(b"x")?;
        while !(arrived(stream)? && received(stream)?) {
            if start.elapsed() > PATIENCE {
                return Err("the peer does not answer".into());
            }
        }
        times.push(start.elapsed());
    }
    times.sort_unstable();
    times.get(count / 2).copied().ok_or_else(|| USAGE.into())
}

fn always(_: &TcpStream) -> io::Result<bool> {
    Ok(true)
}

fn readable(stream: &TcpStream) -> io::Result<bool> {
    Ok(!wait(&[stream.readable()], Some(Duration::ZERO))?.is_empty())
}

fn received(stream: &TcpStream) -> io::Result<bool> {
    match stream.try_read(&mut [0]) {
        Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}
