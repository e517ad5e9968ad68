//! The bench's losses: `numbered UDP-ADDR TCP-ADDR COUNT` sends COUNT numbered datagrams to a counting server, a few at a
//! time, each time waiting over TCP until the server has taken what had come, and prints what the server counted.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use wrun_guest::{TcpStream, UdpSocket, args};

/// What a socket's buffer surely holds.
const AT_ONCE: u32 = 100;

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [datagrams, control, count] = &words[..] else {
            return Err("usage: numbered UDP-ADDR TCP-ADDR COUNT".into());
        };
        let (datagrams, control, count) = (args::address(datagrams)?, args::address(control)?, count.parse::<u32>()?);
        let mut control = TcpStream::connect(control, None)?;
        let mut socket = UdpSocket::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        socket.connect(datagrams)?;
        for number in 0..count {
            socket.send(&number.to_le_bytes())?;
            if (number + 1) % AT_ONCE == 0 {
                control.write_all(b"?")?;
                control.read_exact(&mut [0])?;
            }
        }
        // The last ones may still be on their way.
        std::thread::sleep(Duration::from_millis(200));
        control.write_all(b"!")?;
        let mut said = String::new();
        control.read_to_string(&mut said)?;
        print!("{said}");
        Ok(())
    })
}
