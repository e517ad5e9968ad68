//! Receives for ever: `block connect ADDR` from a peer that sends nothing, `block accept ADDR` from nobody.
//!
//! Prints a line when it is about to, so that a test knows when to interrupt it.

use std::io::Read;
use std::process::ExitCode;

use wrun_guest::{TcpListener, TcpStream, args};

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let words: Vec<String> = std::env::args().skip(1).collect();
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["connect", address] => {
                let mut stream = TcpStream::connect(args::address(address)?, None)?;
                println!("receiving from {}", stream.peer_addr()?);
                while stream.read(&mut [0; 1024])? > 0 {}
                Ok(())
            }
            ["accept", address] => {
                let listener = TcpListener::bind(args::address(address)?)?;
                println!("accepting on {}", listener.local_addr()?);
                listener.accept(None)?;
                Ok(())
            }
            _ => Err("usage: block connect|accept ADDR".into()),
        }
    })
}
