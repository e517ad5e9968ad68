//! Why a run is slower, as far as its report shows: shapes that durations take when something known goes on.
//!
//! Each shape is a file with one function, which looks at the samples of one name in a run that is suspected and in the
//! one it is held against, and answers with a sentence and the lines that speak for it, or with nothing. None is sure: the sentence
//! says what the durations look like. A shape that the other run has as well explains no difference, and is not told.
//!
//! To add one: a file here, a variant of [`Kind`], a line in [`ALL`], a sample of it and a plain one in its tests.

mod bimodal;
mod clock;
mod close;
mod connect;
mod delayed;
mod distance;
mod lookup;
mod queue;
mod rate;
mod refused;
mod side;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Serialize;

pub use side::Side;

/// A shape that was recognised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Shape {
    pub kind: Kind,
    /// The run that has it.
    pub label: String,
    pub words: String,
    /// What speaks for it, a line each.
    pub evidence: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Waits of 40 or 200 ms, as long as stacks keep an acknowledgement back.
    DelayedAcknowledgement,
    /// Connects of 1, 3, 7 s: the first segments were lost.
    ConnectRetries,
    /// Sends that find no room and all wait equally long.
    SendQueue,
    /// Closing takes long.
    LingeringClose,
    /// Durations are multiples of a tick.
    CoarseClock,
    /// Looking up names takes long, or fails.
    NameLookup,
    /// So many bytes a second, and no more.
    RateLimit,
    /// A phase has several modes.
    BimodalPhase,
    /// Connecting and waiting for an answer take longer by the same time.
    LongerPath,
    /// Options of sockets are not supported.
    RefusedOptions,
}

/// What a recogniser found: its sentence and its evidence.
struct Found {
    words: String,
    evidence: Vec<String>,
}

type Recogniser = fn(&Side<'_>, &Side<'_>) -> Option<Found>;

const ALL: [(Kind, Recogniser); 10] = [
    (Kind::BimodalPhase, bimodal::recognise),
    (Kind::LongerPath, distance::recognise),
    (Kind::DelayedAcknowledgement, delayed::recognise),
    (Kind::ConnectRetries, connect::recognise),
    (Kind::SendQueue, queue::recognise),
    (Kind::LingeringClose, close::recognise),
    (Kind::NameLookup, lookup::recognise),
    (Kind::RateLimit, rate::recognise),
    (Kind::CoarseClock, clock::recognise),
    (Kind::RefusedOptions, refused::recognise),
];

/// Every shape that `suspect` has and `other` has not.
pub fn shapes(suspect: &Side<'_>, other: &Side<'_>) -> Vec<Shape> {
    let shape = |(kind, recognise): &(Kind, Recogniser)| {
        let Found { words, evidence } = recognise(suspect, other)?;
        Some(Shape { kind: *kind, label: suspect.label.to_owned(), words, evidence })
    };
    ALL.iter().filter_map(shape).collect()
}
