//! Round trips of a guest that never waits: `spin-echo read|ready|poll ADDR COUNT` sends one byte and asks for it again
//! and again, COUNT times, and prints the median. ADDR is of IPv4.
//!
//! `read` asks the stream itself, `ready` its pollable, `poll` both it and a timer that has passed. Programs that were
//! ported from firmware do so, and a host that looks at the network only when its guest waits would starve them. It is
//! done on the bare bindings, as the SDK waits wherever it can.

use std::error::Error;
use std::net::SocketAddrV4;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::io::poll::{Pollable, poll};
use wasip2::io::streams::{InputStream, OutputStream};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::network::{ErrorCode, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress};
use wasip2::sockets::tcp::TcpSocket;
use wasip2::sockets::tcp_create_socket::create_tcp_socket;

/// A peer that goes silent ends the run instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(10);

const USAGE: &str = "usage: spin-echo read|ready|poll ADDR COUNT, with COUNT at least 1";

/// What goes first is dropped first, as the standard demands.
struct Connection {
    readable: Pollable,
    input: InputStream,
    output: OutputStream,
    _socket: TcpSocket,
}

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [how, address, count] = &words[..] else { return Err(USAGE.into()) };
        let arrived: fn(&Connection) -> bool = match how.as_str() {
            "read" => |_| true,
            "ready" => |connection| connection.readable.ready(),
            "poll" => |connection| poll(&[&connection.readable, &subscribe_duration(0)]).contains(&0),
            _ => return Err(USAGE.into()),
        };
        let median = measure(&connect(address.parse()?)?, count.parse()?, arrived)?;
        println!("p50_ns={}", median.as_nanos());
        Ok(())
    })
}

fn measure(
    connection: &Connection,
    count: usize,
    arrived: fn(&Connection) -> bool,
) -> Result<Duration, Box<dyn Error>> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        connection.output.blocking_write_and_flush(b"x")?;
        while !arrived(connection) || connection.input.read(1)?.is_empty() {
            patient(start)?;
        }
        times.push(start.elapsed());
    }
    times.sort_unstable();
    times.get(count / 2).copied().ok_or_else(|| USAGE.into())
}

fn connect(remote: SocketAddrV4) -> Result<Connection, Box<dyn Error>> {
    let [a, b, c, d] = remote.ip().octets();
    let remote = Ipv4SocketAddress { port: remote.port(), address: (a, b, c, d) };
    let socket = create_tcp_socket(IpAddressFamily::Ipv4)?;
    socket.start_connect(&instance_network(), IpSocketAddress::Ipv4(remote))?;
    let start = Instant::now();
    loop {
        match socket.finish_connect() {
            Ok((input, output)) => {
                return Ok(Connection { readable: input.subscribe(), input, output, _socket: socket });
            }
            Err(ErrorCode::WouldBlock) => patient(start)?,
            Err(code) => return Err(code.into()),
        }
    }
}

fn patient(since: Instant) -> Result<(), &'static str> {
    if since.elapsed() > PATIENCE { Err("the peer does not answer") } else { Ok(()) }
}
