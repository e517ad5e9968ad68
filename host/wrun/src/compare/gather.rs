//! From a report to durations in order: one entry a name, with its phases.
//!
//! As in [`crate::report::statistics`], times are of the samples that ended well. What a report says of itself there is
//! not relied on: it is counted anew.

use std::collections::HashMap;

use super::series::Series;
use crate::report::data::{Report, Sample};
use crate::report::histogram::{Histogram, Reason};
use crate::report::statistics;
use crate::report::words::Words;

/// The samples of one name in one run.
#[derive(Debug, Clone)]
pub struct Named {
    pub name: Words,
    pub errors: u64,
    pub unfinished: u64,
    pub reasons: Vec<Reason>,
    pub times: Series,
    /// In the order in which they were first entered.
    pub phases: Vec<(Words, Series)>,
}

impl Named {
    /// A name that a run has no samples of.
    pub fn empty(name: &Words) -> Self {
        let (reasons, phases) = (Vec::new(), Vec::new());
        Self { name: name.clone(), errors: 0, unfinished: 0, reasons, times: Series::default(), phases }
    }

    /// Samples that came to an end, well or not.
    pub fn ended(&self) -> u64 {
        self.times.n().saturating_add(self.errors)
    }

    pub fn phase(&self, name: &str) -> Option<&Series> {
        self.phases.iter().find(|(phase, _)| **phase == *name).map(|(_, series)| series)
    }

    fn counted(histogram: &Histogram) -> Self {
        let phases = histogram.phases.iter().map(|phase| (phase.name.clone(), Series::counted(&phase.times)));
        Self {
            name: histogram.name.clone(),
            errors: histogram.errors,
            unfinished: histogram.unfinished,
            reasons: histogram.reasons.clone(),
            times: Series::counted(&histogram.times),
            phases: phases.collect(),
        }
    }
}

/// All names of a run, in the order of their first samples, then those that were only counted.
pub fn gather(report: &Report) -> Vec<Named> {
    let mut names: Vec<Collected<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for sample in &report.samples {
        let place = *places.entry(&sample.name).or_insert_with(|| {
            names.push(Collected::new(&sample.name));
            names.len() - 1
        });
        names[place].add(sample);
    }
    let mut named: Vec<Named> = names.into_iter().map(Collected::named).collect();
    for histogram in &report.histograms {
        // A name is kept one by one or counted, never both; of a file that says both, the count has all.
        named.retain(|other| other.name != histogram.name);
        named.push(Named::counted(histogram));
    }
    named
}

struct Collected<'a> {
    name: &'a Words,
    errors: HashMap<&'a Words, u64>,
    unfinished: u64,
    durations: Vec<u64>,
    phases: Vec<(&'a Words, Vec<u64>)>,
    places: HashMap<&'a str, usize>,
}

impl<'a> Collected<'a> {
    fn new(name: &'a Words) -> Self {
        let (durations, phases) = (Vec::new(), Vec::new());
        Self { name, errors: HashMap::new(), unfinished: 0, durations, phases, places: HashMap::new() }
    }

    fn add(&mut self, sample: &'a Sample) {
        if let Some(error) = &sample.error {
            *self.errors.entry(error).or_default() += 1;
        } else if !sample.finished {
            self.unfinished += 1;
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

    fn named(self) -> Named {
        Named {
            name: self.name.clone(),
            errors: self.errors.values().sum(),
            unfinished: self.unfinished,
            reasons: statistics::reasons(self.errors),
            times: Series::of(self.durations),
            phases: self.phases.into_iter().map(|(name, durations)| (name.clone(), Series::of(durations))).collect(),
        }
    }
}
