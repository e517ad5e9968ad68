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

    /// Whether all addresses of the other are in this one.
    pub fn covers(&self, other: &Self) -> bool {
        let ((_, wide), (address, narrow)) = (self.canonical(), other.canonical());
        wide <= narrow && self.contains(address)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::profile::{Regime, Rule};
    use super::*;

    fn network(text: &str) -> Network {
        let (address, prefix) = text.split_once('/').unwrap();
        Network { address: address.parse().unwrap(), prefix: prefix.parse().unwrap() }
    }

    fn is_in(address: &str, networks: &str) -> bool {
        network(networks).contains(address.parse().unwrap())
    }

    fn profile(rules: impl IntoIterator<Item = Match>) -> Profile {
        let rule = |matches| Rule { name: String::new(), matches, regimes: Vec::<Regime>::new() };
        Profile { rules: rules.into_iter().map(rule).collect(), ..Profile::default() }
    }

    const SEND: Subject = Subject { operation: Operation::Send, protocol: Some(Protocol::Udp), remote: None };

    #[test]
    fn a_prefix_decides_at_its_last_bit() {
        assert!(!is_in("10.1.2.2", "10.1.2.0/31") && is_in("10.1.2.1", "10.1.2.0/31"));
        assert!(is_in("192.0.2.1", "0.0.0.0/0") && is_in("2001:db8::1", "::/0"));
        assert!(is_in("2001:db8:8000::1", "2001:db8:8000::/33") && !is_in("2001:db8::1", "2001:db8:8000::/33"));
        assert!(is_in("::1", "::1/128") && !is_in("::2", "::1/128"));
        assert!(!is_in("10.0.0.1", "::/0") && !is_in("::1", "0.0.0.0/0"));
    }

    #[test]
    fn a_mapped_address_is_the_one_it_stands_for() {
        assert!(is_in("::ffff:10.1.2.3", "10.0.0.0/8") && !is_in("::ffff:11.1.2.3", "10.0.0.0/8"));
        assert!(is_in("10.1.2.3", "::ffff:10.0.0.0/104") && is_in("::ffff:10.1.2.3", "::ffff:10.0.0.0/104"));
        assert!(!is_in("11.1.2.3", "::ffff:10.0.0.0/104"));
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let udp = Match { protocol: Some(Protocol::Udp), ..Match::default() };
        let sends = Match { operations: vec![Operation::Send], ..Match::default() };
        let profile = profile([udp, sends, Match::default()]);
        assert_eq!(profile.rule_for(&SEND), Some(0));
        assert_eq!(profile.rule_for(&Subject { protocol: Some(Protocol::Tcp), ..SEND }), Some(1));
        let lookup = Subject { operation: Operation::Resolve, protocol: None, ..SEND };
        assert_eq!(profile.rule_for(&lookup), Some(2));
        assert_eq!(Profile::default().rule_for(&SEND), None);
    }

    #[test]
    fn what_has_no_remote_end_is_matched_by_no_rule_that_names_one() {
        let address = Match { addresses: vec![network("0.0.0.0/0"), network("::/0")], ..Match::default() };
        let port = Match { port: Some(0..=u16::MAX), ..Match::default() };
        for matches in [address, port] {
            assert!(!matches.matches(&SEND));
            for remote in ["192.0.2.1:0", "[2001:db8::1]:65535"] {
                assert!(matches.matches(&Subject { remote: Some(remote.parse().unwrap()), ..SEND }));
            }
        }
    }

    #[test]
    fn a_port_matches_from_the_first_to_the_last() {
        let matches = Match { port: Some(80..=90), ..Match::default() };
        let matched = |port| matches.matches(&Subject { remote: Some(([192, 0, 2, 1], port).into()), ..SEND });
        assert_eq!([79, 80, 90, 91].map(matched), [false, true, true, false]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_prefix_of_any_length_is_looked_at_without_a_panic(address: IpAddr, other: IpAddr, prefix: u8) {
            let network = Network { address, prefix };
            prop_assert!(network.contains(address) || prefix < 96);
            let _ = network.contains(other);
        }
    }
}
