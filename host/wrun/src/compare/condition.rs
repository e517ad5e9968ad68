//! Whether the conditions of `--fail-if` hold, for each run but the base.
//!
//! A build fails on what is so beyond doubt: the figure is on the wrong side of the limit, and so is all of its 95 % interval. Counts
//! and extremes are facts and have no interval. What cannot be known fails too, and says so: nothing was measured, or less
//! than the figure needs.

use super::data::{Condition, ConditionResult};
use super::expression::{Expression, Metric, Value};
use super::gather::Named;
use super::math::interval::{self, Ends};
use super::math::random::Random;
use super::math::ratio::{self, Figure};
use super::series::Series;
use super::{Gathered, Options, names, random, words};
use crate::report::text::units::{count, duration};
use crate::report::words::Words;

/// Names that a refusal lists.
const LISTED: usize = 20;

/// A condition about what no run has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--fail-if '{expression}': {problem}")]
pub struct Unnamed {
    pub expression: String,
    pub problem: String,
}

/// Judges every condition for every run but the base. `comparable` has one entry for each of those.
pub(super) fn judge(
    runs: &[Gathered<'_>],
    labels: &[String],
    comparable: &[bool],
    options: &Options,
) -> Result<Vec<Condition>, Unnamed> {
    let mut conditions = Vec::new();
    for expression in &options.fail_if {
        let target = Target::find(expression, runs)?;
        for (at, label) in labels.iter().enumerate().skip(1) {
            let relative = matches!(expression.value, Value::Ratio(_));
            let (result, words) = if relative && !comparable[at - 1] {
                (ConditionResult::NotComparable, "the runs are not comparable".to_owned())
            } else {
                let empty = Named::empty(target.name);
                let of = |at: usize| runs[at].named(target.name).unwrap_or(&empty);
                let mut random = random(options.seed, target.name, target.phase.as_deref(), label);
                let judged = Judged {
                    expression,
                    phase: target.phase.as_deref(),
                    base: of(0),
                    other: of(at),
                    base_label: &labels[0],
                };
                judged.result(&mut random)
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
    fn find(expression: &Expression, runs: &'a [Gathered<'_>]) -> Result<Self, Unnamed> {
        let all = names(runs);
        let refuse = |problem: String| Unnamed { expression: expression.text.clone(), problem };
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
        let phases = runs.iter().filter_map(|run| run.named(name)).flat_map(|named| &named.phases);
        paths.push(name.to_string());
        for (phase, _) in phases {
            let path = format!("{name}.{phase}");
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    if paths.is_empty() {
        return format!("no run has samples, so none named {path}");
    }
    let near = paths.iter().map(|known| (strsim::jaro_winkler(known, path), known));
    let near = near.filter(|(likeness, _)| *likeness > 0.75).max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = near.map_or_else(String::new, |(_, known)| format!(" (did you mean {known}?)"));
    let more = if paths.len() > LISTED { format!(" and {} more", paths.len() - LISTED) } else { String::new() };
    let listed = paths[..paths.len().min(LISTED)].join(", ");
    format!("no run has samples or a phase named {path}{hint}; there are {listed}{more}")
}

/// One condition, for one run.
struct Judged<'a> {
    expression: &'a Expression,
    phase: Option<&'a str>,
    base: &'a Named,
    other: &'a Named,
    base_label: &'a str,
}

impl Judged<'_> {
    fn result(&self, random: &mut Random) -> (ConditionResult, String) {
        let other = self.other;
        if other.ended() == 0 {
            return (ConditionResult::TooFew, format!("{} has no samples here", other.name));
        }
        let nothing = Series::default();
        let own = self.series(other).unwrap_or(&nothing);
        let needs = self.expression.metric.needs();
        if own.n() < needs {
            return (ConditionResult::TooFew, self.too_few(own.n(), "here"));
        }
        match self.expression.value {
            Value::Count(limit) => self.count(own, limit),
            Value::Share(limit) => self.share(limit),
            Value::Time(limit) => self.time(own, limit, random),
            Value::Ratio(limit) => {
                let base = self.series(self.base).unwrap_or(&nothing);
                if base.n() < needs {
                    return (ConditionResult::TooFew, self.too_few(base.n(), &format!("in {}", self.base_label)));
                }
                self.ratio(base, own, limit, random)
            }
        }
    }

    fn series<'b>(&self, of: &'b Named) -> Option<&'b Series> {
        match self.phase {
            None => Some(&of.times),
            Some(phase) => of.phase(phase),
        }
    }

    fn too_few(&self, n: u64, place: &str) -> String {
        let needs = self.expression.metric.needs();
        format!("too few: {} that ended well {place}, it needs {needs}", words::samples(n))
    }

    fn count(&self, own: &Series, limit: u64) -> (ConditionResult, String) {
        let value = if self.expression.metric == Metric::Errors { self.other.errors } else { own.n() };
        let words = format!("it is {}", count(value));
        self.fact(value as f64, limit as f64, words)
    }

    fn share(&self, limit: f64) -> (ConditionResult, String) {
        let (errors, all) = (self.other.errors, self.other.ended());
        let share = errors as f64 / all as f64;
        let (low, high) = interval::share(errors, all).unwrap_or((0.0, 1.0));
        let words = format!("it is {} ({} to {})", words::percent(share), words::percent(low), words::percent(high));
        self.clear(share, limit, Ends { low: Some(low), high: Some(high) }, words)
    }

    fn time(&self, own: &Series, limit: u64, random: &mut Random) -> (ConditionResult, String) {
        let value = self.value(own);
        let ends = match self.figure() {
            None => return self.fact(value as f64, limit as f64, format!("it is {}", duration(value))),
            Some(Figure::Quantile(share)) => interval::quantile(own, share),
            Some(Figure::Mean) => {
                let (low, high) = ratio::mean(own, random).unzip();
                Ends { low, high }
            }
        };
        let end = |end: Option<f64>| end.map_or_else(|| "no bound".to_owned(), |ns| duration(ns as u64));
        let words = format!("it is {} ({} to {})", duration(value), end(ends.low), end(ends.high));
        self.clear(value as f64, limit as f64, ends, words)
    }

    fn ratio(&self, base: &Series, own: &Series, limit: f64, random: &mut Random) -> (ConditionResult, String) {
        let (before, value) = (self.value(base), self.value(own));
        if before == 0 {
            let words =
                format!("it is {} and that of {} zero, of which there is no ratio", duration(value), self.base_label);
            return (ConditionResult::Inconclusive, words);
        }
        let ratio = value as f64 / before as f64;
        let Some(figure) = self.figure() else {
            return self.fact(ratio, limit, format!("it is {}", words::times(ratio)));
        };
        let (low, high) = ratio::interval(base, own, figure, random).unzip();
        let end = |end: Option<f64>| end.map_or_else(|| "no bound".to_owned(), words::times);
        let words = format!("it is {} ({} to {})", words::times(ratio), end(low), end(high));
        self.clear(ratio, limit, Ends { low, high }, words)
    }

    /// The figure that has an interval.
    fn figure(&self) -> Option<Figure> {
        match self.expression.metric {
            Metric::Percentile(percent) => Some(Figure::Quantile(f64::from(percent) / 100.0)),
            Metric::Mean => Some(Figure::Mean),
            Metric::Max | Metric::Min | Metric::Errors | Metric::N => None,
        }
    }

    fn value(&self, series: &Series) -> u64 {
        match self.expression.metric {
            Metric::Percentile(percent) => series.quantile(u16::from(percent) * 10).unwrap_or(0),
            Metric::Mean => series.mean(),
            Metric::Max => series.max(),
            Metric::Min => series.min(),
            Metric::Errors => self.other.errors,
            Metric::N => series.n(),
        }
    }

    /// What has no interval.
    fn fact(&self, value: f64, limit: f64, words: String) -> (ConditionResult, String) {
        let fails = self.expression.operator.holds(value, limit);
        (if fails { ConditionResult::Failed } else { ConditionResult::Passed }, words)
    }

    fn clear(&self, value: f64, limit: f64, ends: Ends, words: String) -> (ConditionResult, String) {
        let operator = self.expression.operator;
        if !operator.holds(value, limit) {
            return (ConditionResult::Passed, words);
        }
        let end = if operator.upwards() { ends.low } else { ends.high };
        if end.is_some_and(|end| operator.holds(end, limit)) {
            (ConditionResult::Failed, words)
        } else {
            (ConditionResult::Inconclusive, format!("{words}: the interval is not clear of the limit"))
        }
    }
}
