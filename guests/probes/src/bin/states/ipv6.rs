//! The rules of IPv6 addresses, and that both protocols work over it.

use std::error::Error;

use wasip2::sockets::network::IpAddressFamily::Ipv6;
use wasip2::sockets::tcp_create_socket::create_tcp_socket;
use wasip2::sockets::udp_create_socket::create_udp_socket;

use crate::check::Checks;
use crate::raw::{self, at};
use crate::udp::{receive, send};

pub fn walk(checks: &mut Checks) -> Result<(), Box<dyn Error>> {
    let socket = create_tcp_socket(Ipv6)?;
    checks.is("ipv6 tcp, family", true, socket.address_family() == Ipv6);
    for (what, local) in [
        ("the other family", "127.0.0.1:0"),
        ("an IPv4 address in IPv6 clothes", "[::ffff:127.0.0.1]:0"),
        ("a multicast address", "[ff02::1]:0"),
    ] {
        checks.answers(&format!("ipv6 tcp bind to {what}"), "invalid-argument", raw::bind(&socket, at(local)));
    }
    for (what, remote) in [
        ("the other family", "127.0.0.1:9"),
        ("an IPv4 address in IPv6 clothes", "[::ffff:127.0.0.1]:9"),
        ("a multicast address", "[ff02::1]:9"),
        ("no address", "[::]:9"),
        ("no port", "[::1]:0"),
    ] {
        let answer = raw::start_connect(&create_tcp_socket(Ipv6)?, at(remote));
        checks.answers(&format!("ipv6 tcp connect to {what}"), "invalid-argument", answer);
    }
    let listener = raw::listen(at("[::1]:0"), Ipv6)?;
    let client = raw::connect(create_tcp_socket(Ipv6)?, listener.local_address()?)?;
    let server = raw::accept(&listener)?;
    client.output.blocking_write_and_flush(b"ping")?;
    checks.reads("ipv6 tcp, what was written is read", "ping", server.input.blocking_read(16)?);

    let socket = create_udp_socket(Ipv6)?;
    let mapped = raw::bind_udp(&socket, at("[::ffff:127.0.0.1]:0"));
    checks.answers("ipv6 udp bind to an IPv4 address in IPv6 clothes", "invalid-argument", mapped);
    raw::bind_udp(&socket, at("[::1]:0"))?;
    let peer = create_udp_socket(Ipv6)?;
    raw::bind_udp(&peer, at("[::1]:0"))?;
    let (heard, _) = peer.stream(None)?;
    let (_, outgoing) = socket.stream(None)?;
    let mapped = send(&outgoing, b"x", Some(at("[::ffff:127.0.0.1]:9")));
    checks.answers("ipv6 udp send to an IPv4 address in IPv6 clothes", "invalid-argument", mapped);
    checks.answers("ipv6 udp send", "ok", send(&outgoing, b"hello", Some(peer.local_address()?)));
    checks.reads("ipv6 udp, what was sent is received", "hello", receive(&heard)?.data);
    Ok(())
}
