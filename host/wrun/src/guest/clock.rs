//! The guest's clocks where they are coarse: a board's, which move on in steps.
//!
//! What is left out: wrun's own measuring, which goes by the fine clock whatever the guest is shown.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;
use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

/// A clock that stands still between two ticks.
pub struct Ticking {
    start: Instant,
    /// Nanoseconds, at least one.
    tick: u64,
}

impl Ticking {
    pub fn every(tick: Duration) -> Self {
        Self { start: Instant::now(), tick: nanoseconds(tick).max(1) }
    }
}

impl HostMonotonicClock for Ticking {
    fn resolution(&self) -> u64 {
        self.tick
    }

    fn now(&self) -> u64 {
        let now = nanoseconds(self.start.elapsed());
        now - now % self.tick
    }
}

impl HostWallClock for Ticking {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(self.tick)
    }

    fn now(&self) -> Duration {
        let now = nanoseconds(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        Duration::from_nanos(now - now % self.tick)
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_clock_stands_still_between_two_ticks() {
        let clock = Ticking::every(Duration::from_millis(10));
        let mut read = Vec::new();
        for _ in 0..7 {
            read.push(HostMonotonicClock::now(&clock) / 1_000_000);
            tokio::time::advance(Duration::from_millis(4)).await;
        }
        assert_eq!(read, [0, 0, 0, 10, 10, 20, 20]);
        assert_eq!(HostMonotonicClock::resolution(&clock), 10_000_000);
        assert_eq!(HostWallClock::now(&clock).subsec_nanos() % 10_000_000, 0);
    }
}
