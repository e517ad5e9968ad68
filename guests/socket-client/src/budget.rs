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

    /// What one of `among` attempts may use, so that those after it get their turn; never zero.
    ///
    /// # Errors
    /// As for [`Self::left`].
    pub fn share(&self, among: usize) -> io::Result<Duration> {
        let share = self.left()? / u32::try_from(among).unwrap_or(u32::MAX).max(1);
        Ok(share.max(Duration::from_nanos(1)))
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

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(60 * 60);

    #[test]
    fn each_of_some_attempts_leaves_the_others_their_share() {
        let budget = Budget::start(HOUR);
        assert!(budget.share(3).is_ok_and(|share| !share.is_zero() && share <= HOUR / 3));
        // The last one may use all that is left.
        assert!(budget.share(1).is_ok_and(|share| share > HOUR / 3));
        assert!(Budget::start(Duration::from_secs(1)).share(usize::MAX).is_ok_and(|share| !share.is_zero()));
    }

    #[test]
    fn a_spent_budget_gives_nothing_and_says_its_whole_limit() {
        let budget = Budget { limit: HOUR, start: Instant::now() };
        let spent = Budget { limit: Duration::ZERO, ..budget };
        for error in [spent.left().expect_err("spent"), spent.share(2).expect_err("spent")] {
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            assert_eq!(budget.reason(&error), "timed out after 3600s");
        }
    }
}
