//! What is new in a recorder since somebody last looked, as lines.
//!
//! Things that happen once are one line each. Things that go on changing, such as an open connection, are written again
//! when they have changed, at intervals that grow with their age up to a bound: a line replaces the one before it of
//! the same thing. So a file of lines stays small through a long run, and a killed one lacks little.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wrun_net::metered::Meter;

use super::connections::{Connection, Lookup};
use super::data::{Calibration, Denial, Header, Omitted, SCHEMA, Sample, WarningNote};
use super::histogram::Histogram;
use super::recorder::Recorder;
use super::throttle::Throttle;

/// Samples that are copied while the recorder is held, so that the guest's thread waits for a fraction of a millisecond.
const AT_ONCE: usize = 500;

/// Looks between two lines of the same thing at most: half a minute at five looks a second.
const LONGEST_PAUSE: u64 = 150;

/// One line of a report that is being written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Line {
    /// The first line, and only the first.
    Header {
        schema: u32,
        header: Box<Header>,
        /// Rounds that were run before this one, and are in the finished report beside this file.
        #[serde(default)]
        after: u64,
    },
    Sample(Sample),
    /// Replaces the one of the same name before it, and that name's samples.
    Histogram(Histogram),
    /// Replaces the one of the same id.
    Connection(Box<Connection>),
    Lookup(Lookup),
    /// Replaces the one before it.
    Throttle(Box<Throttle>),
    /// Replaces the one of the same rule.
    Denial(Denial),
    /// Replaces the one of the same name.
    Counter {
        name: String,
        total: u64,
    },
    Note(String),
    Warning(WarningNote),
    Calibration(Calibration),
    /// Replaces the one before it.
    Omitted(Omitted),
    /// When the last sample ended. Replaces the one before it.
    Reached {
        at_ns: u64,
    },
}

/// How far somebody has looked.
#[derive(Default)]
pub(super) struct Cursor {
    /// Looks so far: the clock of the pauses.
    looks: u64,
    samples: Vec<usize>,
    histograms: Vec<Written<u64>>,
    sockets: usize,
    open: Vec<(Arc<Meter>, Written<Connection>)>,
    lookups: usize,
    notes: usize,
    warnings: usize,
    calibrated: bool,
    denials: BTreeMap<String, Written<u64>>,
    counters: BTreeMap<String, Written<u64>>,
    omitted: Written<Omitted>,
    throttle: Written<Throttle>,
    reached: Written<u64>,
}

/// The state of a thing as it was last written, and when.
#[derive(Clone)]
struct Written<T> {
    state: Option<T>,
    /// Looks, when it was first and last written.
    first: u64,
    last: u64,
}

impl<T> Default for Written<T> {
    fn default() -> Self {
        Self { state: None, first: 0, last: 0 }
    }
}

impl<T: PartialEq> Written<T> {
    /// Whether this state is to be written now. When it is, it counts as written.
    fn due(&mut self, state: T, now: u64, at_the_end: bool) -> bool {
        if self.state.as_ref() == Some(&state) {
            return false;
        }
        if self.state.is_none() {
            self.first = now;
        } else if !at_the_end && now - self.last < ((now - self.first) / 8).min(LONGEST_PAUSE) {
            return false;
        }
        self.state = Some(state);
        self.last = now;
        true
    }
}

impl Recorder {
    /// The line that a file of lines begins with, after so many rounds before.
    pub(super) fn first_line(&self, after: u64) -> Line {
        Line::Header { schema: SCHEMA, header: Box::new(self.header().clone()), after }
    }

    /// Hands on what is new since `cursor`; `at_the_end` without regard to pauses.
    pub(super) fn changes(&self, cursor: &mut Cursor, at_the_end: bool, hand_on: &mut dyn FnMut(Line)) {
        cursor.looks += 1;
        self.new_samples(cursor, at_the_end, hand_on);
        // Few and short, unlike samples: they can wait until the recorder is let go.
        let mut lines = Vec::new();
        let now = cursor.looks;
        self.new_facts(cursor, &mut lines, at_the_end);
        if let Some(throttle) = self.throttle()
            && cursor.throttle.due(throttle.clone(), now, at_the_end)
        {
            lines.push(Line::Throttle(Box::new(throttle)));
        }
        // The meters have locks of their own: they are read without holding the recorder.
        cursor.open.retain_mut(|(meter, written)| {
            let connection = Connection::of(meter);
            let over = connection.is_over();
            if written.due(connection.clone(), now, at_the_end || over) {
                lines.push(Line::Connection(Box::new(connection)));
            }
            !over
        });
        lines.into_iter().for_each(hand_on);
    }

    fn new_facts(&self, cursor: &mut Cursor, lines: &mut Vec<Line>, at_the_end: bool) {
        let state = self.lock();
        let now = cursor.looks;
        lines.extend(state.lookups[cursor.lookups..].iter().cloned().map(Line::Lookup));
        cursor.lookups = state.lookups.len();
        lines.extend(state.notes[cursor.notes..].iter().cloned().map(Line::Note));
        cursor.notes = state.notes.len();
        lines.extend(state.warnings[cursor.warnings..].iter().cloned().map(Line::Warning));
        cursor.warnings = state.warnings.len();
        if let (Some(calibration), false) = (&state.calibration, cursor.calibrated) {
            lines.push(Line::Calibration(calibration.clone()));
            cursor.calibrated = true;
        }
        for (rule, count) in due(&mut cursor.denials, &state.denials, now, at_the_end) {
            lines.push(Line::Denial(Denial { rule, count }));
        }
        for (name, total) in due(&mut cursor.counters, &state.counters, now, at_the_end) {
            lines.push(Line::Counter { name, total });
        }
        if state.omitted != Omitted::default() && cursor.omitted.due(state.omitted, now, at_the_end) {
            lines.push(Line::Omitted(state.omitted));
        }
        if state.reached > 0 && cursor.reached.due(state.reached, now, at_the_end) {
            lines.push(Line::Reached { at_ns: state.reached });
        }
        let new = state.sockets[cursor.sockets..].iter();
        cursor.open.extend(new.map(|meter| (meter.clone(), Written::default())));
        cursor.sockets = state.sockets.len();
    }

    fn new_samples(&self, cursor: &mut Cursor, at_the_end: bool, hand_on: &mut dyn FnMut(Line)) {
        let names = self.lock().series.len();
        cursor.samples.resize(names, 0);
        cursor.histograms.resize(names, Written::default());
        for (place, seen) in cursor.samples.iter_mut().enumerate() {
            loop {
                let state = self.lock();
                let series = &state.series[place];
                if series.kept().is_none() {
                    if cursor.histograms[place].due(series.made(), cursor.looks, at_the_end) {
                        let histogram = series.histogram(&state.names, &state.reasons);
                        drop(state);
                        histogram.map(Line::Histogram).into_iter().for_each(&mut *hand_on);
                    }
                    break;
                }
                let samples = series.samples(*seen, AT_ONCE, &state.names, &state.reasons);
                drop(state);
                let some = samples.len();
                *seen += some;
                samples.into_iter().map(Line::Sample).for_each(&mut *hand_on);
                if some < AT_ONCE {
                    break;
                }
            }
        }
    }
}

/// The entries that are to be written now.
fn due(
    written: &mut BTreeMap<String, Written<u64>>,
    values: &BTreeMap<String, u64>,
    now: u64,
    at_the_end: bool,
) -> Vec<(String, u64)> {
    let mut due = Vec::new();
    for (key, value) in values {
        let entry = match written.get_mut(key) {
            Some(entry) => entry,
            None => written.entry(key.clone()).or_default(),
        };
        if entry.due(*value, now, at_the_end) {
            due.push((key.clone(), *value));
        }
    }
    due
}
