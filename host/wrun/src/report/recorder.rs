//! What a run is told, kept in bounded memory until it becomes a [`Report`].
//!
//! The guest's own thread does the telling, so each call is short: it takes one lock and copies a few words. Any other
//! thread may look at the same time: [`super::changes`] reads what is new, progress the counts. Nothing a guest does
//! makes a recorder grow without end; what is beyond a bound is counted, and said.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wrun_net::metered::{self, Log, Meter};

use super::connections::{Connection, nanoseconds};
use super::data::{Calibration, Denial, Family, Header, Outcome, Profile, Report};
use super::names::{Name, PHASE_NAMES};
use super::parts::Parts;
use super::series::{Ended, Series};
use super::state::{CONNECTIONS, DENIALS, Limits, NOTES, State, TEXT_BYTES};
use super::throttle::Throttle;
use super::words::cut;
use crate::trace::Trace;
use crate::warning::Warning;

/// Names of samples that a run may have.
pub const SAMPLE_NAMES: usize = 256;
/// Counters that a run may have.
pub const COUNTERS: usize = 1024;

/// What a recorder does besides keeping.
#[derive(Default)]
pub struct RecorderOptions {
    /// Where every socket call is written as it ends. `None` also spares the measuring of each.
    pub trace: Option<Trace>,
    /// What the sockets are impaired with, as it is at the moment of asking.
    pub throttle: Option<Box<dyn Fn() -> Throttle + Send + Sync>>,
}

/// A sample as it is told, in times since the run began.
#[derive(Debug, Clone)]
pub struct Sample {
    pub name: Name,
    pub start: Duration,
    pub end: Duration,
    pub phases: Vec<(Name, Duration)>,
    pub outcome: SampleOutcome,
}

/// How a sample ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SampleOutcome {
    Ok,
    /// With the reason, in the guest's words; a kilobyte of it is kept.
    Failed(String),
    /// It was dropped before its end.
    Unfinished,
}

/// How many samples there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleCounts {
    pub done: u64,
    /// How many there will be, if the guest has said so.
    pub expected: Option<u64>,
}

/// A guest has used more names than a run may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a run has at most {allowed} {what}, and {name:?} is one more: use fewer names")]
pub struct TooMany {
    /// Of what, in the plural.
    pub what: &'static str,
    pub allowed: usize,
    pub name: String,
}

/// Keeps what a run is told.
pub struct Recorder {
    header: Header,
    options: RecorderOptions,
    limits: Limits,
    state: Mutex<State>,
}

impl Recorder {
    pub fn new(header: Header, options: RecorderOptions) -> Arc<Self> {
        Self::with_limits(header, options, Limits::default())
    }

    pub(super) fn with_limits(header: Header, options: RecorderOptions, limits: Limits) -> Arc<Self> {
        let debug = header.wrun.profile == Profile::Debug;
        let recorder = Self { header, options, limits, state: Mutex::new(State::new(&limits)) };
        if debug {
            recorder.warn(Warning::DebugBuild);
        }
        Arc::new(recorder)
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// What the sockets are impaired with, and what that has done until now.
    pub(super) fn throttle(&self) -> Option<Throttle> {
        self.options.throttle.as_ref().map(|throttle| throttle())
    }

    /// So many more samples will come, after those that are done.
    pub fn announce(&self, samples: u64) {
        let mut state = self.lock();
        let so_far = state.counts.expected.unwrap_or(0).max(state.counts.done);
        state.counts.expected = Some(so_far.saturating_add(samples));
    }

    /// The name for a sample. An error when it is one more than [`SAMPLE_NAMES`].
    pub fn try_sample_name(&self, name: &str) -> Result<Name, TooMany> {
        let too_many = || TooMany { what: "names of samples", allowed: SAMPLE_NAMES, name: name.to_owned() };
        let mut state = self.lock();
        let interned = state.names.intern(name, PHASE_NAMES + SAMPLE_NAMES).ok_or_else(too_many)?;
        state.place(&interned).map(|_| interned).ok_or_else(too_many)
    }

    /// The name for a phase. Beyond a thousand names they are all one, `(other)`, which the report warns of.
    pub fn intern(&self, name: &str) -> Name {
        let mut state = self.lock();
        if let Some(interned) = state.names.intern(name, PHASE_NAMES) {
            return interned;
        }
        state.warn(&Warning::PhasesFolded { allowed: PHASE_NAMES });
        state.names.other()
    }

    /// A sample has ended. Its name is from [`Self::try_sample_name`].
    pub fn sample(&self, sample: Sample) {
        let mut state = self.lock();
        let state = &mut *state;
        state.counts.done += 1;
        state.reached = state.reached.max(nanoseconds(sample.end));
        let Some(place) = state.place(&sample.name) else { return };
        let ended = match &sample.outcome {
            SampleOutcome::Ok => Ended::Ok,
            SampleOutcome::Failed(reason) => Ended::Failed(state.reason(reason)),
            SampleOutcome::Unfinished => Ended::Unfinished,
        };
        state.make_room(Series::bytes_of(sample.phases.len()), self.limits.bytes);
        let series = &mut state.series[place];
        let before = series.bytes();
        let duration = sample.end.saturating_sub(sample.start);
        let phases = sample.phases.iter().map(|(name, time)| (name.id, nanoseconds(*time)));
        let (start, duration) = (nanoseconds(sample.start), nanoseconds(duration));
        let turned = series.add(start, duration, ended, phases, self.limits.samples, &mut state.budget);
        state.bytes = (state.bytes + series.bytes()).saturating_sub(before);
        if turned {
            let (name, kept) = (series.name.to_string(), self.limits.samples as u64);
            state.warn(&Warning::HistogramKept { name, kept });
        }
    }

    /// Adds to a counter. An error when it is one more than [`COUNTERS`].
    pub fn count(&self, counter: &str, amount: u64) -> Result<(), TooMany> {
        let mut state = self.lock();
        if let Some(total) = state.counters.get_mut(counter) {
            *total = total.saturating_add(amount);
            return Ok(());
        }
        if state.counters.len() >= COUNTERS {
            return Err(TooMany { what: "counters", allowed: COUNTERS, name: counter.to_owned() });
        }
        state.counters.insert(counter.to_owned(), amount);
        Ok(())
    }

    /// Keeps a line, a kilobyte of it at most, if it is among the first thousand.
    pub fn note(&self, mut text: String) {
        text.truncate(cut(&text, TEXT_BYTES).len());
        let mut state = self.lock();
        if state.notes.len() < NOTES {
            state.notes.push(text);
        } else {
            state.omitted.notes += 1;
        }
    }

    /// The policy refused something that this rule would allow. True the first time, for saying so once.
    pub fn denied(&self, rule: String) -> bool {
        let mut state = self.lock();
        if let Some(count) = state.denials.get_mut(&rule) {
            *count += 1;
            return false;
        }
        if state.denials.len() >= DENIALS {
            state.omitted.denials += 1;
            return false;
        }
        state.denials.insert(rule, 1).is_none()
    }

    /// Keeps a warning, once.
    pub fn warn(&self, warning: Warning) {
        self.lock().warn(&warning);
    }

    /// Keeps what measuring costs.
    pub fn calibrated(&self, calibration: Calibration) {
        self.lock().calibration = Some(calibration);
    }

    /// How many samples there are, for progress.
    pub fn sample_counts(&self) -> SampleCounts {
        self.lock().counts
    }

    /// The report of the run, which is over.
    pub fn finish(&self, outcome: Outcome, duration: Duration) -> Report {
        let state = self.lock();
        let mut parts = Parts::new(self.header.clone());
        for series in &state.series {
            parts.samples.extend(series.samples(0, usize::MAX, &state.names, &state.reasons));
            parts.histograms.extend(series.histogram(&state.names, &state.reasons));
            if series.uncounted() {
                let (name, allowed) = (series.name.to_string(), self.limits.phase_histograms);
                parts.late_warnings.push(Warning::PhasesUncounted { name, allowed });
            }
        }
        if let SampleCounts { done: made, expected: Some(announced) } = state.counts
            && announced != made
            && outcome.family == Family::Ok
        {
            parts.late_warnings.push(Warning::Announced { announced, made });
        }
        parts.connections = state.sockets.iter().map(|meter| Connection::of(meter)).collect();
        parts.lookups = state.lookups.clone();
        parts.throttle = self.throttle();
        parts.denials =
            state.denials.iter().map(|(rule, count)| Denial { rule: rule.clone(), count: *count }).collect();
        parts.counters = state.counters.clone();
        parts.notes = state.notes.clone();
        parts.calibration = state.calibration.clone();
        parts.omitted = state.omitted;
        parts.warnings = state.warnings.clone();
        drop(state);
        parts.report(outcome, nanoseconds(duration))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Whoever panicked while holding it left at worst half a sample behind, and a run is worth more than that.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log for Recorder {
    fn socket(&self, meter: Arc<Meter>) {
        let mut state = self.lock();
        if state.sockets.len() < CONNECTIONS {
            state.sockets.push(meter);
        } else {
            state.omitted.connections += 1;
        }
    }

    fn lookup(&self, lookup: metered::Lookup) {
        let mut state = self.lock();
        if state.lookups.len() < CONNECTIONS {
            state.lookups.push(lookup.into());
        } else {
            state.omitted.lookups += 1;
        }
    }

    fn wants_calls(&self) -> bool {
        self.options.trace.is_some()
    }

    fn call(&self, call: &metered::Call) {
        if let Some(trace) = &self.options.trace {
            trace.call(call);
        }
    }
}
