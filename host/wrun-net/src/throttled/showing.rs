//! A quirk that shows: counted with the time that it really takes.

use std::sync::Arc;

use tokio::time::Instant;

use super::account::{Occurrences, QuirkAccount};
use super::core::Core;

/// A wait that a quirk makes. It is over when its time has come, or when nobody waits any more and this is dropped.
pub struct Showing {
    core: Arc<Core>,
    /// What it is known by among those that go on.
    number: u64,
    wait: Wait,
}

/// Where a wait is counted, and when it is.
#[derive(Clone, Copy)]
pub struct Wait {
    pub which: Which,
    /// It may begin later: what is given up before has not shown.
    pub since: Instant,
    pub until: Instant,
}

/// Where it is counted.
pub type Which = fn(&mut QuirkAccount) -> &mut Occurrences;

impl Showing {
    pub fn new(core: &Arc<Core>, which: Which, since: Instant, until: Instant) -> Self {
        let wait = Wait { which, since, until };
        Self { core: core.clone(), number: core.quirks.begins(wait), wait }
    }

    pub fn until(&self) -> Instant {
        self.wait.until
    }

    pub fn is_over(&self, now: Instant) -> bool {
        self.wait.until <= now
    }
}

impl Drop for Showing {
    fn drop(&mut self) {
        self.core.quirks.ends(self.number, Instant::now());
    }
}

impl Wait {
    /// Counts what of it is over by now. What is dropped late has not waited longer for that.
    pub fn count(self, quirks: &mut QuirkAccount, now: Instant) {
        if let Some(time) = now.min(self.until).checked_duration_since(self.since) {
            (self.which)(quirks).add(time);
        }
    }
}
