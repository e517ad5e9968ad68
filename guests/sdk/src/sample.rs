//! Telling the report what the guest is doing. No call here blocks or fails, and the times are the host's.

use std::time::Duration;

use crate::bindings::timing;
use crate::poll::nanoseconds;

/// One measured piece of work, such as a request, from [`Sample::start`] to [`Sample::finish`] or [`Sample::fail`].
///
/// Several may be open at once. One that is dropped without either is in the report as unfinished, and in no statistic.
///
/// Names of samples, phases and counters are at most 64 bytes without control characters, and there may be 256 names
/// of samples, 1024 of counters and 32 phases in a sample. More than that is a mistake in the guest and traps it.
#[derive(Debug)]
#[must_use = "a sample that is dropped at once measures nothing"]
pub struct Sample(timing::Sample);

impl Sample {
    /// Opens a sample; its time starts now.
    pub fn start(name: &str) -> Self {
        Self(timing::Sample::new(name))
    }

    /// Opens a sample whose time started `ago` before now, for work that was due then and had to wait: a request of a
    /// steady stream, when the ones before it took too long. With `waiting` the wait is a phase of this name, until the next
    /// begins. No sample starts before the run does.
    pub fn since(name: &str, ago: Duration, waiting: Option<&str>) -> Self {
        Self(timing::Sample::since(name, nanoseconds(ago), waiting))
    }

    /// Ends the phase before it, if any, and starts this one. A name may come again: its times add up.
    pub fn phase(&self, name: &str) {
        self.0.phase(name);
    }

    /// Ends the sample well.
    pub fn finish(self) {
        timing::Sample::finish(self.0, Ok(()));
    }

    /// Ends the sample with the reason why it did not go well, in words; they are cut after 1024 bytes.
    pub fn fail(self, reason: &str) {
        timing::Sample::finish(self.0, Err(reason));
    }
}

/// Announces that so many more samples will come, which is what progress is counted against.
pub fn announce(samples: u64) {
    timing::announce(samples);
}

/// Adds to a counter of the run.
pub fn count(name: &str, amount: u64) {
    timing::count(name, amount);
}

/// Puts a line into the report: at most 1024 bytes of it, and the first 1000 lines of a run.
pub fn note(text: &str) {
    timing::note(text);
}
