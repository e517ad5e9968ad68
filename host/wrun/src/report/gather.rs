//! Several runs of one workload as one report: a run that went on where the one before it ended.
//!
//! What is left out: whether the runs belong together, which is for whoever ran them to know.

use std::collections::HashMap;

use super::data::{Report, Sample};
use super::histogram::Histogram;
use super::state::{CONNECTIONS, Limits, NOTES};
use super::statistics;
use super::words::Words;
use crate::warning::Warning;

impl Report {
    /// This report with another run after it: its times begin where this one ends.
    ///
    /// What was said once a run (outcome, calibration, impairment) is the later run's, but that one which did not come to
    /// its end leaves the whole incomplete. Of what is more than a report keeps, the numbers add up.
    pub fn followed_by(mut self, mut later: Report) -> Self {
        let offset = self.duration_ns;
        let sockets = self.connections.last().map_or(0, |connection| connection.id);
        later.samples.iter_mut().for_each(|sample| shift(&mut sample.start_ns, offset));
        later.lookups.iter_mut().for_each(|lookup| shift(&mut lookup.start_ns, offset));
        for connection in &mut later.connections {
            connection.id = connection.id.saturating_add(sockets);
            connection.moments().for_each(|moment| shift(moment, offset));
        }
        self.samples.append(&mut later.samples);
        self.omitted.connections += append(&mut self.connections, later.connections, CONNECTIONS);
        self.omitted.lookups += append(&mut self.lookups, later.lookups, CONNECTIONS);
        self.omitted.notes += append(&mut self.notes, later.notes, NOTES);
        let limit = Limits::default().samples;
        for name in over(&self.samples, limit) {
            self.histograms.push(Histogram::empty(name.clone()));
            let warning = Warning::HistogramKept { name: name.to_string(), kept: limit as u64 };
            self.warnings.push((&warning).into());
        }
        count(&mut self.histograms, later.histograms, &mut self.samples);
        for (name, total) in later.counters {
            let sum = self.counters.entry(name).or_default();
            *sum = sum.saturating_add(total);
        }
        for denial in later.denials {
            match self.denials.iter_mut().find(|earlier| earlier.rule == denial.rule) {
                Some(earlier) => earlier.count = earlier.count.saturating_add(denial.count),
                None => self.denials.push(denial),
            }
        }
        for warning in later.warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        self.throttle = match (self.throttle, later.throttle) {
            (Some(earlier), Some(later)) => Some(earlier.followed_by(later)),
            (earlier, later) => later.or(earlier),
        };
        self.omitted.connections = self.omitted.connections.saturating_add(later.omitted.connections);
        self.omitted.lookups = self.omitted.lookups.saturating_add(later.omitted.lookups);
        self.omitted.notes = self.omitted.notes.saturating_add(later.omitted.notes);
        self.omitted.denials = self.omitted.denials.saturating_add(later.omitted.denials);
        Self {
            rounds: self.rounds.saturating_add(later.rounds),
            duration_ns: self.duration_ns.saturating_add(later.duration_ns),
            complete: self.complete && later.complete,
            outcome: if self.outcome.code == Some(0) { later.outcome } else { self.outcome },
            calibration: later.calibration.or(self.calibration),
            statistics: statistics::of(&self.samples, &self.histograms),
            ..self
        }
    }
}

/// Moves what fits, and answers how many did not.
fn append<T>(to: &mut Vec<T>, from: Vec<T>, limit: usize) -> u64 {
    let room = limit.saturating_sub(to.len());
    let omitted = from.len().saturating_sub(room);
    to.extend(from.into_iter().take(room));
    omitted as u64
}

/// The names that have more samples than are kept one by one.
fn over(samples: &[Sample], limit: usize) -> Vec<Words> {
    let mut counts: HashMap<&Words, usize> = HashMap::new();
    samples.iter().for_each(|sample| *counts.entry(&sample.name).or_default() += 1);
    counts.into_iter().filter(|(_, count)| *count > limit).map(|(name, _)| name.clone()).collect()
}

/// Adds histograms to those of the same names, and to each the samples of its name that were kept one by one.
fn count(histograms: &mut Vec<Histogram>, later: Vec<Histogram>, samples: &mut Vec<Sample>) {
    for histogram in later {
        match histograms.iter_mut().find(|earlier| earlier.name == histogram.name) {
            Some(earlier) => earlier.add(histogram),
            None => histograms.push(histogram),
        }
    }
    for histogram in histograms {
        let kept = samples.extract_if(.., |sample| sample.name == histogram.name).collect::<Vec<_>>();
        statistics::collect(&kept).into_iter().for_each(|samples| histogram.add(Histogram::of(samples)));
    }
}

fn shift(moment: &mut u64, offset: u64) {
    *moment = moment.saturating_add(offset);
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{many, story};

    #[test]
    fn a_run_goes_on_where_the_one_before_it_ended() {
        let (first, second) = (story(), story());
        let (sockets, length) = (first.connections.len(), first.duration_ns);
        let whole = first.clone().followed_by(second);
        assert_eq!((whole.rounds, whole.duration_ns), (2, 2 * length));
        assert_eq!(whole.samples.len(), 2 * first.samples.len());
        assert_eq!(whole.samples[15].start_ns, first.samples[0].start_ns + length);
        let (before, after) = (&first.connections[3], &whole.connections[sockets + 3]);
        assert_eq!(after.id, before.id + sockets as u64);
        assert_eq!(after.opened_ns, before.opened_ns + length);
        assert_eq!(after.ended_ns, before.ended_ns.map(|ended| ended + length));
        assert_eq!((after.close_took_ns, after.sent_bytes), (before.close_took_ns, before.sent_bytes));
        assert_eq!(whole.counters["retries"], 2 * first.counters["retries"]);
        assert_eq!(whole.denials[0].count, 2 * first.denials[0].count);
        assert_eq!(whole.statistics[0].n, 2 * first.statistics[0].n);
        assert_eq!(
            whole.statistics[0].times.as_ref().map(|t| t.median_ns),
            first.statistics[0].times.as_ref().map(|t| t.median_ns)
        );
        assert_eq!(whole.warnings, first.warnings);
    }

    #[test]
    fn what_was_counted_in_one_run_is_counted_in_the_whole() {
        let mut kept = many();
        kept.histograms.clear();
        let mut sample = kept.samples[0].clone();
        sample.name = "bulk".into();
        kept.samples.push(sample.clone());
        // Given up with a reason: an error, as everywhere else.
        (sample.finished, sample.error) = (false, Some("given up".into()));
        kept.samples.push(sample);
        for whole in [many().followed_by(kept.clone()), kept.clone().followed_by(many())] {
            assert!(whole.samples.iter().all(|sample| &*sample.name == "echo"));
            assert_eq!(whole.histograms[0].times.count, 50_001);
            let bulk = whole.statistics.iter().find(|statistics| &*statistics.name == "bulk").unwrap();
            assert_eq!((bulk.n, bulk.errors, bulk.unfinished), (50_001, 1, 0));
        }
    }

    #[test]
    fn what_is_more_than_a_report_keeps_is_counted() {
        let (mut first, mut second) = (story(), story());
        first.notes = vec!["a note".to_owned(); 900];
        second.notes = vec!["a note".to_owned(); 200];
        let socket = first.connections[0].clone();
        first.connections = vec![socket.clone(); 9_999];
        second.connections = vec![socket; 5];
        let whole = first.followed_by(second);
        assert_eq!((whole.notes.len(), whole.omitted.notes), (1_000, 100));
        assert_eq!((whole.connections.len(), whole.omitted.connections), (10_000, 4));
        let mut samples = story().samples;
        samples.truncate(3);
        assert_eq!(super::over(&samples, 2), ["get".into()]);
        assert!(super::over(&samples, 3).is_empty());
    }

    #[test]
    fn a_run_that_did_not_end_leaves_the_whole_incomplete_and_its_outcome_is_the_whole_s() {
        let mut killed = story();
        (killed.complete, killed.outcome.code) = (false, None);
        for whole in [story().followed_by(killed.clone()), killed.clone().followed_by(story())] {
            assert_eq!((whole.complete, whole.outcome.code), (false, None));
        }
    }
}
