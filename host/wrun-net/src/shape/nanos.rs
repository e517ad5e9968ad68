//! Durations as whole nanoseconds, which is what all arithmetic of time is done in.

use std::time::Duration;

/// 584 years at most: what is longer is that long.
pub fn nanos(time: Duration) -> u64 {
    saturated(time.as_nanos())
}

pub fn saturated(nanos: u128) -> u64 {
    u64::try_from(nanos).unwrap_or(u64::MAX)
}
