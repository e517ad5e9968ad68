//! A comparison as data: what came of holding runs against the first of them.
//!
//! A promise to strangers, written as JSON and described by `compare.schema.json`, in the manner of
//! [`crate::report::data`]: times are in nanoseconds (`_ns`), what is not known is null. No number is ever NaN or infinite:
//! [`Number`] sees to it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::why::Shape;
use crate::report::data::Guest;
use crate::report::histogram::Reason;
use crate::report::words::Words;

/// The version of the format.
pub const SCHEMA: u32 = 1;

/// Runs, held against the first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Version of this format.
    pub schema: u32,
    /// Of the random numbers that intervals of ratios are drawn with.
    pub seed: u64,
    /// The smallest change of a median that counts.
    pub threshold_percent: Number,
    /// The runs in the order they were given; the first is the base.
    pub runs: Vec<RunFacts>,
    /// Every name that any run has samples of, in the order of their first appearance.
    pub samples: Vec<Compared>,
    /// What was found of each run but the base, in their order.
    pub against_base: Vec<Against>,
    /// What came of each condition, for each run but the base, or for the only one.
    pub conditions: Vec<Condition>,
}

/// What a run was.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunFacts {
    /// What it is called in this comparison. No two are called alike.
    pub label: String,
    pub guest: Guest,
    pub arguments: Vec<String>,
    pub backend: String,
    pub settings: BTreeMap<String, String>,
    /// Of the profile's random numbers; of several rounds that of the first. Null where there are none.
    pub seed: Option<u64>,
    /// False of a run that was killed or interrupted: there may have been more to measure.
    pub complete: bool,
    pub outcome: String,
    pub warnings: Vec<String>,
}

/// The samples of one name, in every run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    pub name: Words,
    /// One for each run.
    pub runs: Vec<OfRun>,
    pub phases: Vec<ComparedPhase>,
    /// One for each run but the base.
    pub verdicts: Vec<Judgement>,
}

/// The samples of one name in one run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OfRun {
    pub errors: u64,
    pub unfinished: u64,
    /// The commonest reasons of the errors.
    pub reasons: Vec<Reason>,
    /// Of the samples that ended well.
    pub figures: Figures,
}

/// One phase, in every run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparedPhase {
    pub name: Words,
    /// One for each run.
    pub runs: Vec<Figures>,
}

/// Some durations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Figures {
    pub n: u64,
    /// Whether they are from a histogram, exact to a thousandth.
    pub counted: bool,
    /// Null of none.
    pub times: Option<Times>,
    /// Two or more where the durations fall apart into so many groups; else empty. Needs 15 samples.
    pub modes: Vec<Mode>,
    /// Null of the base, and where either has none.
    pub to_base: Option<ToBase>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Times {
    pub min_ns: u64,
    pub median_ns: u64,
    /// Where the true median lies with 95 %, by the order statistics. Null with fewer than 6 samples.
    pub median_interval_ns: Option<Range>,
    /// Null with fewer than 20 samples.
    pub p95_ns: Option<u64>,
    /// Null with fewer than 100 samples.
    pub p99_ns: Option<u64>,
    pub max_ns: u64,
    pub mean_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Range {
    pub low_ns: u64,
    pub high_ns: u64,
}

/// A group of durations that lie apart from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Mode {
    /// Of an even number the lower of the two in the middle, so that it is one that occurred.
    pub median_ns: u64,
    pub min_ns: u64,
    pub max_ns: u64,
    pub count: u64,
}

/// Durations beside those of the base.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ToBase {
    /// Of the medians. Null where the base's is zero.
    pub ratio: Option<Number>,
    /// Where the true ratio lies with 95 %. Null with fewer than 6 samples on either side.
    pub interval: Option<Interval>,
    /// Of Mann and Whitney's test, two-sided. Null with fewer than 4 samples on either side.
    pub p: Option<Number>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    pub low: Number,
    pub high: Number,
}

/// A verdict on one name in one run, and what speaks for it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Judgement {
    pub verdict: Verdict,
    /// The verdict as a sentence.
    pub words: String,
    /// How likely chance alone would make two runs that are alike look so: of the test that the verdict is by. Null of none.
    pub p: Option<Number>,
    /// What wrun itself takes of a sample, by the overhead it measured: no smaller difference of the medians is told.
    pub resolution_ns: u64,
    /// Which phases carry the difference, the greatest part first.
    pub places: Vec<Place>,
    /// What the durations look like.
    pub shapes: Vec<Shape>,
}

/// In the order in which they are told: the first of these that any name has is the run's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Another guest, other arguments, or names that only one run has.
    NotComparable,
    /// More of the samples end in an error than in the base.
    Failing,
    Slower,
    /// There may be a difference; these samples do not tell.
    Inconclusive,
    /// Fewer samples than a verdict needs.
    TooFew,
    Faster,
    /// Any difference is within the threshold, or less than wrun itself takes.
    Same,
}

/// The part of a phase in the difference of the means.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Place {
    /// Null of the time that belongs to no phase.
    pub phase: Option<Words>,
    /// Negative where the phase changed the other way; others then may have more than 100.
    pub percent: Number,
    /// Of the time a sample spends there on average.
    pub base_mean_ns: u64,
    pub mean_ns: u64,
}

/// What was found of one run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Against {
    pub label: String,
    pub verdict: Verdict,
    pub words: String,
    /// What the two runs differ in beside their figures.
    pub differences: Vec<Difference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// As in `guest` or `arguments`.
    pub what: String,
    pub base: String,
    pub other: String,
    /// Whether it makes them not comparable.
    pub decisive: bool,
}

/// A `--fail-if`, for one run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Condition {
    /// As it was written.
    pub expression: String,
    pub label: String,
    pub result: ConditionResult,
    pub words: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConditionResult {
    /// What was not to be is not.
    Passed,
    /// It is, and the interval is clear of the limit.
    Failed,
    /// It is, as far as was measured, but its interval holds the limit; or it hangs on samples that never finished.
    Inconclusive,
    /// There are no samples, or fewer than the figure needs: it counts as failed.
    TooFew,
    /// It asks for a multiple of a base that is not comparable.
    NotComparable,
}

impl ConditionResult {
    /// Whether a build is to fail.
    pub fn fails(self) -> bool {
        matches!(self, Self::Failed | Self::TooFew)
    }
}

/// A finite number; in JSON with six significant digits.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Number(f64);

impl Number {
    pub const ZERO: Self = Self(0.0);

    /// `None` of what is not finite.
    pub fn new(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self(value))
    }

    pub fn get(self) -> f64 {
        self.0
    }

    /// With six significant digits: those beyond are of the machine's logarithms.
    pub fn rounded(self) -> f64 {
        format!("{:.5e}", self.0).parse().unwrap_or(self.0)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.rounded())
    }
}

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        f64::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        f64::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}
