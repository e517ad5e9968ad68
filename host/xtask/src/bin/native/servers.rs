//! The other ends: they say their address, and serve until their stdin ends.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use nix::errno::Errno;
use nix::sys::socket::{Backlog, listen};

use crate::{CHUNK, raise_open_files};

pub fn tcp(serve: fn(TcpStream) -> io::Result<()>) -> Result<()> {
    raise_open_files()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    // The standard library lets 128 clients wait; the next one's connect would be dropped and tried again a second later.
    listen(&listener, Backlog::MAXALLOWABLE)?;
    announce(listener.local_addr()?)?;
    loop {
        match listener.accept() {
            // A client that leaves is no error, and a thousand of them need small stacks.
            Ok((stream, _)) => drop(thread::Builder::new().stack_size(128 * 1024).spawn(move || drop(serve(stream)))?),
            Err(error) if out_of_files(&error) => thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Clients of the run before give theirs back in a moment.
fn out_of_files(error: &io::Error) -> bool {
    matches!(error.raw_os_error().map(Errno::from_raw), Some(Errno::EMFILE | Errno::ENFILE))
}

pub fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            length => stream.write_all(&buffer[..length])?,
        }
    }
}

pub fn swallow(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    while stream.read(&mut buffer)? > 0 {}
    Ok(())
}

/// Says, at the end of a connection, how many bytes came, and how many of them in the first second.
pub fn meter(mut stream: TcpStream) -> io::Result<()> {
    let start = Instant::now();
    let (mut bytes, mut first_second) = (0, 0);
    let mut buffer = vec![0; CHUNK];
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            // Before the close that the client waits for.
            println!("bytes={bytes} first_second={first_second}");
            return Ok(());
        }
        bytes += length;
        if start.elapsed() <= Duration::from_secs(1) {
            first_second = bytes;
        }
    }
}

pub fn udp() -> Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    announce(socket.local_addr()?)?;
    let mut buffer = [0; 4096];
    loop {
        // An error is about a datagram sent before, to a client that has left since.
        if let Ok((length, sender)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..length], sender);
        }
    }
}

/// Says where the server is, and ends the process as soon as its parent has gone.
pub fn announce(address: impl std::fmt::Display) -> Result<()> {
    println!("{address}");
    io::stdout().flush()?;
    thread::Builder::new().spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0)
    })?;
    Ok(())
}
