//! Asks for one thing after the other and prints what came of each, `what -> ok` or the error code: for tests of what
//! is allowed.
//!
//! `tcp://HOST:PORT` connects, `udp://HOST:PORT` sends a datagram, `peer://HOST:PORT` makes it the one peer of a UDP
//! socket, `ask://HOST:PORT` sends a datagram and prints the answer, `listen://ADDR` and `bind://ADDR` take a local
//! address for TCP and UDP, `join://GROUP` joins a multicast group on loopback, and anything else is looked up. HOST
//! may be a name.

use std::error::Error;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use wrun_guest::{Interface, TcpListener, TcpStream, UdpSocket, args, reason, resolve};

const PATIENCE: Option<Duration> = Some(Duration::from_secs(10));

fn main() -> ExitCode {
    wrun_guest::run(|| {
        for what in std::env::args().skip(1) {
            match dial(&what)? {
                Ok(answer) => println!("{what} -> {answer}"),
                Err(error) => println!("{what} -> {}", reason(&error)),
            }
        }
        Ok(())
    })
}

/// The outer error is a mistake in the arguments, the inner one the network's answer.
fn dial(what: &str) -> Result<io::Result<String>, Box<dyn Error>> {
    let Some((scheme, rest)) = what.split_once("://") else { return Ok(resolve(what, PATIENCE).map(ok)) };
    Ok(match scheme {
        "tcp" => remote(rest)?.and_then(|remote| TcpStream::connect(remote, PATIENCE).map(ok)),
        "udp" => remote(rest)?.and_then(send).map(ok),
        "peer" => remote(rest)?.and_then(peer).map(ok),
        "listen" => TcpListener::bind(args::address(rest)?).map(ok),
        "bind" => UdpSocket::bind(args::address(rest)?).map(ok),
        "ask" => remote(rest)?.and_then(ask),
        "join" => join(rest.parse()?).map(ok),
        _ => return Err(format!("{what}: give tcp, udp, peer, ask, listen, bind or join before ://").into()),
    })
}

fn remote(text: &str) -> Result<io::Result<SocketAddr>, Box<dyn Error>> {
    let (host, port) = text.rsplit_once(':').ok_or_else(|| format!("{text}: a port is missing"))?;
    let port = port.parse()?;
    // A lookup never answers without an address.
    Ok(resolve(host, PATIENCE).map(|addresses| SocketAddr::new(addresses[0], port)))
}

/// What is printed of whatever went well.
fn ok<T>(_: T) -> String {
    "ok".to_owned()
}

/// Sends a datagram and waits for one, whoever sends it.
fn ask(remote: SocketAddr) -> io::Result<String> {
    let socket = UdpSocket::bind(SocketAddr::new(any(remote.ip()), 0))?;
    socket.set_read_timeout(PATIENCE)?;
    socket.send_to(b"dial", remote)?;
    let mut buffer = [0; 64];
    let (size, _) = socket.recv_from(&mut buffer)?;
    Ok(String::from_utf8_lossy(&buffer[..size]).into_owned())
}

fn send(remote: SocketAddr) -> io::Result<()> {
    UdpSocket::bind(SocketAddr::new(any(remote.ip()), 0))?.send_to(b"dial", remote)
}

fn peer(remote: SocketAddr) -> io::Result<()> {
    UdpSocket::bind(SocketAddr::new(any(remote.ip()), 0))?.connect(remote)
}

fn join(group: IpAddr) -> io::Result<()> {
    let loopback = match group {
        IpAddr::V4(_) => IpAddr::from(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    UdpSocket::bind(SocketAddr::new(any(group), 0))?.join_group(group, &Interface::Address(loopback))
}

/// Any local address of the family; loopback where that is enough.
fn any(remote: IpAddr) -> IpAddr {
    match remote {
        IpAddr::V4(remote) if remote.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(remote) if remote.is_loopback() => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}
