//! Addresses, between Rust's types and the standard's.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use wasip2::sockets::network::{
    IpAddress, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress, Ipv6SocketAddress, Network,
};

/// The family of a socket's addresses. A socket has one for life, and an IPv6 socket is for IPv6 only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    V4,
    V6,
}

impl Family {
    pub fn of(address: SocketAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    pub(crate) fn to_wasi(self) -> IpAddressFamily {
        match self {
            Self::V4 => IpAddressFamily::Ipv4,
            Self::V6 => IpAddressFamily::Ipv6,
        }
    }
}

/// Calls `ask` with the network this guest was given.
///
/// The handle is asked for once and kept: it is needed by every bind, connect and lookup.
pub(crate) fn with_network<T>(ask: impl FnOnce(&Network) -> T) -> T {
    thread_local! {
        static NETWORK: Network = wasip2::sockets::instance_network::instance_network();
    }
    NETWORK.with(ask)
}

pub(crate) fn to_wasi(address: SocketAddr) -> IpSocketAddress {
    match address {
        SocketAddr::V4(address) => {
            let [a, b, c, d] = address.ip().octets();
            IpSocketAddress::Ipv4(Ipv4SocketAddress { port: address.port(), address: (a, b, c, d) })
        }
        SocketAddr::V6(address) => {
            let [a, b, c, d, e, f, g, h] = address.ip().segments();
            IpSocketAddress::Ipv6(Ipv6SocketAddress {
                port: address.port(),
                flow_info: address.flowinfo(),
                address: (a, b, c, d, e, f, g, h),
                scope_id: address.scope_id(),
            })
        }
    }
}

pub(crate) fn from_wasi(address: IpSocketAddress) -> SocketAddr {
    match address {
        IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address: (a, b, c, d) }) => {
            SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), port).into()
        }
        IpSocketAddress::Ipv6(Ipv6SocketAddress { port, flow_info, address: (a, b, c, d, e, f, g, h), scope_id }) => {
            SocketAddrV6::new(Ipv6Addr::new(a, b, c, d, e, f, g, h), port, flow_info, scope_id).into()
        }
    }
}

pub(crate) fn ip_to_wasi(address: IpAddr) -> IpAddress {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            IpAddress::Ipv4((a, b, c, d))
        }
        IpAddr::V6(address) => {
            let [a, b, c, d, e, f, g, h] = address.segments();
            IpAddress::Ipv6((a, b, c, d, e, f, g, h))
        }
    }
}

pub(crate) fn ip_from_wasi(address: IpAddress) -> IpAddr {
    match address {
        IpAddress::Ipv4((a, b, c, d)) => Ipv4Addr::new(a, b, c, d).into(),
        IpAddress::Ipv6((a, b, c, d, e, f, g, h)) => Ipv6Addr::new(a, b, c, d, e, f, g, h).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_addresses_survive_the_way_there_and_back() {
        for text in ["127.0.0.1:80", "255.1.2.3:65535", "[::1]:0", "[2001:db8::7]:443", "[fe80::1%3]:9"] {
            let address: SocketAddr = text.parse().expect("a literal of this test");
            assert_eq!(from_wasi(to_wasi(address)), address);
        }
    }

    #[test]
    fn ip_addresses_survive_the_way_there_and_back() {
        for text in ["10.0.0.1", "239.255.0.1", "::", "ff02::1"] {
            let address: IpAddr = text.parse().expect("a literal of this test");
            assert_eq!(ip_from_wasi(ip_to_wasi(address)), address);
        }
    }
}
