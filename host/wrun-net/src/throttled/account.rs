//! What a profile did: the figures that are held against what it was set to do.

use std::time::Duration;

pub use crate::shape::profile::Way;

/// A copy of the figures at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Account {
    /// For each rule of the profile that anything was matched by, in their order, `up` before `down`.
    pub paths: Vec<PathAccount>,
    pub quirks: QuirkAccount,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PathAccount {
    /// The name of the rule.
    pub rule: String,
    pub way: Way,
    /// How often something was sent over the path: datagrams, and segments of TCP streams and their handshakes, these again
    /// each time one is sent again.
    pub count: u64,
    /// Of payload, each once.
    pub bytes: u64,
    /// Of `count`: lost by chance, and for want of room in the queue.
    pub lost: u64,
    pub overflowed: u64,
    pub duplicated: u64,
    pub reordered: u64,
    /// From being handed over to being passed on, the waiting for the rate left out. With jitter it is longer than what
    /// was drawn where many follow each other, since who would overtake waits for who is before. `None` where nothing
    /// passed.
    pub median_delay: Option<Duration>,
    pub p99_delay: Option<Duration>,
    /// How late the timer was: from when it was due to when it was passed on.
    pub median_late: Option<Duration>,
    pub p99_late: Option<Duration>,
    /// Bytes that the rate let go while something was waiting for it, and how long that was in all. Their quotient is the
    /// achieved rate. What is lost on the way after that has taken its part of it.
    pub busy_bytes: u64,
    pub busy: Duration,
}

/// How often a quirk showed, and how long that took in all. One that still goes on counts until now, and one that was
/// given up until then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Occurrences {
    pub count: u64,
    pub total: Duration,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuirkAccount {
    pub connect_stalls: Occurrences,
    pub answer_stalls: Occurrences,
    pub send_stalls: Occurrences,
    /// Small sends that waited for an acknowledgement.
    pub held_sends: Occurrences,
    /// Send queues that were full until they cleared.
    pub full_queues: Occurrences,
    pub closes_stalled: Occurrences,
    pub closes_reset: u64,
    pub connects_failed: u64,
    pub lookups_failed: u64,
    pub sockets_refused: u64,
    pub options_refused: u64,
}
