//! The guest's monotonic clock where it is a coarse one: a board's, which moves on in steps.
//!
//! What is left out: wrun's own measuring, which goes by the fine clock whatever the guest is shown.

use std::time::Duration;

use tokio::time::Instant;
use wasmtime_wasi::HostMonotonicClock;

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
            read.push(clock.now() / 1_000_000);
            tokio::time::advance(Duration::from_millis(4)).await;
        }
        assert_eq!(read, [0, 0, 0, 10, 10, 20, 20]);
        assert_eq!(clock.resolution(), 10_000_000);
    }
}
