//! The samples of one name while a run goes on: each one kept, in a few words of memory, until there are too many;
//! counted in histograms from then on.
//!
//! Samples are noted on the guest's thread, so nothing here may take long at once. That is why counting begins when
//! half of the allowed samples are there, two at a time: when the last one is, there is nothing left to do but to let
//! go of them.

use std::collections::HashMap;
use std::mem::size_of;

use super::data::{Phase, Sample};
use super::histogram::{Histogram, PhaseBuckets, Tally};
use super::names::Names;
use super::statistics;
use super::words::Words;

/// The reasons of failed samples, each kept once; numbers index it.
pub(super) type Reasons = Vec<Words>;

/// How a sample ended, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Ok,
    /// With the number of its reason.
    Failed(u16),
    Unfinished,
}

/// A sample without its phases. Those are in one list for all, up to `phases_end`.
#[derive(Clone, Copy)]
struct Row {
    start: u64,
    duration: u64,
    phases_end: u32,
    ended: Ended,
}

/// Samples, each one kept.
#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    /// The phases of all rows, in two lists because a pair would be padded to twice the size of the first.
    phase_names: Vec<u16>,
    phase_times: Vec<u64>,
    /// How many are in the tallies already.
    tallied: usize,
}

impl Rows {
    fn phases(&self, index: usize) -> (&[u16], &[u64]) {
        let start = index.checked_sub(1).map_or(0, |before| self.rows[before].phases_end as usize);
        let range = start..self.rows[index].phases_end as usize;
        (&self.phase_names[range.clone()], &self.phase_times[range])
    }
}

/// The samples of one name.
pub(super) struct Series {
    pub(super) name: Words,
    rows: Option<Rows>,
    errors: u64,
    unfinished: u64,
    reasons: HashMap<u16, u64>,
    times: Tally,
    phases: Vec<(u16, Tally)>,
    uncounted: bool,
}

impl Series {
    pub(super) fn new(name: Words) -> Self {
        Self {
            name,
            rows: Some(Rows::default()),
            errors: 0,
            unfinished: 0,
            reasons: HashMap::new(),
            times: Tally::new(),
            phases: Vec::new(),
            uncounted: false,
        }
    }

    /// Samples that are kept one by one, if they are.
    pub(super) fn kept(&self) -> Option<usize> {
        self.rows.as_ref().map(|rows| rows.rows.len())
    }

    /// Bytes that the kept samples take.
    pub(super) fn bytes(&self) -> usize {
        let per_phase = size_of::<u16>() + size_of::<u64>();
        self.rows.as_ref().map_or(0, |rows| rows.rows.len() * size_of::<Row>() + rows.phase_names.len() * per_phase)
    }

    /// Bytes that one more sample takes.
    pub(super) fn bytes_of(phases: usize) -> usize {
        size_of::<Row>() + phases * (size_of::<u16>() + size_of::<u64>())
    }

    /// Whether a phase was left out of the histograms for want of them.
    pub(super) fn uncounted(&self) -> bool {
        self.uncounted
    }

    /// How many samples there are in all.
    pub(super) fn made(&self) -> u64 {
        let kept = self.kept().map(|kept| kept as u64);
        kept.unwrap_or_else(|| self.times.count() + self.errors + self.unfinished)
    }

    /// Adds a sample. At most `limit` are kept one by one; `budget` is how many more histograms of phases may be made.
    /// Answers whether this one was too many and they are kept no more.
    pub(super) fn add(
        &mut self,
        start: u64,
        duration: u64,
        ended: Ended,
        phases: impl Iterator<Item = (u16, u64)>,
        limit: usize,
        budget: &mut usize,
    ) -> bool {
        match ended {
            Ended::Ok => {}
            Ended::Failed(reason) => {
                self.errors += 1;
                *self.reasons.entry(reason).or_default() += 1;
            }
            Ended::Unfinished => self.unfinished += 1,
        }
        let too_many = self.kept().is_some_and(|kept| kept >= limit);
        if too_many {
            self.count_all(budget);
        }
        let Some(rows) = &mut self.rows else {
            if ended == Ended::Ok {
                self.times.add(duration);
                for (name, time) in phases {
                    self.count_phase(name, time, budget);
                }
            }
            return too_many;
        };
        for (name, time) in phases {
            rows.phase_names.push(name);
            rows.phase_times.push(time);
        }
        // The bound on bytes keeps the lists far below four thousand million phases.
        let phases_end = u32::try_from(rows.phase_times.len()).unwrap_or(u32::MAX);
        rows.rows.push(Row { start, duration, phases_end, ended });
        if rows.rows.len() > limit / 2 {
            self.count(2, budget);
        }
        false
    }

    /// Counts all samples in histograms and lets go of them.
    pub(super) fn count_all(&mut self, budget: &mut usize) {
        self.count(usize::MAX, budget);
        self.rows = None;
    }

    /// Counts some of the kept samples that were not counted yet.
    fn count(&mut self, some: usize, budget: &mut usize) {
        let Some(mut rows) = self.rows.take() else { return };
        let until = rows.tallied.saturating_add(some).min(rows.rows.len());
        for index in rows.tallied..until {
            let row = rows.rows[index];
            if row.ended == Ended::Ok {
                self.times.add(row.duration);
                let (names, times) = rows.phases(index);
                for (name, time) in names.iter().zip(times) {
                    self.count_phase(*name, *time, budget);
                }
            }
        }
        rows.tallied = until;
        self.rows = Some(rows);
    }

    fn count_phase(&mut self, name: u16, time: u64, budget: &mut usize) {
        if let Some((_, tally)) = self.phases.iter_mut().find(|(known, _)| *known == name) {
            tally.add(time);
        } else if *budget > 0 {
            *budget -= 1;
            let mut tally = Tally::new();
            tally.add(time);
            self.phases.push((name, tally));
        } else {
            self.uncounted = true;
        }
    }

    /// Some of the kept samples, from the one with that index.
    pub(super) fn samples(&self, from: usize, most: usize, names: &Names, reasons: &Reasons) -> Vec<Sample> {
        let Some(rows) = &self.rows else { return Vec::new() };
        let until = from.saturating_add(most).min(rows.rows.len());
        let sample = |index: usize| {
            let row = rows.rows[index];
            let (phase_names, times) = rows.phases(index);
            let phase = |(name, time): (&u16, &u64)| Phase { name: names.words(*name), duration_ns: *time };
            Sample {
                name: self.name.clone(),
                start_ns: row.start,
                duration_ns: row.duration,
                phases: phase_names.iter().zip(times).map(phase).collect(),
                error: match row.ended {
                    Ended::Failed(reason) => reasons.get(usize::from(reason)).cloned(),
                    Ended::Ok | Ended::Unfinished => None,
                },
                finished: row.ended != Ended::Unfinished,
            }
        };
        (from..until).map(sample).collect()
    }

    /// The samples that are no longer kept.
    pub(super) fn histogram(&self, names: &Names, reasons: &Reasons) -> Option<Histogram> {
        if self.rows.is_some() {
            return None;
        }
        let phase = |(name, tally): &(u16, Tally)| PhaseBuckets { name: names.words(*name), times: tally.buckets() };
        let counts = self.reasons.iter().filter_map(|(id, count)| Some((reasons.get(usize::from(*id))?, *count)));
        Some(Histogram {
            name: self.name.clone(),
            errors: self.errors,
            unfinished: self.unfinished,
            reasons: statistics::reasons(counts),
            times: self.times.buckets(),
            phases: self.phases.iter().map(phase).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A series of successes, one of a duration each, with one phase of half of it.
    fn series(durations: impl IntoIterator<Item = u64>, limit: usize, budget: &mut usize) -> (Series, Vec<usize>) {
        let mut series = Series::new("get".into());
        let mut turned = Vec::new();
        for (index, duration) in durations.into_iter().enumerate() {
            if series.add(0, duration, Ended::Ok, [(0, duration / 2)].into_iter(), limit, budget) {
                turned.push(index);
            }
        }
        (series, turned)
    }

    #[test]
    fn a_series_turns_into_a_histogram_at_the_first_sample_above_the_limit_and_loses_none() {
        for limit in [1, 2, 7, 10] {
            let (kept, turned) = series(0..limit, limit as usize, &mut 9);
            assert_eq!((kept.kept(), turned.len()), (Some(limit as usize), 0));
            let (counted, turned) = series(0..25, limit as usize, &mut 9);
            assert_eq!(turned, [limit as usize]);
            let histogram = counted.histogram(&Names::new(), &Reasons::new()).unwrap();
            assert_eq!((histogram.times.count, histogram.times.max_ns, histogram.times.mean_ns), (25, 24, 12));
            assert_eq!((histogram.phases[0].times.count, histogram.phases[0].times.max_ns), (25, 12));
            assert_eq!((counted.made(), counted.bytes()), (25, 0));
        }
    }

    #[test]
    fn nothing_is_left_to_count_when_the_limit_is_reached() {
        let (series, _) = series(0..100, 100, &mut 9);
        assert_eq!(series.rows.unwrap().tallied, 100);
    }

    #[test]
    fn phases_beyond_the_budget_of_histograms_are_left_out_and_that_is_known() {
        let (series, _) = series(0..5, 1, &mut 0);
        assert!(series.uncounted());
        assert_eq!(series.histogram(&Names::new(), &Reasons::new()).unwrap().phases.len(), 0);
    }

    #[test]
    fn failures_are_counted_with_their_reasons() {
        let mut series = Series::new("get".into());
        for ended in [Ended::Failed(0), Ended::Failed(0), Ended::Unfinished, Ended::Ok] {
            series.add(0, 1, ended, [].into_iter(), 1, &mut 0);
        }
        let histogram = series.histogram(&Names::new(), &vec!["refused".into()]).unwrap();
        assert_eq!((histogram.errors, histogram.unfinished, histogram.times.count), (2, 1, 1));
        assert_eq!((&*histogram.reasons[0].words, histogram.reasons[0].count), ("refused", 2));
    }
}
