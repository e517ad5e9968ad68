//! The bench's round trips: `echo tcp|udp ADDR COUNT` sends one byte and waits for it, COUNT times, and prints the
//! median, the 99th percentile and the sum.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use wasip2::clocks::monotonic_clock;
use wrun_guest::{TcpStream, UdpSocket, args};

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [protocol, address, count] = &words[..] else { return Err("usage: echo tcp|udp ADDR COUNT".into()) };
        let (address, count) = (args::address(address)?, count.parse()?);
        match protocol.as_str() {
            "tcp" => {
                let mut stream = TcpStream::connect(address, None)?;
                measure(count, |byte| {
                    stream.write_all(byte)?;
                    stream.read_exact(byte)
                })
            }
            "udp" => {
                let mut socket = UdpSocket::bind(SocketAddr::new(address.ip(), 0))?;
                socket.connect(address)?;
                measure(count, |byte| {
                    socket.send(byte)?;
                    socket.recv(byte).map(drop)
                })
            }
            _ => Err("usage: echo tcp|udp ADDR COUNT".into()),
        }
    })
}

fn measure(count: usize, mut trip: impl FnMut(&mut [u8; 1]) -> io::Result<()>) -> Result<(), Box<dyn Error>> {
    if count == 0 {
        return Err("COUNT is at least 1".into());
    }
    let mut times = Vec::with_capacity(count);
    // The host's clock without std between: what is measured is the sockets.
    let start = monotonic_clock::now();
    let mut last = start;
    for _ in 0..count {
        trip(&mut [b'x'])?;
        // The end of one is the start of the next: a reading of the clock is a call of the host.
        let now = monotonic_clock::now();
        times.push(now - last);
        last = now;
    }
    let total = last - start;
    times.sort_unstable();
    println!("p50_ns={} p99_ns={} total_ns={}", times[count / 2], times[count * 99 / 100], total);
    Ok(())
}
