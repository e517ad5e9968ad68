//! What a chart shows of the reports: a panel for each name of samples, in it a series for each run.

use std::collections::HashMap;

use super::Run;
use crate::report::data::Sample;
use crate::report::histogram::Histogram;
use crate::report::statistics::{self, Statistics};

/// Names that have a panel each: a picture of more is longer than anybody looks at.
const NAMES: usize = 8;

/// The samples of one name.
pub struct Panel<'a> {
    pub name: &'a str,
    /// One for each run, in their order; that of a run without such samples is empty.
    pub series: Vec<Series<'a>>,
}

/// The samples of one name and one run.
#[derive(Default)]
pub struct Series<'a> {
    /// In the order of their starts.
    pub samples: Vec<&'a Sample>,
    /// In the place of samples that were too many to keep.
    pub histogram: Option<&'a Histogram>,
    /// Counted anew: what a file says of its samples need not be so.
    pub statistics: Option<Statistics>,
}

/// What became of a sample, as it is marked in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Well,
    Failed,
    Unfinished,
}

impl State {
    pub fn of(sample: &Sample) -> Self {
        match sample {
            Sample { error: Some(_), .. } => Self::Failed,
            Sample { finished: false, .. } => Self::Unfinished,
            _ => Self::Well,
        }
    }
}

/// The panels, in the order in which the runs first have their names, and how many more names there are.
pub fn panels<'a>(runs: &[Run<'a>]) -> (Vec<Panel<'a>>, usize) {
    let mut found = Found { panels: Vec::new(), places: HashMap::new(), runs: runs.len() };
    for (run, Run { report, .. }) in runs.iter().enumerate() {
        for sample in &report.samples {
            found.with(&sample.name, run, |series| series.samples.push(sample));
        }
        for histogram in &report.histograms {
            found.with(&histogram.name, run, |series| series.histogram = Some(histogram));
        }
        for statistics in statistics::of(&report.samples, &report.histograms) {
            let panel = found.places.get(&*statistics.name).and_then(|place| found.panels.get_mut(*place));
            // A name beyond those that have a panel has none.
            if let Some(panel) = panel {
                panel.series[run].statistics = Some(statistics);
            }
        }
    }
    let omitted = found.places.len() - found.panels.len();
    (found.panels, omitted)
}

/// The panels that were found so far, and the place of each name, those without a panel included.
struct Found<'a> {
    panels: Vec<Panel<'a>>,
    places: HashMap<&'a str, usize>,
    runs: usize,
}

impl<'a> Found<'a> {
    /// Gives the series of a name and a run to `add`, unless that name has no panel.
    fn with(&mut self, name: &'a str, run: usize, add: impl FnOnce(&mut Series<'a>)) {
        let next = self.places.len();
        let place = *self.places.entry(name).or_insert(next);
        if place == self.panels.len() && place < NAMES {
            let series = std::iter::repeat_with(Series::default).take(self.runs).collect();
            self.panels.push(Panel { name, series });
        }
        if let Some(panel) = self.panels.get_mut(place) {
            add(&mut panel.series[run]);
        }
    }
}

impl Panel<'_> {
    /// The shortest duration above zero and the longest, of all samples that are drawn. `None` where there is none.
    pub fn range(&self) -> Option<(u64, u64)> {
        let each = || self.series.iter().flat_map(Series::durations);
        let longest = each().max()?;
        Some((each().filter(|duration| *duration > 0).min().unwrap_or(longest), longest))
    }

    /// How many samples the longest series has in order.
    pub fn longest(&self) -> usize {
        self.series.iter().map(|series| series.samples.len()).max().unwrap_or(0)
    }

    pub fn has(&self, state: State) -> bool {
        self.series.iter().flat_map(|series| &series.samples).any(|sample| State::of(sample) == state)
    }
}

impl<'a> Series<'a> {
    /// Durations in nanoseconds, each with how often it occurs, of the samples that ended well.
    pub fn well(&self) -> impl Iterator<Item = (u64, u64)> + use<'a, '_> {
        let well = self.samples.iter().filter(|sample| State::of(sample) == State::Well);
        let counted = self.histogram.iter().flat_map(|histogram| &histogram.times.buckets);
        well.map(|sample| (sample.duration_ns, 1))
            .chain(counted.map(|bucket| (bucket.from_ns.midpoint(bucket.to_ns), bucket.count)))
    }

    /// All durations that have a place in the picture.
    fn durations(&self) -> impl Iterator<Item = u64> + use<'a, '_> {
        let other = self.samples.iter().filter(|sample| State::of(sample) != State::Well);
        self.well().map(|(duration, _)| duration).chain(other.map(|sample| sample.duration_ns))
    }
}
