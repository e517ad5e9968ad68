//! TCP or UDP, which options each may have, and who a peer is.

use std::net::SocketAddr;

use crate::backend::OptionKind;
use crate::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Udp,
}

impl Transport {
    /// [`Error::NotSupported`] for an option that only the other kind of socket may have. Kernels take some of those
    /// too, in silence and to no effect.
    pub fn admits(self, kind: OptionKind) -> Result<()> {
        let admitted = match self {
            Self::Tcp => kind.is_tcp(),
            Self::Udp => kind.is_udp(),
        };
        if admitted { Ok(()) } else { Err(Error::NotSupported) }
    }
}

/// Whether two addresses are one, for who looks for the peer of a connected socket. A flow label and a scope are no part
/// of that: whoever connects may leave them out, and they are filled in on the way.
pub fn is_same_peer(one: SocketAddr, other: SocketAddr) -> bool {
    (one.ip(), one.port()) == (other.ip(), other.port())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv6Addr, SocketAddrV6};

    use super::*;

    #[test]
    fn a_peer_is_known_by_address_and_port_whatever_its_flow_and_scope() {
        let at = |port, flow, scope| SocketAddr::from(SocketAddrV6::new(Ipv6Addr::LOCALHOST, port, flow, scope));
        assert!(is_same_peer(at(7, 0, 0), at(7, 5, 2)));
        assert!(!is_same_peer(at(7, 0, 0), at(8, 0, 0)));
    }
}
