//! How durations are spread, in little memory.

use std::time::Duration;

/// Buckets within each power of two: a duration is known to a 256th of itself.
const FINENESS: u32 = 8;

/// Counts of durations in buckets that grow with them, at most 12,000 of them.
#[derive(Default)]
pub struct Histogram {
    /// As long as the largest duration yet needs.
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    pub fn add(&mut self, duration: Duration) {
        let bucket = bucket(nanoseconds(duration));
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
    }

    /// The duration that this share of all is not above, from 0 to 1. `None` where there are none.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        // The nearest rank. A count above 2^53 would be rounded, which changes no bucket that could be seen.
        let rank = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        let mut below = 0;
        let bucket = self.counts.iter().position(|count| {
            below += count;
            below >= rank
        })?;
        Some(Duration::from_nanos(middle(bucket)))
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The first `2^FINENESS` buckets are of a nanosecond each; then each power of two has as many, of double the width.
fn bucket(nanoseconds: u64) -> usize {
    let shift = (u64::BITS - nanoseconds.leading_zeros()).saturating_sub(FINENESS + 1);
    ((shift as usize) << FINENESS) + (nanoseconds >> shift) as usize
}

fn middle(bucket: usize) -> u64 {
    let shift = (bucket >> FINENESS).saturating_sub(1);
    let lowest = ((bucket - (shift << FINENESS)) as u64) << shift;
    lowest + ((1u64 << shift) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_known_to_a_256th_of_itself() {
        let mut one = 1u64;
        while one < u64::MAX / 3 {
            for nanoseconds in [one - 1, one, one + one / 3] {
                let known = middle(bucket(nanoseconds));
                assert!(known.abs_diff(nanoseconds) <= nanoseconds / 256, "{nanoseconds} is known as {known}");
            }
            one *= 2;
        }
        assert!(bucket(u64::MAX) < 15_000);
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        for nanoseconds in 0..100_000 {
            let step = bucket(nanoseconds + 1) - bucket(nanoseconds);
            assert!(step <= 1, "{step} buckets between {nanoseconds} and the next");
        }
    }

    #[test]
    fn quantiles_are_nearest_ranks_and_of_nothing_there_are_none() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (1..=100).for_each(|nanoseconds| histogram.add(Duration::from_nanos(nanoseconds)));
        assert_eq!(histogram.quantile(0.5), Some(Duration::from_nanos(50)));
        assert_eq!(histogram.quantile(0.99), Some(Duration::from_nanos(99)));
        assert_eq!(histogram.quantile(1.0), Some(Duration::from_nanos(100)));
        assert_eq!(histogram.quantile(0.0), Some(Duration::from_nanos(1)));
    }
}
