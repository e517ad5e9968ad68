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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_double_from_the_longer_of_200_ms_and_two_round_trips_up_to_two_minutes() {
        let ms = Duration::from_millis;
        let waits = |round_trip| [0, 1, 2, 3].map(|times| wait(times, ms(round_trip)));
        assert_eq!(waits(10), [ms(0), ms(200), ms(600), ms(1400)]);
        assert_eq!(waits(600), [ms(0), ms(1200), ms(3600), ms(8400)]);
        assert_eq!(wait(2, Duration::from_secs(50)), Duration::from_secs(220));
    }

    #[test]
    fn a_segment_that_is_always_lost_is_waited_for_no_longer_than_linux_does() {
        // 0.2 + 0.4 + … + 102.4 s, and two minutes for each of the five that are left.
        assert_eq!(wait(u32::MAX, Duration::ZERO), Duration::from_millis(204_600 + 5 * 120_000));
        assert_eq!(wait(MOST, Duration::MAX), MAX_TIMEOUT * MOST);
    }
}
