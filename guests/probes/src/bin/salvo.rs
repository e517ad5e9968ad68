//! The bench's datagrams all at once: `salvo UDP-ADDR TCP-ADDR COUNT` sends COUNT of them to a timing server, as fast as it
//! can, and prints what the server says of how long they were on their way.
//!
//! Each carries the time of its sending by this guest's clock. How far the server's clock is from it is found first, over
//! TCP: to half of the quickest round trip.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use wasip2::clocks::monotonic_clock;
use wrun_guest::{TcpOptions, TcpStream, UdpSocket, args};

/// Round trips from which the quickest is taken.
const TRIPS: usize = 200;

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [datagrams, control, count] = &words[..] else {
            return Err("usage: salvo UDP-ADDR TCP-ADDR COUNT".into());
        };
        let (datagrams, control, count) = (args::address(datagrams)?, args::address(control)?, count.parse::<u32>()?);
        let mut control = TcpStream::connect(control, None)?;
        control.set_nodelay(true)?;
        let ahead = clocks_apart(&mut control)?;
        let mut socket = UdpSocket::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        socket.connect(datagrams)?;
        control.write_all(b"!")?;
        control.write_all(&count.to_le_bytes())?;
        for _ in 0..count {
            socket.send(&monotonic_clock::now().wrapping_add(ahead).to_le_bytes())?;
        }
        let mut said = String::new();
        control.read_to_string(&mut said)?;
        print!("{said}");
        Ok(())
    })
}

/// By how much the server's clock is ahead of this one, wrapping.
fn clocks_apart(control: &mut TcpStream) -> Result<u64, Box<dyn Error>> {
    let mut quickest = u64::MAX;
    let mut ahead = 0;
    for _ in 0..TRIPS {
        let mut there = [0; 8];
        let start = monotonic_clock::now();
        control.write_all(b"?")?;
        control.read_exact(&mut there)?;
        let took = monotonic_clock::now() - start;
        if took < quickest {
            quickest = took;
            ahead = u64::from_le_bytes(there).wrapping_sub(start + took / 2);
        }
    }
    Ok(ahead)
}
