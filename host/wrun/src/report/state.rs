//! What a recorder holds, and the bounds that keep it from growing without end.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use wrun_net::metered::Meter;

use super::connections::Lookup;
use super::data::{Calibration, Omitted, WarningNote};
use super::names::{Name, Names};
use super::recorder::{SAMPLE_NAMES, SampleCounts};
use super::series::{Reasons, Series};
use super::words::{Words, cut};
use crate::warning::Warning;

/// Notes that are kept.
pub(super) const NOTES: usize = 1000;
/// Rules of denials that are told apart.
pub(super) const DENIALS: usize = 1000;
/// Sockets, and lookups, that are kept.
pub(super) const CONNECTIONS: usize = 10_000;
/// Bytes of a note, or of the reason of an error, that are kept.
pub(super) const TEXT_BYTES: usize = 1024;
/// Reasons of errors that are told apart.
const REASONS: usize = 1000;
/// What a reason beyond the bound is reported as.
const OTHER_REASON: &str = "(one of too many different reasons to keep)";

/// The bounds that a test needs smaller.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Samples of one name that are kept one by one.
    pub(super) samples: usize,
    /// Bytes that the kept samples of all names may take.
    pub(super) bytes: usize,
    /// Histograms of phases. Each takes a third of a megabyte at worst.
    pub(super) phase_histograms: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { samples: 1_000_000, bytes: 256 << 20, phase_histograms: 256 }
    }
}

/// What a run has told until now.
pub(super) struct State {
    pub(super) names: Names,
    pub(super) reasons: Reasons,
    reason_ids: HashMap<Words, u16>,
    pub(super) series: Vec<Series>,
    /// Places in `series`, by the number of the name.
    places: HashMap<u16, usize>,
    /// Bytes that the kept samples take.
    pub(super) bytes: usize,
    /// Histograms of phases that may still be made.
    pub(super) budget: usize,
    pub(super) counters: BTreeMap<String, u64>,
    pub(super) notes: Vec<String>,
    pub(super) denials: BTreeMap<String, u64>,
    pub(super) sockets: Vec<Arc<Meter>>,
    pub(super) lookups: Vec<Lookup>,
    pub(super) omitted: Omitted,
    pub(super) warnings: Vec<WarningNote>,
    pub(super) calibration: Option<Calibration>,
    pub(super) counts: SampleCounts,
    /// When the last sample ended, in nanoseconds since the run began.
    pub(super) reached: u64,
}

impl State {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            names: Names::new(),
            reasons: vec![OTHER_REASON.into()],
            reason_ids: HashMap::new(),
            series: Vec::new(),
            places: HashMap::new(),
            bytes: 0,
            budget: limits.phase_histograms,
            counters: BTreeMap::new(),
            notes: Vec::new(),
            denials: BTreeMap::new(),
            sockets: Vec::new(),
            lookups: Vec::new(),
            omitted: Omitted::default(),
            warnings: Vec::new(),
            calibration: None,
            counts: SampleCounts::default(),
            reached: 0,
        }
    }

    /// Where the samples of a name are. `None` when there are too many names.
    pub(super) fn place(&mut self, name: &Name) -> Option<usize> {
        if let Some(place) = self.places.get(&name.id) {
            return Some(*place);
        }
        if self.series.len() >= SAMPLE_NAMES {
            return None;
        }
        self.series.push(Series::new(self.names.words(name.id)));
        self.places.insert(name.id, self.series.len() - 1);
        Some(self.series.len() - 1)
    }

    /// The number of a reason. Number 0 stands for those beyond the bound.
    pub(super) fn reason(&mut self, reason: &str) -> u16 {
        let words = Words::from(cut(reason, TEXT_BYTES));
        if let Some(id) = self.reason_ids.get(&words) {
            return *id;
        }
        let id = u16::try_from(self.reasons.len()).unwrap_or(0);
        if self.reasons.len() > REASONS || id == 0 {
            self.warn(&Warning::ReasonsFolded { allowed: REASONS });
            return 0;
        }
        self.reasons.push(words.clone());
        self.reason_ids.insert(words, id);
        id
    }

    /// Lets go of the samples of the largest name until there is room for so many more bytes.
    pub(super) fn make_room(&mut self, bytes: usize, allowed: usize) {
        while self.bytes + bytes > allowed {
            let Some(largest) = self.series.iter_mut().max_by_key(|series| series.bytes()) else { return };
            let freed = largest.bytes();
            if freed == 0 {
                return;
            }
            largest.count_all(&mut self.budget);
            let name = largest.name.to_string();
            self.bytes = self.bytes.saturating_sub(freed);
            self.warn(&Warning::HistogramForced { name });
        }
    }

    pub(super) fn warn(&mut self, warning: &Warning) {
        let note = WarningNote::from(warning);
        if !self.warnings.contains(&note) {
            self.warnings.push(note);
        }
    }
}
