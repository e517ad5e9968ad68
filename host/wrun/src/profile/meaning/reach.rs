//! What a rule can meet: which operations there are under its match, and whether an earlier rule has taken all of them.
//!
//! What is left out: that several earlier rules together may take all, and that networks side by side make a larger one.

use wrun_net::shape::profile::{Match, Network, Operation, Protocol};

use super::matching::OPERATIONS;

/// The operations that a match can meet. Nothing connects over UDP, and a name lookup has no protocol, no address and no port.
pub fn operations(matches: &Match) -> Vec<Operation> {
    let Match { protocol, addresses, port, operations } = matches;
    let named = |operation: &Operation| operations.is_empty() || operations.contains(operation);
    let there = |operation: &Operation| match operation {
        Operation::Connect => *protocol != Some(Protocol::Udp),
        Operation::Send | Operation::Receive => true,
        Operation::Resolve => protocol.is_none() && addresses.is_empty() && port.is_none(),
    };
    OPERATIONS.into_iter().map(|(_, operation)| operation).filter(named).filter(there).collect()
}

/// Whether all that `later` can meet is matched by `earlier`.
pub fn covers(earlier: &Match, later: &Match) -> bool {
    let (taken, wanted) = (operations(earlier), operations(later));
    if !wanted.iter().all(|operation| taken.contains(operation)) {
        return false;
    }
    // A lookup that the earlier one meets is all there is of it.
    let mut met = wanted.iter().filter(|operation| **operation != Operation::Resolve);
    let protocol = |operation: &Operation| match operation {
        Operation::Connect => Some(Protocol::Tcp),
        _ => later.protocol,
    };
    let protocols = met.all(|operation| earlier.protocol.is_none() || earlier.protocol == protocol(operation));
    let remote = wanted != [Operation::Resolve];
    protocols && (!remote || (addresses(&earlier.addresses, &later.addresses) && ports(earlier, later)))
}

/// Of longer lists than these nobody waits to hear that they are in one another: it takes the product of their lengths.
const PAIRS: usize = 10_000;

fn addresses(earlier: &[Network], later: &[Network]) -> bool {
    let covered = |network: &Network| earlier.iter().any(|wider| wider.covers(network));
    let everything =
        || [true, false].iter().all(|ipv4| earlier.iter().any(|it| it.prefix == 0 && it.address.is_ipv4() == *ipv4));
    match later {
        _ if earlier.is_empty() => true,
        [] => everything(),
        later if earlier.len().saturating_mul(later.len()) > PAIRS => false,
        later => later.iter().all(covered),
    }
}

fn ports(earlier: &Match, later: &Match) -> bool {
    match (&earlier.port, &later.port) {
        (None, _) => true,
        // There is no port 0 to be met.
        (Some(earlier), None) => *earlier.start() <= 1 && *earlier.end() == u16::MAX,
        (Some(earlier), Some(later)) => earlier.contains(later.start()) && earlier.contains(later.end()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, SocketAddr};

    use wrun_net::shape::rules::Subject;

    use super::*;

    fn networks(texts: &[&str]) -> Vec<Network> {
        let network = |text: &&str| {
            let (address, prefix) = text.split_once('/').unwrap();
            Network { address: address.parse().unwrap(), prefix: prefix.parse().unwrap() }
        };
        texts.iter().map(network).collect()
    }

    /// Matches of every kind.
    fn matches() -> Vec<Match> {
        use Operation::{Connect, Receive, Resolve, Send};
        let mut all = Vec::new();
        for protocol in [None, Some(Protocol::Tcp), Some(Protocol::Udp)] {
            for addresses in [
                &[][..],
                &["10.0.0.0/8"],
                &["10.1.0.0/16", "fd00::/8"],
                &["0.0.0.0/0", "::/0"],
                &["::ffff:10.1.2.0/120"],
            ] {
                for port in [None, Some(1..=u16::MAX), Some(53..=53), Some(50..=60)] {
                    for operations in [
                        &[][..],
                        &[Connect],
                        &[Send, Receive],
                        &[Connect, Send, Receive, Resolve],
                        &[Resolve],
                        &[Connect, Send],
                    ] {
                        all.push(Match {
                            protocol,
                            addresses: networks(addresses),
                            port: port.clone(),
                            operations: operations.to_vec(),
                        });
                    }
                }
            }
        }
        all
    }

    /// What there is to be met, at the borders of those matches.
    fn subjects() -> Vec<Subject> {
        let addresses = ["9.9.9.9", "10.0.0.1", "10.1.0.1", "10.1.2.3", "fd00::1", "2001:db8::1"];
        let addresses = addresses.map(|text| text.parse::<IpAddr>().unwrap());
        let mut all = vec![Subject { operation: Operation::Resolve, protocol: None, remote: None }];
        for address in addresses {
            for port in [1, 50, 53, 60, 61, u16::MAX] {
                for (protocol, operation) in [
                    (Protocol::Tcp, Operation::Connect),
                    (Protocol::Tcp, Operation::Send),
                    (Protocol::Tcp, Operation::Receive),
                    (Protocol::Udp, Operation::Send),
                    (Protocol::Udp, Operation::Receive),
                ] {
                    let remote = Some(SocketAddr::new(address, port));
                    all.push(Subject { operation, protocol: Some(protocol), remote });
                }
            }
        }
        all
    }

    #[test]
    fn a_rule_is_covered_where_the_earlier_matches_whatever_it_does_and_nowhere_else() {
        let (matches, subjects) = (matches(), subjects());
        let met: Vec<Vec<bool>> =
            matches.iter().map(|one| subjects.iter().map(|subject| one.matches(subject)).collect()).collect();
        for (later, wanted) in matches.iter().zip(&met) {
            assert_eq!(operations(later).is_empty(), !wanted.contains(&true), "{later:?}");
            if operations(later).is_empty() {
                continue;
            }
            for (earlier, taken) in matches.iter().zip(&met) {
                let all = wanted.iter().zip(taken).all(|(wanted, taken)| *taken || !wanted);
                assert_eq!(covers(earlier, later), all, "{earlier:?} before {later:?}");
            }
        }
    }
}
