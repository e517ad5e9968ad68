//! The report's counters, kept current at little cost.
//!
//! A run is ended from outside, so there is no last moment to count in: what was counted is told again and again, no more
//! often than every [`PAUSE`], and before the server waits longer than that.

use std::time::{Duration, Instant};

use cache::server::Cache;

/// The least time between two times that the counters are told.
pub const PAUSE: Duration = Duration::from_millis(10);

/// What is told, in this order. The last three are the most there were at a time, as far as that is looked at, which is
/// when the counters are told.
const NAMES: [&str; 15] = [
    "commands",
    "get-hits",
    "get-misses",
    "values-sent-in",
    "items-stored",
    "deletes",
    "evictions",
    "bytes-received",
    "bytes-sent",
    "connections",
    "connections-dropped",
    "protocol-errors",
    "most-connections",
    "most-bytes-stored",
    "most-items",
];

/// What was told of it.
#[derive(Debug)]
pub struct Tally {
    told: [u64; NAMES.len()],
    at: Instant,
    /// Connections that were ended because nobody took their answers, or nothing came.
    pub dropped: u64,
    most: [u64; 3],
}

impl Tally {
    pub fn new(now: Instant) -> Self {
        Self { told: [0; NAMES.len()], at: now, dropped: 0, most: [0; 3] }
    }

    /// Tells what has changed, if the pause is over. How long it is still to wait if it is not, and something has.
    pub fn tell(&mut self, cache: &Cache, now: Instant) -> Option<Duration> {
        let counts = self.counts(cache);
        if counts == self.told {
            return None;
        }
        let pause = PAUSE.saturating_sub(now.saturating_duration_since(self.at));
        if !pause.is_zero() {
            return Some(pause);
        }
        for ((name, count), told) in NAMES.iter().zip(counts).zip(&mut self.told) {
            if count > *told {
                wrun_guest::count(name, count - *told);
            }
            *told = count;
        }
        self.at = now;
        None
    }

    fn counts(&mut self, cache: &Cache) -> [u64; NAMES.len()] {
        let (store, traffic) = (&cache.store, &cache.traffic);
        let counts = store.statistics();
        let now = [traffic.connections, store.bytes(), store.items()];
        for (most, now) in self.most.iter_mut().zip(now) {
            *most = now.max(*most);
        }
        let [most_connections, most_bytes, most_items] = self.most;
        [
            traffic.commands,
            counts.get_hits,
            counts.get_misses,
            counts.cmd_set,
            counts.total_items,
            counts.delete_hits,
            counts.evictions,
            traffic.bytes_read,
            traffic.bytes_written,
            traffic.connections_accepted,
            self.dropped,
            traffic.errors,
            most_connections,
            most_bytes,
            most_items,
        ]
    }
}
