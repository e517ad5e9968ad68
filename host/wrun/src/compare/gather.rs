//! From a report to durations in order: one entry a name, with its phases.
//!
//! As in [`crate::report::statistics`], times are of the samples that ended well. What a report says of itself there is
//! not relied on: it is counted anew.

use std::collections::HashMap;

use super::series::Series;
use crate::report::data::Report;
use crate::report::histogram::{Histogram, Reason};
use crate::report::statistics::{self, Collected};
use crate::report::words::Words;

/// The samples of one name in one run.
#[derive(Debug, Clone)]
pub struct Named {
    pub name: Words,
    pub errors: u64,
    pub unfinished: u64,
    /// How far the unfinished ones came, in nanoseconds. Empty where they were only counted.
    pub cut: Vec<u64>,
    pub reasons: Vec<Reason>,
    pub times: Series,
    /// In the order in which they were first entered.
    pub phases: Vec<(Words, Series)>,
    /// The place of each phase by its name: a stranger's file may have many.
    places: HashMap<Box<str>, usize>,
}

impl Named {
    /// A name that a run has no samples of.
    pub fn empty(name: &Words) -> Self {
        Self::new(name.clone(), Series::default(), Vec::new())
    }

    fn new(name: Words, times: Series, phases: Vec<(Words, Series)>) -> Self {
        let mut places = HashMap::new();
        for (place, (phase, _)) in phases.iter().enumerate() {
            // Of two that a file calls alike the first is meant.
            places.entry((**phase).into()).or_insert(place);
        }
        Self { name, errors: 0, unfinished: 0, cut: Vec::new(), reasons: Vec::new(), times, phases, places }
    }

    /// Samples that came to an end, well or not.
    pub fn ended(&self) -> u64 {
        self.times.n().saturating_add(self.errors)
    }

    /// Samples that were begun.
    pub fn begun(&self) -> u64 {
        self.ended().saturating_add(self.unfinished)
    }

    /// Samples that did not end well: they failed, or never ended.
    pub fn lost(&self) -> u64 {
        self.errors.saturating_add(self.unfinished)
    }

    pub fn phase(&self, name: &str) -> Option<&Series> {
        self.places.get(name).map(|place| &self.phases[*place].1)
    }

    fn collected(samples: Collected<'_>) -> Self {
        let phases = samples.phases.into_iter().map(|(name, durations)| (name.clone(), Series::of(durations)));
        Self {
            errors: samples.errors.values().sum(),
            unfinished: samples.cut.len() as u64,
            cut: samples.cut,
            reasons: statistics::reasons(samples.errors),
            ..Self::new(samples.name.clone(), Series::of(samples.durations), phases.collect())
        }
    }

    fn counted(histogram: &Histogram) -> Self {
        let phases = histogram.phases.iter().map(|phase| (phase.name.clone(), Series::counted(&phase.times)));
        Self {
            errors: histogram.errors,
            unfinished: histogram.unfinished,
            reasons: histogram.reasons.clone(),
            ..Self::new(histogram.name.clone(), Series::counted(&histogram.times), phases.collect())
        }
    }
}

/// All names of a run, in the order of their first samples, then those that were only counted.
pub fn gather(report: &Report) -> Vec<Named> {
    let mut named: Vec<Named> = statistics::collect(&report.samples).into_iter().map(Named::collected).collect();
    for histogram in &report.histograms {
        // A name is kept one by one or counted, never both; of a file that says both, the count has all.
        named.retain(|other| other.name != histogram.name);
        named.push(Named::counted(histogram));
    }
    named
}
