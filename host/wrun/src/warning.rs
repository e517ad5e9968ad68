//! Every warning of wrun: what makes the figures of a run less than they seem, or deserves a look.
//!
//! A warning never changes the exit code. It is in the report and, as text, on the standard error stream.

use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// The recorder says so as a run starts.
    #[error(
        "this is a debug build of wrun, its own costs are many times those of a release: build with --release to measure"
    )]
    DebugBuild,
    /// A name had more samples than are kept one by one.
    #[error(
        "{name} has more than {kept} samples: they were counted in a histogram, exact to 0.1 %, and not kept one by one"
    )]
    HistogramKept { name: String, kept: u64 },
    /// All names together had more samples than fit in memory.
    #[error(
        "the samples of all names were too many to keep: those of {name} were counted in a histogram, exact to 0.1 %; making it \
         held the guest up for a moment, which may show as one slow sample"
    )]
    HistogramForced { name: String },
    /// Phases of counted samples were more than there are histograms.
    #[error("{name} has phases that could not be counted: a run has at most {allowed} histograms of phases")]
    PhasesUncounted { name: String, allowed: usize },
    /// A guest named more phases than are told apart.
    #[error("the guest named more than {allowed} phases: the rest are reported as one, named (other)")]
    PhasesFolded { allowed: usize },
    /// A guest had more different error messages than are kept.
    #[error("the guest's samples failed in more than {allowed} different words: the rest are reported without theirs")]
    ReasonsFolded { allowed: usize },
    #[error("{omitted} more sockets were opened than the {kept} that a report keeps")]
    ConnectionsOmitted { kept: u64, omitted: u64 },
    #[error("{omitted} more names were looked up than the {kept} that a report keeps")]
    LookupsOmitted { kept: u64, omitted: u64 },
    #[error("the guest wrote {omitted} more notes than the {kept} that a report keeps")]
    NotesOmitted { kept: u64, omitted: u64 },
    #[error("{omitted} more calls were denied, by more rules than the {kept} that a report keeps")]
    DenialsOmitted { kept: u64, omitted: u64 },
    /// The guest ended well, but not after what it had announced.
    #[error("the guest announced {announced} samples and made {made}")]
    Announced { announced: u64, made: u64 },
    #[error("what the guest had sent last was still on its way when the run was ended, and was thrown away")]
    Cut,
    /// A report was put together from the lines of a run that was killed.
    #[error("wrun was killed, or is still running: this is what it had written to {}", path.display())]
    Partial { path: PathBuf },
    /// There is a finished report too, of a run before.
    #[error("{} itself is the report of an earlier run: remove {}.partial to see that one", path.display(), path.display())]
    Earlier { path: PathBuf },
    #[error("{count} damaged lines were skipped, the first is line {first}")]
    LinesSkipped { count: u64, first: u64 },
}

impl Warning {
    /// Its name for programs. Stable.
    pub fn code(&self) -> &'static str {
        match self {
            Self::DebugBuild => "debug-build",
            Self::HistogramKept { .. } => "histogram-kept",
            Self::HistogramForced { .. } => "histogram-forced",
            Self::PhasesUncounted { .. } => "phases-uncounted",
            Self::PhasesFolded { .. } => "phases-folded",
            Self::ReasonsFolded { .. } => "reasons-folded",
            Self::ConnectionsOmitted { .. } => "connections-omitted",
            Self::LookupsOmitted { .. } => "lookups-omitted",
            Self::NotesOmitted { .. } => "notes-omitted",
            Self::DenialsOmitted { .. } => "denials-omitted",
            Self::Announced { .. } => "announced",
            Self::Cut => "cut",
            Self::Partial { .. } => "partial",
            Self::Earlier { .. } => "earlier",
            Self::LinesSkipped { .. } => "lines-skipped",
        }
    }
}
