//! The time that one request has, over all its phases.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use wrun_guest::{error_code, reason};

/// A limit and when it was begun to be used up.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    limit: Duration,
    start: Instant,
}

impl Budget {
    pub fn start(limit: Duration) -> Self {
        Self { limit, start: Instant::now() }
    }

    /// What is left, never zero.
    ///
    /// # Errors
    /// [`ErrorKind::TimedOut`] when nothing is.
    pub fn left(&self) -> io::Result<Duration> {
        let left = self.limit.saturating_sub(self.start.elapsed());
        if left.is_zero() { Err(io::Error::new(ErrorKind::TimedOut, self.spent())) } else { Ok(left) }
    }

    /// Why, in words: a time-out is told with the whole limit and not with what was left of it for one call.
    pub fn reason(&self, error: &io::Error) -> String {
        let own_time_out = error.kind() == ErrorKind::TimedOut && error_code(error).is_none();
        if own_time_out { self.spent() } else { reason(error) }
    }

    fn spent(&self) -> String {
        format!("timed out after {:?}", self.limit)
    }
}
