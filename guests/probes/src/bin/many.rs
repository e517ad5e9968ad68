//! The bench's many: `many ADDR COUNT` opens so many connections, all under way together, then sends a byte on each and
//! waits for all the answers at once.

use std::io::{self, ErrorKind, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use wrun_guest::{Connecting, Family, Interest, TcpSocket, TcpStream, args, wait};

/// A peer that goes silent ends the run instead of hanging it.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(10));

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [address, count] = &words[..] else { return Err("usage: many ADDR COUNT".into()) };
        let (address, count) = (args::address(address)?, count.parse()?);
        let start = Instant::now();
        let mut streams = open(address, count)?;
        for stream in &mut streams {
            stream.write_all(b"x")?;
        }
        answered(&streams)?;
        println!("total_ns={}", start.elapsed().as_nanos());
        Ok(())
    })
}

fn open(address: SocketAddr, count: usize) -> io::Result<Vec<TcpStream>> {
    let mut under_way: Vec<Connecting> =
        (0..count).map(|_| TcpSocket::new(Family::of(address))?.start_connect(address)).collect::<io::Result<_>>()?;
    let mut streams = Vec::with_capacity(count);
    while !under_way.is_empty() {
        let mut waiting = Vec::with_capacity(under_way.len());
        for mut connecting in under_way {
            match connecting.try_finish()? {
                Some(stream) => streams.push(stream),
                None => waiting.push(connecting),
            }
        }
        let interests: Vec<Interest<'_>> = waiting.iter().filter_map(Connecting::ended).collect();
        if !interests.is_empty() && wait(&interests, PATIENCE)?.is_empty() {
            return Err(io::Error::new(ErrorKind::TimedOut, "a connect got no answer"));
        }
        under_way = waiting;
    }
    Ok(streams)
}

fn answered(streams: &[TcpStream]) -> io::Result<()> {
    let mut silent: Vec<&TcpStream> = streams.iter().collect();
    while !silent.is_empty() {
        let interests: Vec<Interest<'_>> = silent.iter().map(|stream| stream.readable()).collect();
        let ready = wait(&interests, PATIENCE)?;
        if ready.is_empty() {
            return Err(io::Error::new(ErrorKind::TimedOut, format!("{} connections got no answer", silent.len())));
        }
        for place in ready.into_iter().rev() {
            match silent[place].try_read(&mut [0]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => drop(silent.swap_remove(place)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}
