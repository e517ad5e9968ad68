//! Which rule of a profile an operation meets: the first that matches.

use std::net::{IpAddr, SocketAddr};

use super::profile::{Match, Network, Operation, Profile, Protocol};

/// An operation, as far as rules look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    pub operation: Operation,
    /// `None` for what is neither, such as a name lookup: no rule that names a protocol matches it.
    pub protocol: Option<Protocol>,
    /// `None` for what has no remote end (yet): no rule that names addresses or ports matches it.
    pub remote: Option<SocketAddr>,
}

impl Profile {
    /// The place in [`Profile::rules`] of the rule that decides, or `None` where nothing changes.
    pub fn rule_for(&self, subject: &Subject) -> Option<usize> {
        self.rules.iter().position(|rule| rule.matches.matches(subject))
    }
}

impl Match {
    pub fn matches(&self, subject: &Subject) -> bool {
        let operation = self.operations.is_empty() || self.operations.contains(&subject.operation);
        let protocol = self.protocol.is_none_or(|wanted| subject.protocol == Some(wanted));
        let address = self.addresses.is_empty()
            || subject.remote.is_some_and(|remote| self.addresses.iter().any(|network| network.contains(remote.ip())));
        let port =
            self.port.as_ref().is_none_or(|ports| subject.remote.is_some_and(|remote| ports.contains(&remote.port())));
        operation && protocol && address && port
    }
}

impl Network {
    /// Whether an address begins with the network's prefix. An IPv4-mapped IPv6 address is the IPv4 address it stands
    /// for, on either side.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.canonical(), address.to_canonical()) {
            ((IpAddr::V4(network), prefix), IpAddr::V4(address)) => {
                begins_alike(network.to_bits().into(), address.to_bits().into(), prefix, 32)
            }
            ((IpAddr::V6(network), prefix), IpAddr::V6(address)) => {
                begins_alike(network.to_bits(), address.to_bits(), prefix, 128)
            }
            _ => false,
        }
    }

    /// A network within the IPv4-mapped addresses, as the IPv4 network it is. A shorter prefix reaches beyond them and
    /// stays one of IPv6.
    fn canonical(&self) -> (IpAddr, u8) {
        const MAPPED: u8 = 96;
        match (self.address, self.address.to_canonical()) {
            (IpAddr::V6(_), v4 @ IpAddr::V4(_)) if self.prefix >= MAPPED => (v4, self.prefix - MAPPED),
            (address, _) => (address, self.prefix),
        }
    }
}

/// Whether the first `prefix` bits of numbers of `width` bits are the same.
fn begins_alike(one: u128, other: u128, prefix: u8, width: u32) -> bool {
    // A shift by the full width, for a prefix of no bits, shifts everything out.
    let rest = width.saturating_sub(prefix.into());
    (one ^ other).checked_shr(rest).unwrap_or(0) == 0
}
