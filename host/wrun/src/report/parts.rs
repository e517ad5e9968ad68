//! Putting a report together, from a recorder at the end of a run or from the lines that a killed one left.

use std::collections::BTreeMap;

use super::connections::{Connection, Lookup};
use super::data::{Calibration, Denial, Header, Omitted, Outcome, Report, SCHEMA, Sample, WarningNote};
use super::histogram::Histogram;
use super::state::{CONNECTIONS, DENIALS, NOTES};
use super::statistics;
use super::throttle::Throttle;
use crate::warning::Warning;

/// A report without what follows from the rest of it.
pub(super) struct Parts {
    pub(super) header: Header,
    /// In any order.
    pub(super) samples: Vec<Sample>,
    pub(super) histograms: Vec<Histogram>,
    pub(super) connections: Vec<Connection>,
    pub(super) lookups: Vec<Lookup>,
    pub(super) throttle: Option<Throttle>,
    pub(super) denials: Vec<Denial>,
    pub(super) counters: BTreeMap<String, u64>,
    pub(super) notes: Vec<String>,
    pub(super) calibration: Option<Calibration>,
    pub(super) omitted: Omitted,
    pub(super) warnings: Vec<WarningNote>,
    /// Those that are known at the end only; they come after the others.
    pub(super) late_warnings: Vec<Warning>,
}

impl Parts {
    pub(super) fn new(header: Header) -> Self {
        Self {
            header,
            samples: Vec::new(),
            histograms: Vec::new(),
            connections: Vec::new(),
            lookups: Vec::new(),
            throttle: None,
            denials: Vec::new(),
            counters: BTreeMap::new(),
            notes: Vec::new(),
            calibration: None,
            omitted: Omitted::default(),
            warnings: Vec::new(),
            late_warnings: Vec::new(),
        }
    }

    pub(super) fn report(mut self, outcome: Outcome, duration_ns: u64) -> Report {
        // Stable, so that samples of one start stay in the order of their ends.
        self.samples.sort_by_key(|sample| sample.start_ns);
        let late = self.late_warnings.iter().chain(&self.omissions()).map(WarningNote::from).collect::<Vec<_>>();
        self.warnings.extend(late);
        Report {
            schema: SCHEMA,
            header: self.header,
            rounds: 1,
            duration_ns,
            complete: outcome.family.completes(),
            outcome,
            statistics: statistics::of(&self.samples, &self.histograms),
            samples: self.samples,
            histograms: self.histograms,
            connections: self.connections,
            lookups: self.lookups,
            throttle: self.throttle,
            denials: self.denials,
            counters: self.counters,
            notes: self.notes,
            calibration: self.calibration,
            omitted: self.omitted,
            warnings: self.warnings,
        }
    }

    fn omissions(&self) -> Vec<Warning> {
        let Omitted { connections, lookups, notes, denials } = self.omitted;
        let kept = CONNECTIONS as u64;
        [
            (connections, Warning::ConnectionsOmitted { kept, omitted: connections }),
            (lookups, Warning::LookupsOmitted { kept, omitted: lookups }),
            (notes, Warning::NotesOmitted { kept: NOTES as u64, omitted: notes }),
            (denials, Warning::DenialsOmitted { kept: DENIALS as u64, omitted: denials }),
        ]
        .into_iter()
        .filter_map(|(omitted, warning)| (omitted > 0).then_some(warning))
        .collect()
    }
}
