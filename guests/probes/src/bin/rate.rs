//! The bench's rates: `rate ADDR BYTES PIECE SOCKETS` sends so many bytes in all, evenly on so many connections at once,
//! PIECE bytes at a time, waits until the peer has read them all and closes, and prints the time.

use std::io::Read;
use std::net::Shutdown;
use std::process::ExitCode;
use std::time::Instant;

use wrun_guest::{TcpStream, args, wait};

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [address, bytes, piece, sockets] = &words[..] else {
            return Err("usage: rate ADDR BYTES PIECE SOCKETS".into());
        };
        let (address, bytes, sockets) = (args::address(address)?, args::size(bytes)?, sockets.parse::<u64>()?);
        let piece = vec![b'x'; usize::try_from(args::size(piece)?)?];
        let start = Instant::now();
        let mut streams = Vec::new();
        for _ in 0..sockets {
            streams.push((TcpStream::connect(address, None)?, bytes / sockets));
        }
        loop {
            // As far as it goes without waiting, and only then by waiting.
            for (stream, left) in &mut streams {
                while *left > 0 {
                    let size = piece.len().min(usize::try_from(*left)?);
                    match stream.try_write(&piece[..size]) {
                        Ok(sent) => *left -= sent as u64,
                        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                        Err(error) => return Err(error.into()),
                    }
                    if *left == 0 {
                        stream.shutdown(Shutdown::Write)?;
                    }
                }
            }
            let open: Vec<usize> = (0..streams.len()).filter(|place| streams[*place].1 > 0).collect();
            if open.is_empty() {
                break;
            }
            let interests: Vec<_> = open.iter().map(|place| streams[*place].0.writable()).collect();
            wait(&interests, None)?;
        }
        for (stream, _) in &mut streams {
            if stream.read(&mut [0])? > 0 {
                return Err("the peer sent something instead of closing".into());
            }
        }
        println!("total_ns={}", start.elapsed().as_nanos());
        Ok(())
    })
}
