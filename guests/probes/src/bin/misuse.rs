//! Breaks the rules of the interfaces, one a run: `misuse WHAT`. The host must answer with an error code, which is
//! printed, or end the guest; never fall over.
//!
//! The SDK makes all of this impossible, so it is done on the bare bindings.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use wasip2::clocks::monotonic_clock;
use wasip2::io::poll;
use wasip2::io::streams::{InputStream, OutputStream};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::resolve_addresses;
use wasip2::sockets::network::{ErrorCode, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress};
use wasip2::sockets::tcp::TcpSocket;
use wasip2::sockets::tcp_create_socket::create_tcp_socket;
use wasip2::sockets::udp::{OutgoingDatagram, OutgoingDatagramStream, UdpSocket};
use wasip2::sockets::udp_create_socket::create_udp_socket;
use wrun_guest::{Sample, TcpListener, count};

const KINDS: &str = "drop-order, too-much, unpermitted-write, unpermitted-send, wrong-handle, long-name, \
    control-name, many-names, many-counters, many-phases, huge-list, huge-send, huge-resolve, bad-finish, \
    flood-samples, flood-lookups, flood-pollables";

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let what = std::env::args().nth(1).unwrap_or_default();
        println!("{what} -> {}", misuse(&what)?);
        Ok(())
    })
}

/// What came of it, if the guest is still there to tell.
fn misuse(what: &str) -> Result<String, Box<dyn Error>> {
    match what {
        // A socket that goes before its streams.
        "drop-order" => {
            let (_listener, (socket, input, output)) = connected()?;
            drop(socket);
            drop((input, output));
        }
        // A write of more than was granted.
        "too-much" => {
            let (_listener, (_socket, _input, output)) = connected()?;
            let granted = output.check_write()?;
            output.write(&vec![0; usize::try_from(granted)? + 1])?;
        }
        "unpermitted-write" => {
            let (_listener, (_socket, _input, output)) = connected()?;
            output.write(b"x")?;
        }
        "unpermitted-send" => {
            let (_socket, outgoing) = datagrams()?;
            outgoing.send(&[datagram()])?;
        }
        // A handle that nobody gave out.
        "wrong-handle" => {
            // SAFETY: the host checks every handle; that it does is what is tried here.
            let socket = unsafe { TcpSocket::from_handle(4_321) };
            return Ok(format!("is it listening? {}", socket.is_listening()));
        }
        "long-name" => Sample::start(&"x".repeat(65)).finish(),
        "control-name" => Sample::start("two\nlines").finish(),
        "many-names" => (0..257).for_each(|n| Sample::start(&format!("name {n}")).finish()),
        "many-counters" => (0..1025).for_each(|n| count(&format!("counter {n}"), 1)),
        "many-phases" => {
            let sample = Sample::start("many");
            (0..33).for_each(|n| sample.phase(&format!("phase {n}")));
            sample.finish();
        }
        "huge-list" => {
            let pollable = monotonic_clock::subscribe_duration(0);
            return Ok(format!("{} ready", poll::poll(&vec![&pollable; 1 << 20]).len()));
        }
        "huge-send" => {
            let (_socket, outgoing) = datagrams()?;
            outgoing.check_send()?;
            let many: Vec<_> = (0..1 << 16).map(|_| datagram()).collect();
            return Ok(format!("{} sent", outgoing.send(&many)?));
        }
        "huge-resolve" => {
            let answer = resolve_addresses(&instance_network(), &"x".repeat(1 << 20));
            return Ok(answer.err().map_or("ok", |code| code.name()).to_owned());
        }
        // The end of something that was never begun.
        "bad-finish" => {
            let answer = create_tcp_socket(IpAddressFamily::Ipv4)?.finish_connect();
            return Ok(answer.err().map_or("ok", |code| code.name()).to_owned());
        }
        // More than any host would hold, all of them kept.
        "flood-samples" => drop((0..1_000_000).map(|_| Sample::start("open")).collect::<Vec<_>>()),
        "flood-lookups" => {
            let network = instance_network();
            let lookups: Result<Vec<_>, _> = (0..100_000).map(|_| resolve_addresses(&network, "localhost")).collect();
            return Ok(lookups.err().map_or("ok", |code| code.name()).to_owned());
        }
        "flood-pollables" => {
            drop((0..8_000_000).map(|_| monotonic_clock::subscribe_duration(u64::MAX)).collect::<Vec<_>>());
        }
        _ => return Err(format!("{what:?} is no misuse: give one of {KINDS}").into()),
    }
    Ok("no consequence".to_owned())
}

type Connection = (TcpSocket, InputStream, OutputStream);

/// A connection to a listener of this guest's own, which is kept so that the connection stays.
fn connected() -> Result<(TcpListener, Connection), Box<dyn Error>> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let socket = create_tcp_socket(IpAddressFamily::Ipv4)?;
    socket.start_connect(&instance_network(), loopback(listener.local_addr()?.port()))?;
    loop {
        match socket.finish_connect() {
            Ok((input, output)) => return Ok((listener, (socket, input, output))),
            Err(ErrorCode::WouldBlock) => socket.subscribe().block(),
            Err(code) => return Err(code.into()),
        }
    }
}

fn datagrams() -> Result<(UdpSocket, OutgoingDatagramStream), ErrorCode> {
    let socket = create_udp_socket(IpAddressFamily::Ipv4)?;
    socket.start_bind(&instance_network(), loopback(0))?;
    socket.finish_bind()?;
    let (_, outgoing) = socket.stream(None)?;
    Ok((socket, outgoing))
}

fn datagram() -> OutgoingDatagram {
    OutgoingDatagram { data: Vec::new(), remote_address: Some(loopback(9)) }
}

fn loopback(port: u16) -> IpSocketAddress {
    IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address: (127, 0, 0, 1) })
}
