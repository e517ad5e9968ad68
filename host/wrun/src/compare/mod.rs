//! Comparing runs: what differs, by how much, how sure that is, where it lies and what it looks like.
//!
//! - In: [`Run`]s, the first of which is the base, and [`Options`]. [`gather`] counts a report's samples anew, as
//!   [`series::Series`].
//! - Figures: [`figures`], [`modes`], on the arithmetic of [`math`].
//! - Judgement: [`verdict`] with [`stalls`] and [`resolution`], [`place`] (where), [`why`] (shapes), [`facts`] (what the runs differ in, with [`ports`]), and
//!   [`condition`] with [`held`] for `--fail-if`, read by [`expression`].
//! - Out: [`data::Comparison`], which [`output`] turns into text, JSON, Markdown, CSV and JUnit's XML.
//!
//! What is left out: pictures, and reading reports.

pub mod command;
pub mod condition;
pub mod data;
pub mod expression;
pub mod facts;
mod figures;
#[cfg(test)]
mod fixture;
mod gather;
mod held;
mod math;
mod modes;
pub mod output;
mod place;
mod ports;
mod resolution;
#[cfg(test)]
mod schema;
mod series;
mod stalls;
#[cfg(test)]
mod tests;
mod verdict;
mod why;
mod words;

use std::collections::{HashMap, HashSet};

use crate::report::Report;
use crate::report::data::Sample;
use crate::report::words::Words;
use condition::Refused;
use data::{Against, Compared, ComparedPhase, Comparison, Figures, Judgement, Number, OfRun, SCHEMA, Verdict};
use expression::Expression;
use gather::{Named, gather};
use math::random::Random;
use verdict::{Judged, Pair};
use why::Side;

/// The smallest change of a median that counts, where nothing else is said: 5 % either way. Two runs of the same on a
/// machine that does other things as well differ by as much.
pub const THRESHOLD: f64 = 0.05;

/// The seed of the intervals, where nothing else is said. Any is as good.
pub const SEED: u64 = 1;

/// A run, and what it is called.
#[derive(Debug)]
pub struct Run {
    pub label: String,
    pub report: Report,
}

#[derive(Debug, Clone)]
pub struct Options {
    /// The smallest change that counts, as in 0.05.
    pub threshold: f64,
    /// Compare also what is not comparable.
    pub force: bool,
    pub seed: u64,
    /// What makes a build fail.
    pub fail_if: Vec<Expression>,
}

impl Default for Options {
    fn default() -> Self {
        Self { threshold: THRESHOLD, force: false, seed: SEED, fail_if: Vec::new() }
    }
}

/// Holds runs against the first of them.
///
/// Fails only where a condition cannot be asked: it names what no run has, or is about a base where there is none.
pub fn compare(runs: &[Run], options: &Options) -> Result<Comparison, Refused> {
    let gathered: Vec<Gathered<'_>> = runs.iter().map(|run| Gathered::new(&run.report)).collect();
    let mut comparison = Comparison {
        schema: SCHEMA,
        seed: options.seed,
        threshold_percent: Number::new(options.threshold * 100.0).unwrap_or(Number::ZERO),
        runs: facts::facts(runs),
        samples: Vec::new(),
        against_base: Vec::new(),
        conditions: Vec::new(),
    };
    let Some((base, others)) = gathered.split_first() else { return Ok(comparison) };
    let labels: Vec<String> = comparison.runs.iter().map(|run| run.label.clone()).collect();
    let differences: Vec<_> =
        others.iter().map(|other| facts::differences(base.report, other.report, &base.names, &other.names)).collect();
    let comparable: Vec<bool> =
        differences.iter().map(|found| options.force || found.iter().all(|one| !one.decisive)).collect();
    let conditions = condition::judge(&gathered, &labels, &comparable, options)?;
    let compared = Comparing { gathered: &gathered, labels: &labels, comparable: &comparable, options };
    comparison.samples = names(&gathered).into_iter().map(|name| compared.name(name)).collect();
    for (at, differences) in differences.into_iter().enumerate() {
        let (verdict, words) = whole(&comparison.samples, at, comparable[at], &differences);
        comparison.against_base.push(Against { label: labels[at + 1].clone(), verdict, words, differences });
    }
    comparison.conditions = conditions;
    Ok(comparison)
}

/// The numbers that intervals of one pair of figures are drawn with. What the runs are called, and which of several one is, is
/// left out: the same two reports have the same intervals in whatever comparison.
fn random(seed: u64, name: &str, phase: Option<&str>) -> Random {
    Random::for_use(seed, &[name, phase.unwrap_or_default()])
}

/// A run, its samples in order.
struct Gathered<'a> {
    report: &'a Report,
    names: Vec<Named>,
    places: HashMap<Words, usize>,
    samples: HashMap<&'a str, Vec<&'a Sample>>,
}

impl<'a> Gathered<'a> {
    fn new(report: &'a Report) -> Self {
        let names = gather(report);
        let places = names.iter().enumerate().map(|(place, named)| (named.name.clone(), place)).collect();
        let mut samples: HashMap<&str, Vec<&Sample>> = HashMap::new();
        for sample in &report.samples {
            samples.entry(&sample.name).or_default().push(sample);
        }
        Self { report, names, places, samples }
    }

    fn named(&self, name: &Words) -> Option<&Named> {
        self.places.get(name).map(|place| &self.names[*place])
    }
}

/// Every name of any run, in the order of their first appearance.
fn names<'a>(runs: &'a [Gathered<'_>]) -> Vec<&'a Words> {
    let mut seen = HashSet::new();
    runs.iter().flat_map(|run| &run.names).map(|named| &named.name).filter(|name| seen.insert(*name)).collect()
}

struct Comparing<'a> {
    /// The base first.
    gathered: &'a [Gathered<'a>],
    labels: &'a [String],
    /// Of each but the base.
    comparable: &'a [bool],
    options: &'a Options,
}

impl Comparing<'_> {
    fn name(&self, name: &Words) -> Compared {
        let empty = Named::empty(name);
        let named: Vec<&Named> = self.gathered.iter().map(|run| run.named(name).unwrap_or(&empty)).collect();
        let of_run = |at: usize| OfRun {
            errors: named[at].errors,
            unfinished: named[at].unfinished,
            reasons: named[at].reasons.clone(),
            figures: self.figures(&named, None, at),
        };
        let runs: Vec<OfRun> = (0..named.len()).map(of_run).collect();
        let mut seen = HashSet::new();
        let phases = named.iter().flat_map(|named| &named.phases).map(|(phase, _)| phase);
        let phases = phases.filter(|phase| seen.insert(*phase)).map(|phase| ComparedPhase {
            name: phase.clone(),
            runs: (0..named.len()).map(|at| self.figures(&named, Some(phase), at)).collect(),
        });
        let phases = phases.collect();
        let verdicts = (1..named.len()).map(|at| self.judgement(&named, &runs, at)).collect();
        Compared { name: name.clone(), runs, phases, verdicts }
    }

    fn figures(&self, named: &[&Named], phase: Option<&str>, at: usize) -> Figures {
        let series = |at: usize| match phase {
            None => Some(&named[at].times),
            Some(phase) => named[at].phase(phase),
        };
        let Some(own) = series(at) else { return Figures::default() };
        let mut figures = figures::figures(own);
        if let Some(base) = series(0).filter(|_| at > 0 && self.comparable[at - 1]) {
            let mut random = random(self.options.seed, &named[at].name, phase);
            figures.to_base = figures::to_base(base, own, &mut random);
        }
        figures
    }

    fn judgement(&self, named: &[&Named], runs: &[OfRun], at: usize) -> Judgement {
        let of_run = |run: usize| {
            let Gathered { report, names, .. } = &self.gathered[run];
            resolution::resolution(report, names, named[run])
        };
        let resolution_ns = of_run(0).max(of_run(at));
        let (places, shapes) = (Vec::new(), Vec::new());
        let silent = |verdict, words: String| Judgement { verdict, words, p: None, resolution_ns, places, shapes };
        let (base, other) = (named[0], named[at]);
        if !self.comparable[at - 1] {
            return silent(Verdict::NotComparable, "the runs differ in more than their sockets".to_owned());
        }
        let there = |at: usize| self.gathered[at].named(&named[at].name).is_some();
        let whole = self.gathered[0].report.complete && self.gathered[at].report.complete;
        if !(there(0) && there(at)) && whole {
            let has = if there(0) { &self.labels[0] } else { &self.labels[at] };
            return silent(Verdict::NotComparable, format!("only {has} has such samples"));
        }
        let cut_short = [at, 0].into_iter().find(|run| !self.gathered[*run].report.complete);
        let cut_short = cut_short.map(|run| self.labels[run].as_str());
        let pair = Pair { base, other, base_label: &self.labels[0], resolution_ns, cut_short };
        let Judged { verdict, words, p } =
            verdict::judge(pair, runs[at].figures.to_base.as_ref(), self.options.threshold);
        let slower = verdict != Verdict::Faster;
        let (suspect, against) = if slower { (at, 0) } else { (0, at) };
        let mut shapes = why::shapes(&self.side(named, suspect), &self.side(named, against));
        match verdict {
            Verdict::Same => shapes.clear(),
            // Modes of a phase are found by chance as well: where nothing is known to differ they explain nothing.
            Verdict::Inconclusive => shapes.retain(|shape| shape.kind != why::Kind::BimodalPhase),
            _ => {}
        }
        Judgement {
            places: match verdict {
                Verdict::Slower | Verdict::Faster => place::places(base, other, slower),
                _ => Vec::new(),
            },
            shapes,
            verdict,
            words,
            p: p.and_then(Number::new),
            resolution_ns,
        }
    }

    fn side<'a>(&'a self, named: &[&'a Named], at: usize) -> Side<'a> {
        let run = &self.gathered[at];
        Side {
            label: &self.labels[at],
            report: run.report,
            named: named[at],
            samples: run.samples.get(&*named[at].name).cloned().unwrap_or_default(),
            alone: run.names.len() == 1,
        }
    }
}

/// What of many names one may be by chance alone, all told.
const CHANCE: f64 = 0.05;

/// The verdict on a whole run: that of the name that fares worst. Of many names a few look worse by chance, so a name decides
/// only if its p is small among so many, those that look alike taken together ([`largest_beyond_chance`]).
fn whole(samples: &[Compared], at: usize, comparable: bool, differences: &[data::Difference]) -> (Verdict, String) {
    if !comparable {
        let what: Vec<&str> = differences.iter().filter(|one| one.decisive).map(|one| one.what.as_str()).collect();
        let words = format!("the {} differ; --force compares them all the same", what.join(" and the "));
        return (Verdict::NotComparable, words);
    }
    // With --force a name that only one run has is no obstacle to the others.
    let both: Vec<&Compared> =
        samples.iter().filter(|name| name.verdicts[at].verdict != Verdict::NotComparable).collect();
    let largest = |of: &[Verdict]| {
        let judgements = both.iter().map(|name| &name.verdicts[at]).filter(|judgement| of.contains(&judgement.verdict));
        largest_beyond_chance(judgements.filter_map(|judgement| judgement.p).map(Number::get).collect(), both.len())
    };
    let (worse, better) = (largest(&[Verdict::Failing, Verdict::Slower]), largest(&[Verdict::Faster]));
    let told = |name: &Compared| {
        let Judgement { verdict, p, .. } = &name.verdicts[at];
        let largest = if *verdict == Verdict::Faster { better } else { worse };
        let doubtful = p.is_some_and(|p| largest.is_none_or(|largest| p.get() > largest));
        match verdict {
            Verdict::Failing | Verdict::Slower | Verdict::Faster if doubtful && both.len() > 1 => Verdict::Inconclusive,
            verdict => *verdict,
        }
    };
    let Some(worst) =
        both.iter().copied().min_by_key(|name| (told(name), name.verdicts[at].verdict)).or(samples.first())
    else {
        return (Verdict::TooFew, "neither run has samples".to_owned());
    };
    let (verdict, Judgement { verdict: own, words, .. }) = (told(worst), &worst.verdicts[at]);
    let words = if samples.len() == 1 { words.clone() } else { format!("{}: {words}", worst.name) };
    if verdict == *own {
        return (verdict, words);
    }
    (verdict, format!("{words}; it looks {}, as one of {} names may by chance", own.word(), both.len()))
}

/// The largest of these p that is beyond chance among `all`, by Benjamini and Hochberg's procedure (1995): where none of the
/// names differs, any is told apart with [`CHANCE`] at most (Simes 1986); and where many look so, each of them counts for the
/// others. `None` where there is none.
fn largest_beyond_chance(mut p: Vec<f64>, all: usize) -> Option<f64> {
    p.sort_unstable_by(f64::total_cmp);
    let ranked = p.into_iter().zip(1u32..);
    ranked.filter(|(p, rank)| *p <= CHANCE * f64::from(*rank) / all as f64).map(|(p, _)| p).last()
}
