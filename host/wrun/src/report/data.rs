//! The report: what a run was, and what came of it.
//!
//! A promise to strangers: it is written as JSON, described by `report.schema.json` and read again by later versions of
//! wrun. Times are in nanoseconds (`_ns`), points in time since the run began, sizes in bytes (`_bytes`). What was
//! not there is null, never left out. A change that an old reader would misread raises [`SCHEMA`].
//!
//! What happened on sockets is in [`super::connections`], what samples add up to in [`super::statistics`]; how a report
//! comes to be is the business of [`super::recorder`], how it looks of [`super::text`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::connections::{Connection, Lookup};
use super::histogram::Histogram;
use super::statistics::Statistics;
use super::throttle::Throttle;
use super::words::Words;
use crate::warning::Warning;

/// The version of the format that this wrun writes, and the newest it reads.
///
/// Version 2 added `rounds` and `throttle`; a report of version 1 reads as one run without impairment.
pub const SCHEMA: u32 = 2;

/// A run of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Version of this format.
    pub schema: u32,
    /// What was run, where and how: known before the guest starts.
    pub header: Header,
    /// Runs that are put together in this report, one after another; 0 is never written.
    #[serde(default = "one")]
    pub rounds: u64,
    /// How long the run took, from the start of its clock to the end of the guest.
    pub duration_ns: u64,
    /// Whether the workload came to an end of its own. When not, there may have been more to measure.
    pub complete: bool,
    /// How the run ended.
    pub outcome: Outcome,
    /// What the samples add up to, one entry a name.
    pub statistics: Vec<Statistics>,
    /// The workload's samples, in the order of their starts, but for names that are in `histograms`.
    pub samples: Vec<Sample>,
    /// Samples of names that had too many to keep each one.
    pub histograms: Vec<Histogram>,
    /// The sockets, in the order of their making.
    pub connections: Vec<Connection>,
    /// The name lookups, in the order of their ends.
    pub lookups: Vec<Lookup>,
    /// What the sockets were impaired with, where they were.
    #[serde(default)]
    pub throttle: Option<Throttle>,
    /// What the run was refused by its policy, in the order of the rules.
    pub denials: Vec<Denial>,
    /// The workload's own counters.
    pub counters: BTreeMap<String, u64>,
    /// The workload's own lines.
    pub notes: Vec<String>,
    /// What measuring itself costs, where that was measured. It is subtracted from nothing.
    pub calibration: Option<Calibration>,
    /// How many of a kind were more than a report keeps.
    pub omitted: Omitted,
    /// What makes these figures less than they seem.
    pub warnings: Vec<WarningNote>,
}

/// What a report has of what it does not name.
fn one() -> u64 {
    1
}

/// What was run, where and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    pub wrun: Build,
    pub guest: Guest,
    /// The guest's arguments, without its name.
    pub arguments: Vec<String>,
    pub backend: Backend,
    /// The rules that allowed something, as they were written.
    pub allowed: Vec<String>,
    /// The seed of every random number, where any was used.
    pub seed: Option<u64>,
    pub machine: Machine,
    /// When the run began, by the machine's clock, as in RFC 3339.
    pub start: String,
}

/// Which wrun it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Build {
    pub version: String,
    pub profile: Profile,
}

impl Build {
    /// The one that is running.
    pub fn this() -> Self {
        let profile = if cfg!(debug_assertions) { Profile::Debug } else { Profile::Release };
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), profile }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Built without optimisation: its own costs are many times those of a release.
    Debug,
    Release,
}

/// The workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guest {
    /// The name of its file, without folders.
    pub name: String,
    /// Of its file, in hexadecimal digits.
    pub sha256: String,
    /// The size of its file.
    pub bytes: u64,
}

/// Whose sockets they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Backend {
    /// With its wrappers, innermost first, as the user writes it.
    pub name: String,
    /// The settings in effect, the defaults included.
    pub settings: BTreeMap<String, String>,
    pub capabilities: Capabilities,
}

/// What those sockets can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capabilities {
    pub ipv6: bool,
    pub multicast: bool,
    pub broadcast: bool,
    /// The socket options they have, such as `no-delay`.
    pub options: Vec<String>,
}

/// Where wrun itself ran. No name and no address: a report may be shown to strangers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// As in `linux`.
    pub os: String,
    /// The release of its kernel.
    pub kernel: String,
    /// As in `x86_64`.
    pub arch: String,
    /// Cores that are switched on.
    pub cores: u32,
    /// The cores wrun was pinned to, null when it may run on all.
    pub pinned: Option<Vec<u32>>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    pub family: Family,
    /// The exit code of wrun; null when it was killed and had none.
    pub code: Option<u8>,
    /// For a person.
    pub words: String,
    /// Where the guest was, a frame a line, innermost first, if it trapped.
    pub backtrace: Vec<String>,
}

/// Whose doing the end was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// The guest ended well.
    Ok,
    /// The user asked for something impossible.
    Usage,
    /// The guest failed or trapped.
    Guest,
    /// The guest reached a limit of the run, such as its time.
    Limit,
    /// What stands between wrun and the sockets broke.
    Rig,
    /// A signal ended the run.
    Interrupted,
}

impl Family {
    /// Whether the workload came to an end of its own.
    pub fn completes(self) -> bool {
        matches!(self, Self::Ok | Self::Usage | Self::Guest)
    }
}

/// One measured piece of the workload's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    pub name: Words,
    pub start_ns: u64,
    pub duration_ns: u64,
    /// In the order in which they were entered. Time before the first belongs to none.
    pub phases: Vec<Phase>,
    /// Why it failed, in the workload's words.
    pub error: Option<Words>,
    /// False when the workload dropped it, or the run ended, before its end: it is in no statistic.
    pub finished: bool,
}

/// A part of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    pub name: Words,
    pub duration_ns: u64,
}

/// What the policy refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Denial {
    /// The rule that would allow it.
    pub rule: String,
    /// How often it was refused.
    pub count: u64,
}

/// What measuring itself costs, as medians.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// One call from the guest into wrun and back.
    pub crossing_ns: u64,
    /// Noting one call of a socket.
    pub metering_ns: u64,
    /// How many of each were timed.
    pub rounds: u64,
}

/// How many of a kind were more than a report keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Omitted {
    pub connections: u64,
    pub lookups: u64,
    pub notes: u64,
    /// Refusals whose rules were more than a report keeps.
    pub denials: u64,
}

/// A warning as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarningNote {
    /// Stable, for programs.
    pub code: String,
    /// For a person.
    pub words: String,
}

impl From<&Warning> for WarningNote {
    fn from(warning: &Warning) -> Self {
        Self { code: warning.code().to_owned(), words: warning.to_string() }
    }
}
