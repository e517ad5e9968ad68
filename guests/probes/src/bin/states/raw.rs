//! The bare bindings with less to write: sockets, addresses, and operations in one step.

use std::net::{IpAddr, SocketAddr};

use wasip2::io::streams::{InputStream, OutputStream};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::network::{ErrorCode, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress, Ipv6SocketAddress};
use wasip2::sockets::tcp::TcpSocket;
use wasip2::sockets::tcp_create_socket::create_tcp_socket;
use wasip2::sockets::udp::UdpSocket;
use wasip2::sockets::udp_create_socket::create_udp_socket;

/// A connection. The streams go before the socket.
pub struct Connection {
    pub input: InputStream,
    pub output: OutputStream,
    pub socket: TcpSocket,
}

pub fn tcp() -> Result<TcpSocket, ErrorCode> {
    create_tcp_socket(IpAddressFamily::Ipv4)
}

pub fn udp() -> Result<UdpSocket, ErrorCode> {
    create_udp_socket(IpAddressFamily::Ipv4)
}

/// An address that is written in this probe, so it parses.
pub fn at(text: &str) -> IpSocketAddress {
    address(text.parse().expect("an address of this probe's own"))
}

pub fn address(address: SocketAddr) -> IpSocketAddress {
    let port = address.port();
    match address.ip() {
        IpAddr::V4(ip) => {
            let [a, b, c, d] = ip.octets();
            IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address: (a, b, c, d) })
        }
        IpAddr::V6(ip) => {
            let [a, b, c, d, e, f, g, h] = ip.segments();
            let address = (a, b, c, d, e, f, g, h);
            IpSocketAddress::Ipv6(Ipv6SocketAddress { port, flow_info: 0, address, scope_id: 0 })
        }
    }
}

pub fn port(address: IpSocketAddress) -> u16 {
    match address {
        IpSocketAddress::Ipv4(address) => address.port,
        IpSocketAddress::Ipv6(address) => address.port,
    }
}

pub fn start_bind(socket: &TcpSocket, local: IpSocketAddress) -> Result<(), ErrorCode> {
    socket.start_bind(&instance_network(), local)
}

pub fn start_connect(socket: &TcpSocket, remote: IpSocketAddress) -> Result<(), ErrorCode> {
    socket.start_connect(&instance_network(), remote)
}

/// Asks until the answer is another than "would block".
pub fn settled<T>(socket: &TcpSocket, ask: impl Fn() -> Result<T, ErrorCode>) -> Result<T, ErrorCode> {
    loop {
        match ask() {
            Err(ErrorCode::WouldBlock) => socket.subscribe().block(),
            answer => return answer,
        }
    }
}

pub fn bind(socket: &TcpSocket, local: IpSocketAddress) -> Result<(), ErrorCode> {
    start_bind(socket, local)?;
    settled(socket, || socket.finish_bind())
}

pub fn connect(socket: TcpSocket, remote: IpSocketAddress) -> Result<Connection, ErrorCode> {
    start_connect(&socket, remote)?;
    let (input, output) = settled(&socket, || socket.finish_connect())?;
    Ok(Connection { input, output, socket })
}

pub fn accept(listener: &TcpSocket) -> Result<Connection, ErrorCode> {
    let (socket, input, output) = settled(listener, || listener.accept())?;
    Ok(Connection { input, output, socket })
}

pub fn listen(local: IpSocketAddress, family: IpAddressFamily) -> Result<TcpSocket, ErrorCode> {
    let socket = create_tcp_socket(family)?;
    bind(&socket, local)?;
    socket.start_listen()?;
    settled(&socket, || socket.finish_listen())?;
    Ok(socket)
}

pub fn start_bind_udp(socket: &UdpSocket, local: IpSocketAddress) -> Result<(), ErrorCode> {
    socket.start_bind(&instance_network(), local)
}

pub fn bind_udp(socket: &UdpSocket, local: IpSocketAddress) -> Result<(), ErrorCode> {
    start_bind_udp(socket, local)?;
    loop {
        match socket.finish_bind() {
            Err(ErrorCode::WouldBlock) => socket.subscribe().block(),
            answer => return answer,
        }
    }
}
