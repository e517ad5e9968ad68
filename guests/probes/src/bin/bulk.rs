//! The bench's bulk: `bulk ADDR BYTES` sends so many bytes, 64 KiB at a time, and waits until the peer has read them all
//! and closes.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::process::ExitCode;
use std::time::Instant;

use wrun_guest::{TcpStream, args};

const PIECE: usize = 64 * 1024;

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [address, bytes] = &words[..] else { return Err("usage: bulk ADDR BYTES".into()) };
        let (address, mut left) = (args::address(address)?, args::size(bytes)?);
        let piece = vec![b'x'; PIECE];
        let start = Instant::now();
        let mut stream = TcpStream::connect(address, None)?;
        while left > 0 {
            let size = left.min(PIECE as u64);
            left -= stream.write(&piece[..size as usize])? as u64;
        }
        stream.shutdown(Shutdown::Write)?;
        if stream.read(&mut [0])? > 0 {
            return Err("the peer sent something instead of closing".into());
        }
        println!("total_ns={}", start.elapsed().as_nanos());
        Ok(())
    })
}
