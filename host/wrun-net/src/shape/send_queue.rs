//! A queue of datagrams that gives no place back while the destinations are of several kinds.

use std::net::IpAddr;
use std::time::Duration;

use super::profile::SendQueue;

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
        let is_in = |kind: &Vec<super::profile::Network>| kind.iter().any(|network| network.contains(destination));
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
