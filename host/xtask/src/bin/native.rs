//! What the bench's guests are held against: the same work, on the standard library, as a native program.
//!
//! Servers print their address and then serve until their stdin ends. Clients do what the probe of the same name does
//! and print their figures as `p50_ns=N total_ns=N`. `watch` runs another program and prints what it took in all.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::socket::{Backlog, listen};

/// How much is written and read at once where it is a lot, in bytes. The probe has the same.
const CHUNK: usize = 64 * 1024;

/// A datagram that is lost on loopback ends the run instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["nothing"] => Ok(()),
        ["echo-server", "tcp"] => serve_tcp(echo_back),
        ["echo-server", "udp"] => serve_udp(),
        ["sink"] => serve_tcp(swallow),
        ["echo", "tcp", address, count] => {
            let mut stream = TcpStream::connect(address)?;
            echo(count, |byte| {
                stream.write_all(byte)?;
                stream.read_exact(byte)
            })
        }
        ["echo", "udp", address, count] => {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.connect(address)?;
            socket.set_read_timeout(Some(PATIENCE))?;
            echo(count, |byte| {
                socket.send(byte)?;
                socket.recv(byte).map(drop)
            })
        }
        ["bulk", address, bytes] => bulk(address, bytes),
        ["many", address, count] => many(address, count),
        ["watch", program, arguments @ ..] => watch(program, arguments),
        _ => bail!(
            "write one of: nothing, echo-server tcp|udp, sink, echo tcp|udp ADDRESS COUNT, bulk ADDRESS BYTES, \
             many ADDRESS COUNT, watch PROGRAM ARGUMENTS"
        ),
    }
}

/// Times each of `count` round trips.
fn echo(count: &str, mut round_trip: impl FnMut(&mut [u8; 1]) -> io::Result<()>) -> Result<()> {
    let count: usize = count.parse().context("COUNT is a number")?;
    ensure!(count > 0, "COUNT is at least 1");
    let mut times = Vec::with_capacity(count);
    let start = Instant::now();
    let mut last = start;
    for _ in 0..count {
        round_trip(&mut [b'x'])?;
        // The end of one is the start of the next, as in the guest.
        let now = Instant::now();
        times.push(now - last);
        last = now;
    }
    let total = last - start;
    times.sort_unstable();
    println!("p50_ns={} total_ns={}", times[count / 2].as_nanos(), total.as_nanos());
    Ok(())
}

/// Sends `bytes`, and waits until the other end has read them all and closes.
fn bulk(address: &str, bytes: &str) -> Result<()> {
    let mut left: usize = bytes.parse().context("BYTES is a number")?;
    let chunk = vec![b'x'; CHUNK];
    let start = Instant::now();
    let mut stream = TcpStream::connect(address)?;
    while left > 0 {
        left -= stream.write(&chunk[..left.min(CHUNK)])?;
    }
    stream.shutdown(Shutdown::Write)?;
    ensure!(stream.read(&mut [0])? == 0, "the sink answered");
    println!("total_ns={}", start.elapsed().as_nanos());
    Ok(())
}

/// Opens `count` connections, then sends a byte on each, then reads it back from each.
fn many(address: &str, count: &str) -> Result<()> {
    let count: usize = count.parse().context("COUNT is a number")?;
    let start = Instant::now();
    let mut streams = Vec::with_capacity(count);
    for _ in 0..count {
        streams.push(TcpStream::connect(address)?);
    }
    for stream in &mut streams {
        stream.write_all(b"x")?;
    }
    for stream in &mut streams {
        stream.read_exact(&mut [0])?;
    }
    println!("total_ns={}", start.elapsed().as_nanos());
    Ok(())
}

/// Runs a program out of sight. This process is small on purpose: what a parent holds when it starts a child counts,
/// in Linux, as the child's.
fn watch(program: &str, arguments: &[&str]) -> Result<()> {
    let start = Instant::now();
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output()?;
    let total = start.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{program}` failed ({}): {said}", output.status);
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss() * 1024;
    println!("total_ns={} peak_bytes={peak}", total.as_nanos());
    Ok(())
}

fn serve_tcp(serve: fn(TcpStream) -> io::Result<()>) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    // The standard library lets 128 clients wait; the next one's connect would be dropped and tried again a second later.
    listen(&listener, Backlog::MAXALLOWABLE)?;
    announce(listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept()?;
        // A client that leaves is no error, and a thousand of them need small stacks.
        thread::Builder::new().stack_size(128 * 1024).spawn(move || drop(serve(stream)))?;
    }
}

fn echo_back(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            length => stream.write_all(&buffer[..length])?,
        }
    }
}

fn swallow(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    while stream.read(&mut buffer)? > 0 {}
    Ok(())
}

fn serve_udp() -> Result<()> {
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
fn announce(address: std::net::SocketAddr) -> Result<()> {
    println!("{address}");
    io::stdout().flush()?;
    thread::Builder::new().spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0)
    })?;
    Ok(())
}
