//! A queue of datagrams that gives no place back while the destinations are of several kinds.

use std::net::IpAddr;
use std::time::Duration;

use super::profile::{Network, SendQueue};

/// The queue of one socket. A new socket begins with an empty one.
#[derive(Debug, Clone)]
pub struct Places {
    queue: SendQueue,
    depth: u32,
    queued: u32,
    /// Since when there has been no place.
    full: Option<Duration>,
    destinations: Destinations,
}

/// What kinds of destinations a socket has sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Destinations {
    None,
    /// The place of the kind in [`SendQueue::kinds`], or their count for a destination in none of them.
    One(usize),
    Several,
}

/// Whether a datagram was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Taken,
    /// It was not, and none will be before `until`.
    Full {
        until: Duration,
    },
}

impl Places {
    pub fn new(queue: SendQueue) -> Self {
        let depth = queue.depth.max(1);
        Self { queue, depth, queued: 0, full: None, destinations: Destinations::None }
    }

    /// Takes a place for a datagram, if there is one.
    pub fn try_send(&mut self, now: Duration, destination: IpAddr) -> Place {
        self.clear(now);
        if let Some(since) = self.full {
            return Place::Full { until: since.saturating_add(self.queue.clears_after) };
        }
        self.meet(destination);
        if self.is_concerned() {
            self.queued += 1;
            self.look(now);
        }
        Place::Taken
    }

    /// Datagrams that have a place.
    pub fn queued(&mut self, now: Duration) -> u32 {
        self.clear(now);
        self.queued
    }

    /// When there is a place again. `None`: there is one.
    pub fn full_until(&mut self, now: Duration) -> Option<Duration> {
        self.clear(now);
        self.full.map(|since| since.saturating_add(self.queue.clears_after))
    }

    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Sets the depth, to the nearest from 1 to the most that the board allows.
    pub fn set_depth(&mut self, now: Duration, depth: u32) {
        self.clear(now);
        self.depth = depth.clamp(1, self.queue.max_depth.max(1));
        self.look(now);
    }

    fn clear(&mut self, now: Duration) {
        if self.full.is_some_and(|since| since.saturating_add(self.queue.clears_after) <= now) {
            (self.queued, self.full) = (0, None);
        }
    }

    fn look(&mut self, now: Duration) {
        self.full = if self.queued < self.depth { None } else { self.full.or(Some(now)) };
    }

    fn meet(&mut self, destination: IpAddr) {
        let kinds = &self.queue.kinds;
        let is_in = |kind: &Vec<Network>| kind.iter().any(|network| network.contains(destination));
        let kind = kinds.iter().position(is_in).unwrap_or(kinds.len());
        self.destinations = match self.destinations {
            Destinations::None => Destinations::One(kind),
            Destinations::One(known) if known == kind => Destinations::One(known),
            _ => Destinations::Several,
        };
    }

    fn is_concerned(&self) -> bool {
        self.queue.kinds.is_empty() || self.destinations == Destinations::Several
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APOLLO: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const SUN: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 1));

    fn secs(time: u64) -> Duration {
        Duration::from_secs(time)
    }

    fn network(address: IpAddr) -> Network {
        Network { address, prefix: 32 }
    }

    /// Two deep, seven at most, three seconds; one of the two kinds is what no kind names.
    fn places() -> Places {
        Places::new(SendQueue { depth: 2, max_depth: 7, clears_after: secs(3), kinds: vec![vec![network(APOLLO)]] })
    }

    /// A socket that has sent to both kinds.
    fn mixed() -> Places {
        let mut places = places();
        assert_eq!(places.try_send(secs(0), SUN), Place::Taken);
        assert_eq!(places.try_send(secs(0), APOLLO), Place::Taken);
        places
    }

    #[test]
    fn one_kind_of_destination_never_fills_it() {
        let mut places = places();
        assert!((0..100).all(|_| places.try_send(secs(0), SUN) == Place::Taken));
        assert_eq!(places.queued(secs(0)), 0);
    }

    #[test]
    fn several_kinds_fill_it_and_it_is_empty_again_after_its_time() {
        let mut places = mixed();
        assert_eq!(places.try_send(secs(1), SUN), Place::Taken);
        assert_eq!(places.try_send(secs(2), SUN), Place::Full { until: secs(4) });
        assert_eq!((places.queued(secs(3)), places.full_until(secs(3))), (2, Some(secs(4))));
        assert_eq!((places.queued(secs(4)), places.full_until(secs(4))), (0, None));
        assert_eq!(places.try_send(secs(4), SUN), Place::Taken);
        assert_eq!(places.try_send(secs(4), SUN), Place::Taken);
        assert_eq!(places.try_send(secs(4), SUN), Place::Full { until: secs(7) });
    }

    #[test]
    fn a_mapped_address_is_of_the_kind_of_the_one_it_stands_for() {
        let mut places = places();
        let IpAddr::V4(apollo) = APOLLO else { unreachable!("it is written above") };
        places.try_send(secs(0), APOLLO);
        places.try_send(secs(0), apollo.to_ipv6_mapped().into());
        assert_eq!(places.queued(secs(0)), 0);
    }

    #[test]
    fn without_kinds_every_socket_is_concerned() {
        let queue = SendQueue { depth: 1, max_depth: 1, clears_after: secs(3), kinds: vec![] };
        let mut places = Places::new(queue);
        assert_eq!(places.try_send(secs(0), SUN), Place::Taken);
        assert_eq!(places.try_send(secs(0), SUN), Place::Full { until: secs(3) });
    }

    #[test]
    fn a_guest_sets_the_depth_up_to_the_most_and_down_to_one() {
        let mut places = mixed();
        let depth = |places: &mut Places, depth| {
            places.set_depth(secs(0), depth);
            places.depth()
        };
        assert_eq!([100, 7, 0].map(|asked| depth(&mut places, asked)), [7, 7, 1]);
        // One is queued, so that a depth of one is full,
        assert_eq!(places.try_send(secs(1), SUN), Place::Full { until: secs(3) });
        // and a greater one makes room at once.
        assert_eq!(depth(&mut places, 3), 3);
        assert_eq!(places.try_send(secs(1), SUN), Place::Taken);
    }
}
