//! Asks for one thing after the other and prints what came of each, `what -> ok` or the error code: for tests of what
//! is allowed.
//!
//! `tcp://HOST:PORT` connects, `udp://HOST:PORT` sends a datagram, `listen://ADDR` and `bind://ADDR` take a local
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
                Ok(()) => println!("{what} -> ok"),
                Err(error) => println!("{what} -> {}", reason(&error)),
            }
        }
        Ok(())
    })
}

/// The outer error is a mistake in the arguments, the inner one the network's answer.
fn dial(what: &str) -> Result<io::Result<()>, Box<dyn Error>> {
    let Some((scheme, rest)) = what.split_once("://") else { return Ok(resolve(what, PATIENCE).map(drop)) };
    Ok(match scheme {
        "tcp" => remote(rest)?.and_then(|remote| TcpStream::connect(remote, PATIENCE).map(drop)),
        "udp" => remote(rest)?.and_then(send),
        "listen" => TcpListener::bind(args::address(rest)?).map(drop),
        "bind" => UdpSocket::bind(args::address(rest)?).map(drop),
        "join" => join(rest.parse()?),
        _ => return Err(format!("{what}: give tcp, udp, listen, bind or join before ://").into()),
    })
}

fn remote(text: &str) -> Result<io::Result<SocketAddr>, Box<dyn Error>> {
    let (host, port) = text.rsplit_once(':').ok_or_else(|| format!("{text}: a port is missing"))?;
    let port = port.parse()?;
    // A lookup never answers without an address.
    Ok(resolve(host, PATIENCE).map(|addresses| SocketAddr::new(addresses[0], port)))
}

fn send(remote: SocketAddr) -> io::Result<()> {
    UdpSocket::bind(SocketAddr::new(any(remote.ip()), 0))?.send_to(b"dial", remote)
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
