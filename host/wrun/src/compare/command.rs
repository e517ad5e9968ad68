//! `wrun compare`: reads the reports, compares them, prints what came of it, and answers with the exit code.

use std::path::Path;

use anyhow::{Result, ensure};

use super::data::{Comparison, Condition, ConditionResult, Verdict};
use super::{Options, Run, compare, facts, output};
use crate::cli;
use crate::exit;
use crate::report::Report;
use crate::report::read::read;
use crate::report::words::printable;

pub fn run(asked: &cli::Compare) -> Result<u8> {
    ensure!(asked.chart.is_none(), "--chart cannot be drawn by this wrun: leave it out");
    let paths: Vec<&Path> = std::iter::once(&asked.base).chain(&asked.others).map(|path| path.as_path()).collect();
    let reports = paths.iter().map(|path| Ok(read(path)?)).collect::<Result<Vec<Report>>>()?;
    let labels = facts::labels(&paths.iter().copied().zip(&reports).collect::<Vec<_>>());
    let runs: Vec<Run> = labels.into_iter().zip(reports).map(|(label, report)| Run { label, report }).collect();
    let options = Options {
        threshold: asked.threshold,
        force: asked.force,
        fail_if: asked.fail_if.clone(),
        ..Options::default()
    };
    let comparison = compare(&runs, &options)?;
    crate::print(&output::render(&comparison, asked.format))?;
    if asked.format != cli::Format::Text {
        crate::say(&aloud(&comparison));
    }
    Ok(code(&comparison))
}

/// What a person should hear of even where the form that was asked for is for programs, or has no place for it.
fn aloud(comparison: &Comparison) -> String {
    let verdicts = comparison.against_base.iter().filter(|against| against.verdict == Verdict::NotComparable);
    let verdicts = verdicts.map(|against| format!("{}: {}: {}", against.label, against.verdict.word(), against.words));
    let conditions = comparison.conditions.iter().filter(|condition| condition.result != ConditionResult::Passed);
    let conditions = conditions.map(|condition| {
        let Condition { expression, label, result, words } = condition;
        format!("--fail-if '{expression}', {label}: {}: {words}", result.word())
    });
    verdicts.chain(conditions).map(|words| format!("wrun: {}\n", printable(&words))).collect()
}

/// A condition that fails a build comes first; then that there was nothing to compare.
pub fn code(comparison: &Comparison) -> u8 {
    if comparison.conditions.iter().any(|condition| condition.result.fails()) {
        exit::FAILED
    } else if comparison.against_base.iter().any(|against| against.verdict == Verdict::NotComparable) {
        exit::USAGE
    } else {
        exit::OK
    }
}
