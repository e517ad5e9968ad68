//! Counting what a profile does, while it does it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use super::account::{Occurrences, PathAccount, QuirkAccount, Way};
use super::histogram::Histogram;
use super::showing::Wait;
use crate::sync::lock;

/// What happened on one way of one rule.
#[derive(Default)]
pub struct PathTally(Mutex<Path>);

#[derive(Default)]
struct Path {
    count: u64,
    bytes: u64,
    lost: u64,
    overflowed: u64,
    duplicated: u64,
    reordered: u64,
    delays: Histogram,
    lateness: Histogram,
    busy_bytes: u64,
    busy: Duration,
}

/// What happens on one line: what its rule does, and until when it is known to have been at it.
pub struct LineTally {
    path: Arc<PathTally>,
    /// When the last of those that were passed on had left the queue.
    left: Mutex<Option<Instant>>,
}

/// What happened to something that was handed to a path. Each as in [`PathAccount`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Handed {
    pub count: u64,
    pub bytes: usize,
    pub lost: u64,
    pub overflowed: u64,
    pub duplicated: u64,
    pub reordered: u64,
}

/// What is known of something when it is passed on.
#[derive(Debug, Clone, Copy)]
pub struct Passage {
    /// When it was handed over.
    pub handed: Instant,
    /// When it was handed over, and the rate had let it go.
    pub sent: Instant,
    pub due: Instant,
    /// It has waited for others before it.
    pub queued: bool,
    /// What the rate let go until then since the last that was passed on: its own, and those that were lost before it.
    pub bytes: usize,
    /// It has the delay of the path.
    pub delayed: bool,
}

impl PathTally {
    pub fn handed(&self, handed: Handed) {
        let mut path = lock(&self.0);
        path.count += handed.count;
        path.bytes += handed.bytes as u64;
        path.lost += handed.lost;
        path.overflowed += handed.overflowed;
        path.duplicated += handed.duplicated;
        path.reordered += handed.reordered;
    }

    /// `busy` is how long the line was at it, if it had others to carry before.
    fn passed(&self, passage: Passage, busy: Option<Duration>, now: Instant) {
        let mut path = lock(&self.0);
        if passage.delayed {
            path.delays.add(now.saturating_duration_since(passage.sent));
        }
        path.lateness.add(now.saturating_duration_since(passage.due));
        if let Some(busy) = busy {
            path.busy_bytes += passage.bytes as u64;
            path.busy += busy;
        }
    }

    /// The figures so far, if there are any.
    pub fn account(&self, rule: &str, way: Way) -> Option<PathAccount> {
        let path = lock(&self.0);
        (path.count > 0).then(|| PathAccount {
            rule: rule.to_owned(),
            way,
            count: path.count,
            bytes: path.bytes,
            lost: path.lost,
            overflowed: path.overflowed,
            duplicated: path.duplicated,
            reordered: path.reordered,
            median_delay: path.delays.quantile(0.5),
            p99_delay: path.delays.quantile(0.99),
            median_late: path.lateness.quantile(0.5),
            p99_late: path.lateness.quantile(0.99),
            busy_bytes: path.busy_bytes,
            busy: path.busy,
        })
    }
}

impl LineTally {
    pub fn new(path: Arc<PathTally>) -> Arc<Self> {
        Arc::new(Self { path, left: Mutex::default() })
    }

    pub fn handed(&self, handed: Handed) {
        self.path.handed(handed);
    }

    pub fn passed(&self, passage: Passage, now: Instant) {
        // Jitter and overtaking change when things are passed on, and not when they leave the queue: that is as late as
        // the passing is.
        let left = passage.sent + now.saturating_duration_since(passage.due);
        let before = {
            let mut last = lock(&self.left);
            let before = *last;
            *last = before.max(Some(left));
            before
        };
        // Before it was handed over, the line had maybe nothing to do.
        let since = before.map_or(passage.handed, |before| before.max(passage.handed));
        let busy = passage.queued.then(|| left.saturating_duration_since(since));
        self.path.passed(passage, busy, now);
    }
}

/// How often each quirk showed.
#[derive(Default)]
pub struct QuirkTally(Mutex<Quirks>);

#[derive(Default)]
struct Quirks {
    over: QuirkAccount,
    /// Waits that go on, by their numbers.
    going: HashMap<u64, Wait>,
    next: u64,
}

impl QuirkTally {
    pub fn note(&self, note: impl FnOnce(&mut QuirkAccount)) {
        note(&mut lock(&self.0).over);
    }

    /// A number for a wait that goes on.
    pub fn begins(&self, wait: Wait) -> u64 {
        let mut quirks = lock(&self.0);
        let number = quirks.next;
        quirks.next += 1;
        quirks.going.insert(number, wait);
        number
    }

    pub fn ends(&self, number: u64, now: Instant) {
        let Quirks { over, going, .. } = &mut *lock(&self.0);
        going.remove(&number).into_iter().for_each(|wait| wait.count(over, now));
    }

    pub fn account(&self) -> QuirkAccount {
        let quirks = lock(&self.0);
        let (mut account, now) = (quirks.over, Instant::now());
        quirks.going.values().for_each(|wait| wait.count(&mut account, now));
        account
    }
}

impl Occurrences {
    /// Once more, for this long.
    pub(super) fn add(&mut self, time: Duration) {
        self.count += 1;
        self.total = self.total.saturating_add(time);
    }
}
