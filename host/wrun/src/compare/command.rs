//! What is done with runs that are compared, whether from files or just made: the comparison, its chart, its exit code.

use std::path::Path;

use anyhow::Result;

use super::data::{Comparison, Condition, ConditionResult, Verdict};
use super::{Options, Run, compare, facts, output};
use crate::cli::{self, Format, Judging};
use crate::report::Report;
use crate::report::read::read;
use crate::report::words::printable;
use crate::{chart, exit};

/// `wrun compare`.
pub fn run(asked: &cli::Compare) -> Result<u8> {
    let paths: Vec<&Path> = std::iter::once(&asked.base).chain(&asked.others).map(|path| path.as_path()).collect();
    let reports = paths.iter().map(|path| Ok(read(path)?)).collect::<Result<Vec<Report>>>()?;
    let labels = facts::labels(&paths.iter().copied().zip(&reports).collect::<Vec<_>>());
    let runs: Vec<Run> = labels.into_iter().zip(reports).map(|(label, report)| Run { label, report }).collect();
    let concluded = conclude(&runs, &asked.judging, asked.force)?;
    crate::print(&concluded.words)?;
    crate::say(&concluded.aloud);
    Ok(concluded.code)
}

/// What comes of a comparison.
pub struct Concluded {
    /// In the format that was asked for.
    pub words: String,
    /// What a person should hear of even where that format is for programs.
    pub aloud: String,
    pub code: u8,
}

/// Compares, and draws the chart if one is asked for. Without `force` what is not comparable is refused with words that offer
/// `--force`: where there is no such option, as for the runs of one command, it is true.
pub fn conclude(runs: &[Run], judging: &Judging, force: bool) -> Result<Concluded> {
    let options =
        Options { threshold: judging.threshold, force, fail_if: judging.fail_if.clone(), ..Options::default() };
    let comparison = compare(runs, &options)?;
    if let Some(path) = &judging.chart {
        // Called as in the words, where no two are called alike.
        let labelled = comparison.runs.iter().zip(runs);
        let drawn: Vec<_> =
            labelled.map(|(facts, run)| chart::Run { label: &facts.label, report: &run.report }).collect();
        chart::write(path, &drawn)?;
    }
    let aloud = if judging.format == Format::Text { String::new() } else { aloud(&comparison) };
    Ok(Concluded { words: output::render(&comparison, judging.format), aloud, code: code(&comparison) })
}

/// What a form for programs has no place for, or nobody reads there.
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
fn code(comparison: &Comparison) -> u8 {
    if comparison.conditions.iter().any(|condition| condition.result.fails()) {
        exit::FAILED
    } else if comparison.against_base.iter().any(|against| against.verdict == Verdict::NotComparable) {
        exit::USAGE
    } else {
        exit::OK
    }
}
