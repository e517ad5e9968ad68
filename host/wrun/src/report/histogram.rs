//! Durations that are too many to keep: [`Tally`] counts them as they come, [`Buckets`] is how a report shows them.
//!
//! A bucket is at most a thousandth of its value wide, so every figure taken from one is that exact. Counting never
//! fails: durations above [`LONGEST`] are counted in the last bucket, while their true maximum and sum are kept beside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::statistics::{Collected, reasons};
use super::stats;
use super::words::Words;

/// Thirteen days in nanoseconds: no bucket lies above it, which bounds the memory of a tally.
const LONGEST: u64 = 1 << 50;

const DIGITS: u8 = 3;

/// All samples of one name, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    pub name: Words,
    pub errors: u64,
    pub unfinished: u64,
    /// The commonest reasons of the errors.
    pub reasons: Vec<Reason>,
    /// Durations of the samples that ended well.
    pub times: Buckets,
    /// Of those samples' phases.
    pub phases: Vec<PhaseBuckets>,
}

/// One phase of the samples of one name, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseBuckets {
    pub name: Words,
    pub times: Buckets,
}

/// Why samples failed, in the workload's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub words: Words,
    pub count: u64,
}

/// Durations, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Buckets {
    pub count: u64,
    /// Exact, as are the maximum and the mean; 0 of none.
    pub min_ns: u64,
    pub max_ns: u64,
    pub mean_ns: u64,
    /// In ascending order; empty ones are left out.
    pub buckets: Vec<Bucket>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bucket {
    /// The shortest duration that belongs here.
    pub from_ns: u64,
    /// The longest.
    pub to_ns: u64,
    pub count: u64,
}

impl Histogram {
    /// A name of which nothing was counted yet.
    pub(super) fn empty(name: Words) -> Self {
        Self { name, errors: 0, unfinished: 0, reasons: Vec::new(), times: Buckets::default(), phases: Vec::new() }
    }

    /// Samples of one name, counted.
    pub(super) fn of(samples: Collected<'_>) -> Self {
        let phase =
            |(name, durations): (&Words, Vec<u64>)| PhaseBuckets { name: name.clone(), times: Buckets::of(&durations) };
        Self {
            name: samples.name.clone(),
            errors: samples.errors.values().sum(),
            unfinished: samples.cut.len() as u64,
            reasons: reasons(samples.errors),
            times: Buckets::of(&samples.durations),
            phases: samples.phases.into_iter().map(phase).collect(),
        }
    }

    /// Adds those of another run.
    pub(super) fn add(&mut self, other: Self) {
        self.errors = self.errors.saturating_add(other.errors);
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        other.reasons.into_iter().for_each(|reason| add_reason(&mut self.reasons, reason));
        self.times.add(&other.times);
        for phase in other.phases {
            match self.phases.iter_mut().find(|earlier| earlier.name == phase.name) {
                Some(earlier) => earlier.times.add(&phase.times),
                None => self.phases.push(phase),
            }
        }
    }
}

fn add_reason(reasons: &mut Vec<Reason>, reason: Reason) {
    match reasons.iter_mut().find(|earlier| earlier.words == reason.words) {
        Some(earlier) => earlier.count = earlier.count.saturating_add(reason.count),
        None => reasons.push(reason),
    }
}

impl Buckets {
    fn of(durations: &[u64]) -> Self {
        let mut tally = Tally::new();
        durations.iter().for_each(|duration| tally.add(*duration));
        tally.buckets()
    }

    /// Adds those of another run. The bounds of two tallies are the same.
    fn add(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            return self.clone_from(other);
        }
        let sum = |buckets: &Self| u128::from(buckets.mean_ns) * u128::from(buckets.count);
        let count = self.count.saturating_add(other.count);
        self.mean_ns = stats::mean_of(sum(self) + sum(other), count).unwrap_or(0);
        self.count = count;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.buckets.extend(&other.buckets);
        self.buckets.sort_unstable_by_key(|bucket| (bucket.from_ns, bucket.to_ns));
        self.buckets.dedup_by(|next, kept| {
            let same = (next.from_ns, next.to_ns) == (kept.from_ns, kept.to_ns);
            if same {
                kept.count = kept.count.saturating_add(next.count);
            }
            same
        });
    }

    /// The quantile of [`stats::quantile`], as the middle of the bucket that holds its position.
    pub fn quantile(&self, permille: u16) -> Option<u64> {
        let counted: u128 = self.buckets.iter().map(|bucket| u128::from(bucket.count)).sum();
        let position = (counted.checked_sub(1)? * u128::from(permille.min(1000)) + 500) / 1000;
        let mut seen = 0;
        let bucket = self.buckets.iter().find(|bucket| {
            seen += u128::from(bucket.count);
            seen > position
        })?;
        let middle = bucket.from_ns.midpoint(bucket.to_ns);
        // A file may hold a minimum above its maximum; `clamp` would panic on that.
        Some(middle.min(self.max_ns).max(self.min_ns))
    }
}

/// Counts durations.
pub(super) struct Tally {
    counts: hdrhistogram::Histogram<u64>,
    min: u64,
    max: u64,
    sum: u128,
}

impl Tally {
    pub(super) fn new() -> Self {
        // The library refuses only more than five digits.
        let counts = hdrhistogram::Histogram::new(DIGITS).expect("three digits are allowed");
        Self { counts, min: u64::MAX, max: 0, sum: 0 }
    }

    pub(super) fn add(&mut self, duration_ns: u64) {
        self.min = self.min.min(duration_ns);
        self.max = self.max.max(duration_ns);
        self.sum = self.sum.saturating_add(u128::from(duration_ns));
        // It grows by itself up to the clamp, where it takes a third of a megabyte; beyond that nothing is left to fail.
        let _ = self.counts.record(duration_ns.min(LONGEST));
    }

    pub(super) fn count(&self) -> u64 {
        self.counts.len()
    }

    pub(super) fn buckets(&self) -> Buckets {
        let count = self.count();
        let buckets = self.counts.iter_recorded().map(|step| {
            let value = step.value_iterated_to();
            Bucket {
                from_ns: self.counts.lowest_equivalent(value),
                to_ns: self.counts.highest_equivalent(value),
                count: step.count_at_value(),
            }
        });
        Buckets {
            count,
            min_ns: if count == 0 { 0 } else { self.min },
            max_ns: self.max,
            mean_ns: stats::mean_of(self.sum, count).unwrap_or(0),
            buckets: buckets.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn counted(values: &[u64]) -> Buckets {
        Buckets::of(values)
    }

    #[test]
    fn any_duration_can_be_counted() {
        let buckets = counted(&[0, 1, LONGEST, LONGEST + 1, u64::MAX]);
        assert_eq!((buckets.count, buckets.min_ns, buckets.max_ns), (5, 0, u64::MAX));
        assert_eq!(buckets.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 5);
    }

    #[test]
    fn an_empty_tally_has_no_quantile() {
        assert_eq!(counted(&[]), Buckets::default());
        assert_eq!(counted(&[]).quantile(500), None);
    }

    #[test]
    fn contradictions_in_a_file_do_not_panic() {
        let bucket = Bucket { from_ns: 9, to_ns: 3, count: u64::MAX };
        let buckets = Buckets { count: 1, min_ns: 7, max_ns: 2, mean_ns: 0, buckets: vec![bucket, bucket, bucket] };
        assert_eq!(buckets.quantile(u16::MAX), Some(7));
    }

    proptest! {
        #[test]
        fn two_tallies_added_are_the_tally_of_both(
            first in vec(0u64..LONGEST, 0..40),
            second in vec(0u64..LONGEST, 0..40),
        ) {
            let mut added = counted(&first);
            added.add(&counted(&second));
            let both = counted(&[first, second].concat());
            // Two means were rounded on the way.
            prop_assert!(added.mean_ns.abs_diff(both.mean_ns) <= 1);
            prop_assert_eq!(Buckets { mean_ns: 0, ..added }, Buckets { mean_ns: 0, ..both });
        }

        #[test]
        fn a_quantile_is_within_a_thousandth_of_a_real_neighbour(
            mut values in vec(0u64..LONGEST, 1..80),
            permille in 0u16..=1000,
        ) {
            let quantile = counted(&values).quantile(permille).unwrap();
            values.sort_unstable();
            let position = ((values.len() - 1) as u64 * u64::from(permille) + 500) / 1000;
            let real = values[position as usize];
            prop_assert!(quantile.abs_diff(real) <= real / 1000 + 1, "{quantile} is not {real}");
        }
    }
}
