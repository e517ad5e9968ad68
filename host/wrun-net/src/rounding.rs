//! What a plain stack makes of an option's value: rounded to whole seconds, kept in range.
//!
//! The native backend asks the kernel with these, and the in-memory one holds them, so that the same guest reads the
//! same value back from both. The ranges are Linux's; a value outside is brought to the nearest end, never refused:
//! `wasi:sockets` says the same of every option that may be adjusted.

use std::time::Duration;

/// The most seconds that `TCP_KEEPIDLE` and `TCP_KEEPINTVL` take.
const KEEP_ALIVE_SECONDS: u64 = i16::MAX as u64;

/// The most probes that `TCP_KEEPCNT` takes.
const KEEP_ALIVE_COUNT: u32 = i8::MAX as u32;

/// Idle time and interval of keep-alive: whole seconds, at least one.
pub fn keep_alive_time(value: Duration) -> Duration {
    Duration::from_secs(whole_seconds(value).clamp(1, KEEP_ALIVE_SECONDS))
}

/// Probes of keep-alive, at least one.
pub fn keep_alive_count(value: u32) -> u32 {
    value.clamp(1, KEEP_ALIVE_COUNT)
}

/// The linger time: whole seconds. Zero stays zero, which cuts; anything above never becomes zero.
pub fn linger(value: Option<Duration>) -> Option<Duration> {
    value.map(|time| Duration::from_secs(whole_seconds(time).min(i32::MAX as u64)))
}

/// A buffer size in bytes, as the largest number a stack takes.
pub fn buffer(value: u64) -> u64 {
    value.clamp(1, i32::MAX as u64)
}

/// Rounded up.
fn whole_seconds(value: Duration) -> u64 {
    value.as_secs().saturating_add(u64::from(value.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linger_time_above_zero_never_becomes_the_zero_that_cuts() {
        assert_eq!(linger(Some(Duration::from_nanos(1))), Some(Duration::from_secs(1)));
        assert_eq!(linger(Some(Duration::ZERO)), Some(Duration::ZERO));
        assert_eq!(linger(None), None);
    }

    #[test]
    fn the_largest_duration_is_brought_into_range() {
        assert_eq!(keep_alive_time(Duration::MAX), Duration::from_secs(32_767));
        assert_eq!(linger(Some(Duration::MAX)), Some(Duration::from_secs(2_147_483_647)));
        assert_eq!(keep_alive_time(Duration::ZERO), Duration::from_secs(1));
    }
}
