//! The opportunities of a Mahimahi trace, counted from its start through all its repetitions.

use super::nanos::saturated;
use super::profile::Trace;

const NANOS_A_MILLISECOND: u64 = 1_000_000;

/// When the opportunities of a trace are, in nanoseconds since it started.
#[derive(Debug, Clone)]
pub struct Opportunities {
    /// Of one repetition, in order.
    times: Vec<u64>,
    /// After which it repeats: the last of the times.
    period: u64,
}

impl Opportunities {
    /// `None` for a trace without opportunities or without length, which a checked profile has none of.
    pub fn new(trace: &Trace) -> Option<Self> {
        let times: Vec<u64> = trace.milliseconds.iter().map(|time| time.saturating_mul(NANOS_A_MILLISECOND)).collect();
        let period = *times.last()?;
        (period > 0).then_some(Self { times, period })
    }

    /// When the opportunity of this number is; the first has number 0.
    pub fn time(&self, number: u64) -> u64 {
        let count = self.times.len() as u64;
        let repetition = u128::from(number / count) * u128::from(self.period);
        saturated(repetition + u128::from(self.times[(number % count) as usize]))
    }

    /// How many opportunities are earlier than `time`, which is the number of the first that is not.
    pub fn before(&self, time: u64) -> u64 {
        // Repetitions meet: the end of one is the start of the next. What lies exactly there is seen as the end, so that
        // all of the repetitions before it are earlier.
        let Some(last) = time.checked_sub(1) else { return 0 };
        let repetition = last / self.period;
        let within = time - repetition * self.period;
        let earlier = self.times.partition_point(|&at| at < within) as u64;
        repetition.saturating_mul(self.times.len() as u64).saturating_add(earlier)
    }

    /// Opportunities a second, on average.
    pub fn a_second(&self) -> f64 {
        self.times.len() as f64 / self.period as f64 * 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opportunities(milliseconds: &[u64]) -> Opportunities {
        Opportunities::new(&Trace { milliseconds: milliseconds.to_vec() }).unwrap()
    }

    #[test]
    fn times_never_fall_and_before_counts_exactly_those_that_are_earlier() {
        for trace in [&[5][..], &[0, 3], &[0, 0, 2, 2], &[1, 2, 3, 3]] {
            let opportunities = opportunities(trace);
            let times: Vec<u64> = (0..50).map(|number| opportunities.time(number)).collect();
            assert!(times.is_sorted(), "{trace:?}: {times:?}");
            for time in (0..=times[40]).step_by(500_000).flat_map(|time| [time, time + 1]) {
                let earlier = times.iter().filter(|&&at| at < time).count() as u64;
                assert_eq!(opportunities.before(time), earlier, "{trace:?} before {time}");
            }
        }
    }

    #[test]
    fn a_trace_without_length_is_none() {
        for milliseconds in [vec![], vec![0], vec![0, 0]] {
            assert!(Opportunities::new(&Trace { milliseconds }).is_none());
        }
    }
}
