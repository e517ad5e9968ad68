//! What is done with runs that are compared, whether from files or just made: the comparison, its chart, its exit code.

use std::path::Path;

use anyhow::Result;

use super::data::{Comparison, Verdict};
use super::{Options, Run, compare, facts, output};
use crate::cli::{self, Judging};
use crate::report::Report;
use crate::report::read::read;
use crate::{chart, exit};

/// `wrun compare`.
pub fn run(asked: &cli::Compare) -> Result<u8> {
    let paths: Vec<&Path> = std::iter::once(&asked.base).chain(&asked.others).map(|path| path.as_path()).collect();
    let reports = paths.iter().map(|path| Ok(read(path)?)).collect::<Result<Vec<Report>>>()?;
    let labels = facts::labels(&paths.iter().copied().zip(&reports).collect::<Vec<_>>());
    let runs: Vec<Run> = labels.into_iter().zip(reports).map(|(label, report)| Run { label, report }).collect();
    let concluded = conclude(&runs, &asked.judging, asked.force)?;
    crate::print(&concluded.words)?;
    Ok(concluded.code)
}

/// What comes of a comparison.
pub struct Concluded {
    /// In the format that was asked for.
    pub words: String,
    pub code: u8,
}

/// Compares, and draws the chart if one is asked for.
pub fn conclude(runs: &[Run], judging: &Judging, force: bool) -> Result<Concluded> {
    let options =
        Options { threshold: judging.threshold, force, fail_if: judging.fail_if.clone(), ..Options::default() };
    let comparison = compare(runs, &options)?;
    if let Some(path) = &judging.chart {
        let drawn: Vec<_> = runs.iter().map(|Run { label, report }| chart::Run { label, report }).collect();
        chart::write(path, &drawn)?;
    }
    Ok(Concluded { words: output::render(&comparison, judging.format), code: code(&comparison) })
}

/// A condition that fails a build comes first; then that there was nothing to compare.
fn code(comparison: &Comparison) -> u8 {
    if comparison.conditions.iter().any(|condition| condition.result.fails()) {
        exit::FAILED
    } else if comparison.against_base.iter().any(|against| against.verdict == Verdict::NotComparable) {
        exit::USAGE
    } else {
        exit::OK
    }
}
