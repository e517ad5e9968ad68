//! Whom a UDP server may answer: who has asked it something.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// Senders that a server may answer without a rule of their own: the latest so many at least, twice that at most.
const MAX_ASKERS: usize = 4096;

/// Who has sent a server something, so that it can answer: in two generations, of which the older is forgotten whole.
#[derive(Default)]
pub struct Askers(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    last: Option<SocketAddr>,
    newer: HashSet<SocketAddr>,
    older: HashSet<SocketAddr>,
}

impl Askers {
    pub fn add(&self, sender: SocketAddr) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.last == Some(sender) {
            return;
        }
        known.last = Some(sender);
        if known.newer.insert(sender) && known.newer.len() > MAX_ASKERS {
            known.older = std::mem::take(&mut known.newer);
            known.newer.insert(sender);
        }
    }

    pub fn has(&self, address: SocketAddr) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.newer.contains(&address) || known.older.contains(&address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_remembers_its_latest_askers_and_no_more_than_twice_as_many() {
        let askers = Askers::default();
        let address = |n: usize| SocketAddr::from(([127, 0, 0, 1], u16::try_from(n).unwrap()));
        for n in 1..=3 * MAX_ASKERS {
            askers.add(address(n));
        }
        assert!((2 * MAX_ASKERS..=3 * MAX_ASKERS).all(|n| askers.has(address(n))));
        assert!((1..=MAX_ASKERS).all(|n| !askers.has(address(n))));
    }
}
