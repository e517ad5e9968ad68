//! The report of a run: its data, how it is kept while a run goes on, written, read and shown.
//!
//! - Data, a promise to strangers: [`data`], [`connections`], [`statistics`], [`histogram`], described by
//!   `report.schema.json`.
//! - A run as it goes: [`Recorder`] is told what happens, [`live`] writes it down line by line.
//! - A finished one: [`json`] writes it, [`read`] reads it again, [`text`] is what a person looks at.
//! - Arithmetic: [`stats`].
//!
//! What is left out: what is measured and when, which is the business of the sockets and of the guest's calls.

mod changes;
pub mod connections;
pub mod data;
#[cfg(test)]
pub(crate) mod fixture;
pub mod histogram;
pub mod json;
pub mod live;
pub mod machine;
mod names;
mod parts;
pub mod read;
mod recorder;
#[cfg(test)]
mod schema;
mod series;
mod state;
pub mod statistics;
pub mod stats;
#[cfg(test)]
mod tests;
pub mod text;
pub mod words;

pub use data::{Header, Report};
pub use names::Name;
pub use recorder::{COUNTERS, Recorder, RecorderOptions, SAMPLE_NAMES, Sample, SampleCounts, SampleOutcome, TooMany};
