//! The UDP state machine: bind, the streams with and without a peer, and what may be sent where.

use std::error::Error;

use wasip2::sockets::network::{ErrorCode, IpAddressFamily, IpSocketAddress};
use wasip2::sockets::udp::{
    IncomingDatagram, IncomingDatagramStream, OutgoingDatagram, OutgoingDatagramStream, UdpSocket,
};

use crate::check::Checks;
use crate::raw::{self, at, port};

/// More than any datagram over IPv4 can hold.
const TOO_LARGE: usize = 65_508;

pub fn walk(checks: &mut Checks) -> Result<(), Box<dyn Error>> {
    unbound(checks)?;
    let socket = bound(checks)?;
    let peer = raw::udp()?;
    raw::bind_udp(&peer, at("127.0.0.1:0"))?;
    peers(checks, &socket)?;
    unconnected(checks, &socket, &peer)?;
    connected(checks, &socket, &peer)?;
    queued_before(checks, &socket, &peer)?;
    Ok(())
}

fn unbound(checks: &mut Checks) -> Result<(), ErrorCode> {
    let socket = raw::udp()?;
    checks.is("udp unbound, family", true, socket.address_family() == IpAddressFamily::Ipv4);
    checks.answers("udp unbound, local address", "invalid-state", socket.local_address());
    checks.answers("udp unbound, remote address", "invalid-state", socket.remote_address());
    checks.answers("udp unbound, stream", "invalid-state", socket.stream(None).map(drop));
    checks.answers("udp unbound, finish bind", "not-in-progress", socket.finish_bind());
    let other = raw::bind_udp(&socket, at("[::1]:0"));
    checks.answers("udp bind to the other family", "invalid-argument", other);
    let foreign = raw::bind_udp(&socket, at("192.0.2.1:0"));
    checks.answers("udp bind to another machine's address", "address-not-bindable", foreign);
    checks.answers("udp bind after binds that failed", "ok", raw::bind_udp(&socket, at("127.0.0.1:0")));
    Ok(())
}

fn bound(checks: &mut Checks) -> Result<UdpSocket, ErrorCode> {
    let socket = raw::udp()?;
    checks.answers("udp start bind", "ok", raw::start_bind_udp(&socket, at("127.0.0.1:0")));
    let again = raw::start_bind_udp(&socket, at("127.0.0.1:0"));
    checks.answers("udp binding, start bind", "concurrency-conflict", again);
    checks.answers("udp binding, stream", "invalid-state", socket.stream(None).map(drop));
    checks.answers("udp binding, finish bind", "ok", socket.finish_bind());
    checks.answers("udp bound, finish bind again", "not-in-progress", socket.finish_bind());
    checks.answers("udp bound, bind again", "invalid-state", raw::start_bind_udp(&socket, at("127.0.0.1:0")));
    checks.is("udp bound, has a port", true, socket.local_address().is_ok_and(|local| port(local) != 0));
    checks.answers("udp bound, remote address", "invalid-state", socket.remote_address());
    let taken = raw::bind_udp(&raw::udp()?, socket.local_address()?);
    checks.answers("udp bind to an address in use", "address-in-use", taken);
    Ok(socket)
}

fn peers(checks: &mut Checks, socket: &UdpSocket) -> Result<(), ErrorCode> {
    for (what, remote) in [("the other family", "[::1]:9"), ("no address", "0.0.0.0:9"), ("no port", "127.0.0.1:0")] {
        let answer = socket.stream(Some(at(remote)));
        checks.answers(&format!("udp stream to {what}"), "invalid-argument", answer.map(drop));
    }
    Ok(())
}

fn unconnected(checks: &mut Checks, socket: &UdpSocket, peer: &UdpSocket) -> Result<(), ErrorCode> {
    let (incoming, outgoing) = socket.stream(None)?;
    checks.answers("udp without a peer, remote address", "invalid-state", socket.remote_address());
    checks.is("udp receive when nothing came", 0, incoming.receive(4)?.len());
    checks.is("udp receive of none", 0, incoming.receive(0)?.len());
    checks.is("udp send of none", 0, outgoing.send(&[])?);
    checks.answers("udp without a peer, send to nobody", "invalid-argument", send(&outgoing, b"x", None));
    for (what, remote) in [("the other family", "[::1]:9"), ("no address", "0.0.0.0:9"), ("no port", "127.0.0.1:0")] {
        let answer = send(&outgoing, b"x", Some(at(remote)));
        checks.answers(&format!("udp send to {what}"), "invalid-argument", answer);
    }
    let large = send(&outgoing, &[0; TOO_LARGE], Some(peer.local_address()?));
    checks.answers("udp send of too much", "datagram-too-large", large);

    let (heard, _) = peer.stream(None)?;
    checks.answers("udp send", "ok", send(&outgoing, b"hello", Some(peer.local_address()?)));
    let datagram = receive(&heard)?;
    checks.reads("udp what was sent is received", "hello", datagram.data);
    let named = port(socket.local_address()?) == port(datagram.remote_address);
    checks.is("udp the sender is named", true, named);
    checks.answers("udp send of nothing at all", "ok", send(&outgoing, b"", Some(peer.local_address()?)));
    checks.reads("udp an empty datagram is one", "", receive(&heard)?.data);
    Ok(())
}

fn connected(checks: &mut Checks, socket: &UdpSocket, peer: &UdpSocket) -> Result<(), ErrorCode> {
    let stranger = raw::udp()?;
    raw::bind_udp(&stranger, at("127.0.0.1:0"))?;
    let local = socket.local_address()?;
    {
        let (incoming, outgoing) = socket.stream(Some(peer.local_address()?))?;
        let it = port(socket.remote_address()?) == port(peer.local_address()?);
        checks.is("udp with a peer, remote address is the peer's", true, it);
        let (heard, answers) = peer.stream(None)?;
        checks.answers("udp with a peer, send", "ok", send(&outgoing, b"1", None));
        checks.reads("udp with a peer, it is received", "1", receive(&heard)?.data);
        let named = send(&outgoing, b"2", Some(peer.local_address()?));
        checks.answers("udp with a peer, send to it by name", "ok", named);
        checks.reads("udp with a peer, that is received too", "2", receive(&heard)?.data);
        let other = send(&outgoing, b"3", Some(stranger.local_address()?));
        checks.answers("udp with a peer, send to another", "invalid-argument", other);

        let (_, unheard) = stranger.stream(None)?;
        send(&unheard, b"stranger", Some(local))?;
        send(&answers, b"peer", Some(local))?;
        checks.reads("udp with a peer, a stranger is not heard", "peer", receive(&incoming)?.data);
    }
    let (_incoming, outgoing) = socket.stream(None)?;
    checks.answers("udp without a peer again, remote address", "invalid-state", socket.remote_address());
    checks.answers("udp without a peer again, send", "ok", send(&outgoing, b"4", Some(stranger.local_address()?)));
    Ok(())
}

/// What came from anybody while there was no peer is not the peer's.
fn queued_before(checks: &mut Checks, socket: &UdpSocket, peer: &UdpSocket) -> Result<(), ErrorCode> {
    let stranger = raw::udp()?;
    raw::bind_udp(&stranger, at("127.0.0.1:0"))?;
    let local = socket.local_address()?;
    let (_, unheard) = stranger.stream(None)?;
    let (_, answers) = peer.stream(None)?;
    for queued in [b"first", b"again"] {
        send(&unheard, queued, Some(local))?;
    }
    let (incoming, _outgoing) = socket.stream(Some(peer.local_address()?))?;
    send(&answers, b"peer", Some(local))?;
    checks.reads("udp with a peer, what strangers sent before is not heard", "peer", receive(&incoming)?.data);
    Ok(())
}

/// One datagram, when there is room for it.
pub fn send(outgoing: &OutgoingDatagramStream, data: &[u8], to: Option<IpSocketAddress>) -> Result<(), ErrorCode> {
    loop {
        if outgoing.check_send()? == 0 {
            outgoing.subscribe().block();
            continue;
        }
        if outgoing.send(&[OutgoingDatagram { data: data.to_vec(), remote_address: to }])? == 1 {
            return Ok(());
        }
    }
}

pub fn receive(incoming: &IncomingDatagramStream) -> Result<IncomingDatagram, ErrorCode> {
    loop {
        if let Some(datagram) = incoming.receive(1)?.pop() {
            return Ok(datagram);
        }
        incoming.subscribe().block();
    }
}
