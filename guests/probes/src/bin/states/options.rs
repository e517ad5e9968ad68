//! Options: their ranges, that what is set is read back, and those of `wrun:net` on every stage of a socket.

use std::error::Error;
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use wrun_guest::{Ending, Family, Interface, TcpListener, TcpOptions, TcpSocket, UdpSocket};

use crate::check::Checks;

const SECOND: Duration = Duration::from_secs(1);
/// Bytes.
const BUFFER: u64 = 64 * 1024;

pub fn walk(checks: &mut Checks) -> Result<(), Box<dyn Error>> {
    let socket = TcpSocket::new(Family::V4)?;
    tcp(checks, "tcp option", &socket)?;
    before_connecting(checks, &socket);
    connected(checks)?;
    let socket = UdpSocket::bind(loopback())?;
    udp(checks, &socket)?;
    multicast(checks, &socket)?;
    Ok(())
}

fn loopback() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

/// The options that every TCP socket has.
fn tcp(checks: &mut Checks, stage: &str, socket: &impl TcpOptions) -> Result<(), Box<dyn Error>> {
    let what = |name: &str| format!("{stage}, {name}");
    checks.is(&what("keep-alive is off at first"), false, socket.keep_alive()?);
    socket.set_keep_alive(true)?;
    checks.is(&what("keep-alive set"), true, socket.keep_alive()?);

    checks.says(&what("keep-alive idle time 0"), "invalid-argument", socket.set_keep_alive_idle(Duration::ZERO));
    checks.says(&what("keep-alive idle time 1 ns"), "ok", socket.set_keep_alive_idle(Duration::from_nanos(1)));
    checks.says(&what("keep-alive idle time of the longest"), "ok", socket.set_keep_alive_idle(Duration::MAX));
    socket.set_keep_alive_idle(10 * SECOND)?;
    checks.is(&what("keep-alive idle time set"), 10 * SECOND, socket.keep_alive_idle()?);

    checks.says(&what("keep-alive interval 0"), "invalid-argument", socket.set_keep_alive_interval(Duration::ZERO));
    checks.says(&what("keep-alive interval of the longest"), "ok", socket.set_keep_alive_interval(Duration::MAX));
    socket.set_keep_alive_interval(20 * SECOND)?;
    checks.is(&what("keep-alive interval set"), 20 * SECOND, socket.keep_alive_interval()?);

    checks.says(&what("keep-alive count 0"), "invalid-argument", socket.set_keep_alive_count(0));
    checks.says(&what("keep-alive count of the largest number"), "ok", socket.set_keep_alive_count(u32::MAX));
    socket.set_keep_alive_count(3)?;
    checks.is(&what("keep-alive count set"), 3, socket.keep_alive_count()?);

    checks.says(&what("hop limit 0"), "invalid-argument", socket.set_hop_limit(0));
    socket.set_hop_limit(255)?;
    checks.is(&what("hop limit set"), 255, socket.hop_limit()?);

    checks.says(&what("receive buffer 0"), "invalid-argument", socket.set_receive_buffer(0));
    checks.says(&what("receive buffer of the largest number"), "ok", socket.set_receive_buffer(u64::MAX));
    socket.set_receive_buffer(BUFFER)?;
    checks.is(&what("receive buffer of 64 KiB is at least that"), true, socket.receive_buffer()? >= BUFFER);
    checks.says(&what("send buffer 0"), "invalid-argument", socket.set_send_buffer(0));
    checks.says(&what("send buffer of the largest number"), "ok", socket.set_send_buffer(u64::MAX));
    socket.set_send_buffer(BUFFER)?;
    checks.is(&what("send buffer of 64 KiB is at least that"), true, socket.send_buffer()? >= BUFFER);

    checks.is(&what("linger is off at first"), None, socket.linger()?);
    socket.set_linger(Some(5 * SECOND))?;
    checks.is(&what("linger set"), Some(5 * SECOND), socket.linger()?);
    socket.set_linger(Some(Duration::from_millis(1)))?;
    checks.is(&what("linger is not rounded down to nothing"), true, socket.linger()? > Some(Duration::ZERO));
    socket.set_linger(None)?;
    checks.is(&what("linger off again"), None, socket.linger()?);

    socket.set_nodelay(true)?;
    checks.is(&what("no-delay set"), true, socket.nodelay()?);
    socket.set_nodelay(false)?;
    checks.is(&what("no-delay off again"), false, socket.nodelay()?);
    Ok(())
}

fn before_connecting(checks: &mut Checks, socket: &TcpSocket) {
    checks.says("tcp not connected, bytes queued", "invalid-state", socket.queued());
    checks.says("tcp not bound, local address", "invalid-state", socket.local_addr());
}

fn connected(checks: &mut Checks) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(loopback())?;
    tcp(checks, "tcp option of a listener", &listener)?;
    listener.set_keep_alive(false)?;
    let client = TcpSocket::new(Family::V4)?.connect(listener.local_addr()?, None)?;
    let mut server = listener.accept(None)?;
    tcp(checks, "tcp option of a connection", &client)?;
    checks.is("tcp connected, nothing queued at first", 0, client.queued()?);

    client.set_linger(Some(5 * SECOND))?;
    checks.is("tcp close of an idle connection", Ending::Acknowledged, client.close()?.ending);
    checks.is("tcp close, the peer reads the end", 0, server.read(&mut [0; 16])?);

    let client = TcpSocket::new(Family::V4)?.connect(listener.local_addr()?, None)?;
    let mut server = listener.accept(None)?;
    client.set_linger(Some(Duration::ZERO))?;
    checks.is("tcp close with linger 0", Ending::Reset, client.close()?.ending);
    let answer = server.read(&mut [0; 16]).map_err(|error| error.kind());
    checks.is("tcp close with linger 0, the peer is told", Err(ErrorKind::ConnectionReset), answer);
    Ok(())
}

fn udp(checks: &mut Checks, socket: &UdpSocket) -> Result<(), Box<dyn Error>> {
    checks.says("udp option, hop limit 0", "invalid-argument", socket.set_hop_limit(0));
    socket.set_hop_limit(9)?;
    checks.is("udp option, hop limit set", 9, socket.hop_limit()?);
    checks.says("udp option, receive buffer 0", "invalid-argument", socket.set_receive_buffer(0));
    checks.says("udp option, receive buffer of the largest number", "ok", socket.set_receive_buffer(u64::MAX));
    socket.set_receive_buffer(BUFFER)?;
    checks.is("udp option, receive buffer of 64 KiB is at least that", true, socket.receive_buffer()? >= BUFFER);
    checks.says("udp option, send buffer 0", "invalid-argument", socket.set_send_buffer(0));
    checks.says("udp option, send buffer of the largest number", "ok", socket.set_send_buffer(u64::MAX));
    socket.set_send_buffer(BUFFER)?;
    checks.is("udp option, send buffer of 64 KiB is at least that", true, socket.send_buffer()? >= BUFFER);
    checks.is("udp option, broadcast is off at first", false, socket.broadcast()?);
    socket.set_broadcast(true)?;
    checks.is("udp option, broadcast set", true, socket.broadcast()?);
    checks.says("udp option, send queue 0", "invalid-argument", socket.set_send_queue(0));
    checks.is("udp option, nothing queued at first", 0, socket.queued()?);
    Ok(())
}

fn multicast(checks: &mut Checks, socket: &UdpSocket) -> Result<(), Box<dyn Error>> {
    let group = IpAddr::from(Ipv4Addr::new(239, 255, 77, 1));
    let here = Interface::Address(Ipv4Addr::LOCALHOST.into());
    checks.is("udp multicast, hops at first", 1, socket.multicast_hops()?);
    socket.set_multicast_hops(0)?;
    checks.is("udp multicast, no hops set", 0, socket.multicast_hops()?);
    checks.is("udp multicast, loopback is on at first", true, socket.multicast_loopback()?);
    socket.set_multicast_loopback(false)?;
    checks.is("udp multicast, loopback off", false, socket.multicast_loopback()?);
    let single = socket.join_group(Ipv4Addr::new(10, 0, 0, 1).into(), &here);
    checks.says("udp multicast, join what is no group", "invalid-argument", single);
    let other = socket.join_group(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1).into(), &here);
    checks.says("udp multicast, join a group of the other family", "invalid-argument", other);
    let nowhere = socket.join_group(group, &Interface::Name(String::new()));
    checks.says("udp multicast, join on an interface without a name", "invalid-argument", nowhere);
    checks.says("udp multicast, send by loopback", "ok", socket.set_multicast_interface(&here));
    checks.says("udp multicast, join", "ok", socket.join_group(group, &here));
    checks.says("udp multicast, leave", "ok", socket.leave_group(group, &here));
    Ok(())
}
