//! What is done with runs that are compared, whether from files or just made: the comparison, its chart, its exit code.

use std::path::Path;

use anyhow::Result;

use super::data::{Comparison, Condition, ConditionResult, Verdict};
use super::{Options, Run, THRESHOLD, compare, facts, output};
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
    if asked.quiet {
        crate::say(&concluded.failing());
    } else {
        crate::print(&concluded.words(asked.judging.format))?;
        crate::say(&concluded.aloud(asked.judging.format));
    }
    Ok(concluded.code())
}

/// Compares, and draws the chart if one is asked for. Without `force` what is not comparable is refused with words that offer
/// `--force`: where there is no such option, as for the runs of one command, it is true.
pub fn conclude(runs: &[Run], judging: &Judging, force: bool) -> Result<Concluded> {
    let threshold = judging.threshold.unwrap_or(THRESHOLD);
    let options = Options { threshold, force, fail_if: judging.fail_if.clone(), ..Options::default() };
    let comparison = compare(runs, &options)?;
    if let Some(path) = &judging.chart {
        // Called as in the words, where no two are called alike.
        let labelled = comparison.runs.iter().zip(runs);
        let drawn: Vec<_> =
            labelled.map(|(facts, run)| chart::Run { label: &facts.label, report: &run.report }).collect();
        chart::write(path, &drawn)?;
    }
    Ok(Concluded(comparison))
}

/// A comparison, and what there is to say of it.
pub struct Concluded(Comparison);

impl Concluded {
    /// All of it, in a form.
    pub fn words(&self, format: Format) -> String {
        output::render(&self.0, format)
    }

    /// What came of the conditions alone, for people.
    pub fn conditions(&self) -> String {
        output::conditions(&self.0)
    }

    /// What a form for programs has no place for, or nobody reads there; a line each. Nothing of the text, which has it.
    pub fn aloud(&self, format: Format) -> String {
        let told = |result| result != ConditionResult::Passed;
        if format == Format::Text { String::new() } else { self.lines(told) }
    }

    /// What makes the exit code another than 0, a line each.
    pub fn failing(&self) -> String {
        self.lines(ConditionResult::fails)
    }

    /// Runs that are not comparable, and the conditions that are to be told.
    fn lines(&self, told: fn(ConditionResult) -> bool) -> String {
        let verdicts = self.0.against_base.iter().filter(|against| against.verdict == Verdict::NotComparable);
        let verdicts =
            verdicts.map(|against| format!("{}: {}: {}", against.label, against.verdict.word(), against.words));
        let conditions = self.0.conditions.iter().filter(|condition| told(condition.result));
        let conditions = conditions.map(|condition| {
            let Condition { expression, label, result, words } = condition;
            format!("--fail-if '{expression}', {label}: {}: {words}", result.word())
        });
        verdicts.chain(conditions).map(|words| format!("wrun: {}\n", printable(&words))).collect()
    }

    /// A condition that fails a build comes first; then that there was nothing to compare.
    pub fn code(&self) -> u8 {
        if self.0.conditions.iter().any(|condition| condition.result.fails()) {
            exit::FAILED
        } else if self.0.against_base.iter().any(|against| against.verdict == Verdict::NotComparable) {
            exit::USAGE
        } else {
            exit::OK
        }
    }
}
