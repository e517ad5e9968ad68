//! What the samples of a run add up to: the figures of each name and of each of its phases.
//!
//! Times are of the samples that ended well. Failed and unfinished ones are counted beside them and mixed into
//! nothing: a time-out of thirty seconds says nothing about how long an answer takes.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::data::Sample;
use super::histogram::{Buckets, Histogram, Reason};
use super::stats;
use super::words::Words;

/// Reasons of errors that are told apart for one name.
const REASONS: usize = 20;

/// The samples of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Statistics {
    pub name: Words,
    /// Samples that ended well.
    pub n: u64,
    pub errors: u64,
    pub unfinished: u64,
    /// The commonest reasons of the errors, at most 20.
    pub reasons: Vec<Reason>,
    /// Null when no sample ended well.
    pub times: Option<Times>,
    /// In the order in which they were first entered.
    pub phases: Vec<PhaseStatistics>,
}

/// One phase of the samples of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseStatistics {
    pub name: Words,
    /// Samples that ended well and had it.
    pub n: u64,
    pub times: Times,
}

/// The figures of some durations. Quantiles are on the straight line between neighbours (type 7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Times {
    pub min_ns: u64,
    pub p25_ns: u64,
    pub median_ns: u64,
    pub p75_ns: u64,
    /// Null with fewer than 20 samples.
    pub p95_ns: Option<u64>,
    /// Null with fewer than 100 samples.
    pub p99_ns: Option<u64>,
    pub max_ns: u64,
    pub mean_ns: u64,
    /// Why a percentile is null.
    pub note: Option<String>,
}

impl Times {
    /// Of one duration at least.
    pub fn of(mut durations: Vec<u64>) -> Option<Self> {
        durations.sort_unstable();
        let (min, max) = (*durations.first()?, *durations.last()?);
        Self::from(durations.len() as u64, min, max, stats::mean(&durations)?, |q| stats::quantile(&durations, q))
    }

    /// Of durations that were only counted, one at least.
    pub fn counted(buckets: &Buckets) -> Option<Self> {
        Self::from(buckets.count, buckets.min_ns, buckets.max_ns, buckets.mean_ns, |q| buckets.quantile(q))
    }

    fn from(n: u64, min_ns: u64, max_ns: u64, mean_ns: u64, quantile: impl Fn(u16) -> Option<u64>) -> Option<Self> {
        let allowed = |needs: usize| n >= needs as u64;
        Some(Self {
            min_ns,
            p25_ns: quantile(250)?,
            median_ns: quantile(500)?,
            p75_ns: quantile(750)?,
            p95_ns: quantile(950).filter(|_| allowed(stats::P95_NEEDS)),
            p99_ns: quantile(990).filter(|_| allowed(stats::P99_NEEDS)),
            max_ns,
            mean_ns,
            note: match (allowed(stats::P95_NEEDS), allowed(stats::P99_NEEDS)) {
                (true, true) => None,
                (true, false) => Some(format!("p99 needs {} samples", stats::P99_NEEDS)),
                _ => Some(format!("p95 needs {} samples, p99 {}", stats::P95_NEEDS, stats::P99_NEEDS)),
            },
        })
    }
}

/// The statistics of a run's samples: names in the order of their first samples, then those that were only counted.
pub fn of(samples: &[Sample], histograms: &[Histogram]) -> Vec<Statistics> {
    collect(samples).into_iter().map(Collected::statistics).chain(histograms.iter().map(counted)).collect()
}

/// Samples sorted by their names, in the order of their first ones.
pub fn collect(samples: &[Sample]) -> Vec<Collected<'_>> {
    let mut names: Vec<Collected<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for sample in samples {
        let place = *places.entry(&sample.name).or_insert_with(|| {
            names.push(Collected::new(&sample.name));
            names.len() - 1
        });
        names[place].add(sample);
    }
    names
}

fn counted(histogram: &Histogram) -> Statistics {
    let phases = histogram.phases.iter().filter_map(|phase| {
        Some(PhaseStatistics { name: phase.name.clone(), n: phase.times.count, times: Times::counted(&phase.times)? })
    });
    Statistics {
        name: histogram.name.clone(),
        n: histogram.times.count,
        errors: histogram.errors,
        unfinished: histogram.unfinished,
        reasons: histogram.reasons.clone(),
        times: Times::counted(&histogram.times),
        phases: phases.collect(),
    }
}

/// The commonest of some reasons, each with its count.
pub fn reasons<'a>(counts: impl IntoIterator<Item = (&'a Words, u64)>) -> Vec<Reason> {
    let reason = |(words, count): (&Words, u64)| Reason { words: words.clone(), count };
    let mut reasons: Vec<Reason> = counts.into_iter().map(reason).collect();
    reasons.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.words.cmp(&b.words)));
    reasons.truncate(REASONS);
    reasons
}

/// The samples of one name, sorted by how they ended. Times are in nanoseconds.
pub struct Collected<'a> {
    pub name: &'a Words,
    /// The reasons of those that failed, each with how many gave it.
    pub errors: HashMap<&'a Words, u64>,
    /// How far those came that never ended.
    pub cut: Vec<u64>,
    /// Of those that ended well.
    pub durations: Vec<u64>,
    /// Of these, in the order in which the phases were first entered.
    pub phases: Vec<(&'a Words, Vec<u64>)>,
    places: HashMap<&'a Words, usize>,
}

impl<'a> Collected<'a> {
    fn new(name: &'a Words) -> Self {
        let (cut, durations, phases) = (Vec::new(), Vec::new(), Vec::new());
        Self { name, errors: HashMap::new(), cut, durations, phases, places: HashMap::new() }
    }

    fn add(&mut self, sample: &'a Sample) {
        if let Some(error) = &sample.error {
            *self.errors.entry(error).or_default() += 1;
        } else if !sample.finished {
            self.cut.push(sample.duration_ns);
        } else {
            self.durations.push(sample.duration_ns);
            for phase in &sample.phases {
                let place = *self.places.entry(&phase.name).or_insert_with(|| {
                    self.phases.push((&phase.name, Vec::new()));
                    self.phases.len() - 1
                });
                self.phases[place].1.push(phase.duration_ns);
            }
        }
    }

    fn statistics(self) -> Statistics {
        let phase = |(name, durations): (&Words, Vec<u64>)| {
            let n = durations.len() as u64;
            Some(PhaseStatistics { name: name.clone(), n, times: Times::of(durations)? })
        };
        Statistics {
            name: self.name.clone(),
            n: self.durations.len() as u64,
            errors: self.errors.values().sum(),
            unfinished: self.cut.len() as u64,
            reasons: reasons(self.errors),
            times: Times::of(self.durations),
            phases: self.phases.into_iter().filter_map(phase).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::Phase;
    use super::*;

    fn sample(name: &str, duration_ns: u64, error: Option<&str>, finished: bool) -> Sample {
        let phases = vec![Phase { name: "wait".into(), duration_ns: duration_ns / 2 }];
        Sample { name: name.into(), start_ns: 0, duration_ns, phases, error: error.map(Words::from), finished }
    }

    #[test]
    fn failed_and_unfinished_samples_are_counted_but_not_timed() {
        let samples = [
            sample("get", 10, None, true),
            sample("get", 1000, Some("refused"), true),
            sample("get", 2000, None, false),
            sample("put", 7, Some("refused"), true),
        ];
        let [get, put] = &of(&samples, &[])[..] else { panic!("two names make two statistics") };
        assert_eq!((get.n, get.errors, get.unfinished), (1, 1, 1));
        assert_eq!(get.times.as_ref().unwrap().max_ns, 10);
        assert_eq!(get.phases[0].times.max_ns, 5);
        assert_eq!((put.n, put.times.as_ref(), put.phases.len()), (0, None, 0));
        assert_eq!(put.reasons, [Reason { words: "refused".into(), count: 1 }]);
    }

    #[test]
    fn a_percentile_is_null_until_the_sample_is_large_enough() {
        let of = |n: u64| Times::of((0..n).collect()).unwrap();
        assert_eq!((of(19).p95_ns, of(99).p99_ns), (None, None));
        assert_eq!(of(19).note.as_deref(), Some("p95 needs 20 samples, p99 100"));
        assert_eq!((of(20).p95_ns, of(20).note.as_deref()), (Some(18), Some("p99 needs 100 samples")));
        assert_eq!((of(100).p99_ns, of(100).note), (Some(98), None));
    }

    #[test]
    fn the_commonest_reason_comes_first() {
        let (a, b, c) = ("a".into(), "b".into(), "c".into());
        let reasons = reasons([(&b, 2), (&c, 9), (&a, 2)]);
        assert_eq!(reasons.iter().map(|reason| &*reason.words).collect::<Vec<_>>(), ["c", "a", "b"]);
    }
}
