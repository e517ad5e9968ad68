//! How a TCP stream meets loss: nothing is missing, it comes later.
//!
//! A lost segment is sent again after a retransmission timeout, which doubles each time. What is left out: recovery by
//! duplicate acknowledgements, the congestion window, and the bytes that are sent twice.

use std::time::Duration;

/// The least a sender waits for an acknowledgement, as on Linux.
pub const MIN_TIMEOUT: Duration = Duration::from_millis(200);

/// The most, as on Linux.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(120);

/// After this many retransmissions a segment arrives whatever the odds (where Linux would give the connection up), so
/// that a stream over a link that loses everything still ends.
pub const MOST: u32 = 15;

/// How long all retransmissions of a segment take that is lost `times` times in a row, on a link of this round trip.
pub fn wait(times: u32, round_trip: Duration) -> Duration {
    let first = round_trip.saturating_mul(2).max(MIN_TIMEOUT);
    (0..times.min(MOST)).map(|turn| first.saturating_mul(1 << turn).min(MAX_TIMEOUT)).sum()
}
