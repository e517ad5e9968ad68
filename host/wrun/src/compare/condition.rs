//! Whether the conditions of `--fail-if` hold, for each run but the base; of a run that is alone, for itself.
//!
//! Here is which samples a condition is about, and for which runs it is asked; whether it holds is [`super::held`]'s.

use std::collections::HashSet;

use super::data::{Condition, ConditionResult};
use super::expression::{Expression, Metric, Value};
use super::gather::Named;
use super::held::Held;
use super::{Gathered, Options, names};
use crate::near::nearest;
use crate::report::Report;
use crate::report::words::Words;

/// Names that a refusal lists.
const LISTED: usize = 20;

/// A condition that cannot be asked of these runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--fail-if '{expression}': {problem}")]
pub struct Refused {
    pub expression: String,
    pub problem: String,
}

/// Whether every condition names something that a run which ended well has: where it has not, neither will the same guest's
/// next runs, and nobody need wait for them.
pub fn named(report: &Report, conditions: &[Expression]) -> Result<(), Refused> {
    let run = [Gathered::new(report)];
    conditions.iter().try_for_each(|expression| Target::find(expression, &run).map(drop))
}

/// Judges every condition for every run but the base, or for the only one. `comparable` has one entry for each run but the
/// base.
pub(super) fn judge(
    runs: &[Gathered<'_>],
    labels: &[String],
    comparable: &[bool],
    options: &Options,
) -> Result<Vec<Condition>, Refused> {
    let mut conditions = Vec::new();
    let alone = runs.len() == 1;
    for expression in &options.fail_if {
        let target = Target::find(expression, runs)?;
        let relative = matches!(expression.value, Value::Ratio(_));
        if relative && alone {
            let problem = "a multiple is of the base's, and there is one run alone: compare it with another, or write a \
                           time, such as 300ms";
            return Err(Refused { expression: expression.text.clone(), problem: problem.to_owned() });
        }
        for (at, label) in labels.iter().enumerate().skip(usize::from(!alone)) {
            let (result, words) = if relative && !comparable[at - 1] {
                (ConditionResult::NotComparable, "the runs are not comparable".to_owned())
            } else {
                let empty = Named::empty(target.name);
                let of = |at: usize| runs[at].named(target.name).unwrap_or(&empty);
                let held = Held {
                    expression,
                    phase: target.phase.as_deref(),
                    base: of(0),
                    own: of(at),
                    base_label: &labels[0],
                    seed: options.seed,
                };
                held.result()
            };
            conditions.push(Condition { expression: expression.text.clone(), label: label.clone(), result, words });
        }
    }
    Ok(conditions)
}

/// The samples that an expression is about.
struct Target<'a> {
    name: &'a Words,
    phase: Option<Words>,
}

impl<'a> Target<'a> {
    /// A whole path that is a name is that name; else it is parted at each of its dots in turn.
    fn find(expression: &Expression, runs: &'a [Gathered<'_>]) -> Result<Self, Refused> {
        let all = names(runs);
        let refuse = |problem: String| Refused { expression: expression.text.clone(), problem };
        if let Some(name) = all.iter().find(|name| ****name == *expression.path) {
            return Ok(Self { name, phase: None });
        }
        for (at, _) in expression.path.match_indices('.') {
            let (name, phase) = (&expression.path[..at], &expression.path[at + 1..]);
            let Some(name) = all.iter().find(|known| ****known == *name) else { continue };
            let has = |run: &&Named| run.phase(phase).is_some();
            if runs.iter().filter_map(|run| run.named(name)).any(|run| has(&run)) {
                if matches!(expression.metric, Metric::Errors | Metric::N) {
                    let problem = format!("errors and n are of {name}, not of its phases: leave out .{phase}");
                    return Err(refuse(problem));
                }
                return Ok(Self { name, phase: Some(phase.into()) });
            }
        }
        Err(refuse(unknown(&expression.path, runs)))
    }
}

/// What there is instead, the nearest first.
fn unknown(path: &str, runs: &[Gathered<'_>]) -> String {
    let mut paths: Vec<String> = Vec::new();
    for name in names(runs) {
        let mut seen: HashSet<&str> = HashSet::new();
        let phases = runs.iter().filter_map(|run| run.named(name)).flat_map(|named| &named.phases);
        paths.push(name.to_string());
        paths.extend(phases.filter(|(phase, _)| seen.insert(phase)).map(|(phase, _)| format!("{name}.{phase}")));
    }
    if paths.is_empty() {
        return format!("no run has samples, so none named {path}");
    }
    let near = nearest(path, paths.iter().map(String::as_str));
    let hint = near.map_or_else(String::new, |known| format!(" (did you mean {known}?)"));
    let more = if paths.len() > LISTED { format!(" and {} more", paths.len() - LISTED) } else { String::new() };
    let listed = paths[..paths.len().min(LISTED)].join(", ");
    format!("no run has samples or a phase named {path}{hint}; there are {listed}{more}")
}
