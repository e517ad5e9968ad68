//! Addresses: between the standard's and Rust's, and the standard's rules about them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use wrun_net::Family;

use super::bindings::wasi::sockets::network::{
    IpAddress, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress, Ipv6SocketAddress,
};

impl From<IpAddressFamily> for Family {
    fn from(family: IpAddressFamily) -> Self {
        match family {
            IpAddressFamily::Ipv4 => Self::V4,
            IpAddressFamily::Ipv6 => Self::V6,
        }
    }
}

impl From<Family> for IpAddressFamily {
    fn from(family: Family) -> Self {
        match family {
            Family::V4 => Self::Ipv4,
            Family::V6 => Self::Ipv6,
        }
    }
}

impl From<IpAddress> for IpAddr {
    fn from(address: IpAddress) -> Self {
        match address {
            IpAddress::Ipv4((a, b, c, d)) => Self::V4(Ipv4Addr::new(a, b, c, d)),
            IpAddress::Ipv6((a, b, c, d, e, f, g, h)) => Self::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)),
        }
    }
}

impl From<IpAddr> for IpAddress {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => {
                let [a, b, c, d] = address.octets();
                Self::Ipv4((a, b, c, d))
            }
            IpAddr::V6(address) => {
                let [a, b, c, d, e, f, g, h] = address.segments();
                Self::Ipv6((a, b, c, d, e, f, g, h))
            }
        }
    }
}

impl From<IpSocketAddress> for SocketAddr {
    fn from(address: IpSocketAddress) -> Self {
        match address {
            IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address: (a, b, c, d) }) => {
                Self::V4(SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), port))
            }
            IpSocketAddress::Ipv6(Ipv6SocketAddress { port, flow_info, address, scope_id }) => {
                let (a, b, c, d, e, f, g, h) = address;
                Self::V6(SocketAddrV6::new(Ipv6Addr::new(a, b, c, d, e, f, g, h), port, flow_info, scope_id))
            }
        }
    }
}

impl From<SocketAddr> for IpSocketAddress {
    fn from(address: SocketAddr) -> Self {
        match address {
            SocketAddr::V4(address) => {
                let [a, b, c, d] = address.ip().octets();
                Self::Ipv4(Ipv4SocketAddress { port: address.port(), address: (a, b, c, d) })
            }
            SocketAddr::V6(address) => {
                let [a, b, c, d, e, f, g, h] = address.ip().segments();
                Self::Ipv6(Ipv6SocketAddress {
                    port: address.port(),
                    flow_info: address.flowinfo(),
                    address: (a, b, c, d, e, f, g, h),
                    scope_id: address.scope_id(),
                })
            }
        }
    }
}

/// Whether an address belongs on a socket of this family. IPv4 addresses in IPv6 clothes belong on neither: IPv6
/// sockets are for IPv6 only, and the deprecated compatible form is handled differently by every system.
pub fn fits_family(address: IpAddr, family: Family) -> bool {
    match (family, address) {
        (Family::V4, IpAddr::V4(_)) => true,
        (Family::V6, IpAddr::V6(address)) => {
            let [a, b, c, d, e, f, g, _] = address.segments();
            let compatible = [a, b, c, d, e, f] == [0; 6] && g != 0;
            !compatible && address.to_ipv4_mapped().is_none()
        }
        _ => false,
    }
}

/// Whether one can connect or send to it: a definite address and port.
pub fn is_remote(address: SocketAddr) -> bool {
    !address.ip().to_canonical().is_unspecified() && address.port() != 0
}

/// Whether it names a single machine.
pub fn is_unicast(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !address.is_multicast() && !address.is_broadcast(),
        IpAddr::V6(address) => !address.is_multicast(),
    }
}

/// The address of a socket of this family that is bound to none.
pub fn unspecified(family: Family) -> SocketAddr {
    match family {
        Family::V4 => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        Family::V6 => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_or_compatible_ipv4_address_fits_no_family() {
        for text in ["::ffff:127.0.0.1", "::127.0.0.1"] {
            let address: IpAddr = text.parse().unwrap();
            assert!(!fits_family(address, Family::V4), "{text}");
            assert!(!fits_family(address, Family::V6), "{text}");
        }
        for text in ["::1", "::", "fe80::1"] {
            assert!(fits_family(text.parse().unwrap(), Family::V6), "{text}");
        }
    }

    #[test]
    fn an_address_survives_the_way_to_the_guest_and_back() {
        for text in ["127.0.0.1:80", "[fe80::1%7]:65535", "[2001:db8::ff]:0"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(SocketAddr::from(IpSocketAddress::from(address)), address);
            assert_eq!(IpAddr::from(IpAddress::from(address.ip())), address.ip());
        }
    }
}
