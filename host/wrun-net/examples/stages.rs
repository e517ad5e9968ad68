//! Two stages of delay, one around the other: what a round trip over loopback takes through both.
//!
//! `stages ADDRESS DELAY_MS COUNT` makes COUNT round trips of a byte to an echo server, each delayed by DELAY_MS in each of
//! the two stages on its way there, and as many without a stage, and prints both medians. It is also how one wrapper is put
//! around another.

use std::error::Error;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wrun_net::native::Native;
use wrun_net::shape::Profile;
use wrun_net::shape::profile::{Delay, Effects, Match, Path, Regime, Rule};
use wrun_net::throttled::{Precision, Throttled};
use wrun_net::{Backend, Error as SocketError, Family, Result as SocketResult, TcpStream};

/// Any: nothing here is drawn by chance.
const SEED: u64 = 1;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [server, delay, count] = &words[..] else { return Err("usage: stages ADDRESS DELAY_MS COUNT".into()) };
    let (server, delay, count) = (server.parse()?, Duration::from_millis(delay.parse()?), count.parse()?);
    let plain: Arc<dyn Backend> = Arc::new(Native::new());
    let stage = |inner, seed| Throttled::new(inner, later(delay), seed, Precision::Fine);
    let two = stage(stage(plain.clone(), SEED), SEED + 1);
    println!("plain_ns={} stages_ns={}", median(&*plain, server, count).await?, median(&*two, server, count).await?);
    Ok(())
}

/// A profile that delays what is sent.
fn later(base: Duration) -> Profile {
    let up = Path { delay: Delay { base, ..Delay::default() }, ..Path::default() };
    let effects = Effects { up, ..Effects::default() };
    let regimes = vec![Regime { lasts: Duration::from_secs(1), effects }];
    let rules = vec![Rule { name: "all".to_owned(), matches: Match::default(), regimes }];
    Profile { name: "later".to_owned(), rules, ..Profile::default() }
}

/// Of `count` round trips of a byte, in nanoseconds.
async fn median(backend: &dyn Backend, server: SocketAddr, count: usize) -> Result<u128, Box<dyn Error>> {
    let stream = backend.tcp(Family::of(server.ip()))?.connect(server).await?;
    let mut times = Vec::new();
    for _ in 0..count {
        let start = Instant::now();
        write(&*stream).await?;
        read(&*stream).await?;
        times.push(start.elapsed().as_nanos());
    }
    times.sort_unstable();
    times.get(count / 2).copied().ok_or_else(|| "COUNT is at least 1".into())
}

async fn write(stream: &dyn TcpStream) -> SocketResult<usize> {
    loop {
        match stream.try_write(b"x") {
            Err(SocketError::WouldBlock) => poll_fn(|cx| stream.poll_write_ready(cx)).await,
            answer => return answer,
        }
    }
}

async fn read(stream: &dyn TcpStream) -> SocketResult<usize> {
    loop {
        match stream.try_read(&mut [0]) {
            Err(SocketError::WouldBlock) => poll_fn(|cx| stream.poll_read_ready(cx)).await,
            answer => return answer,
        }
    }
}
