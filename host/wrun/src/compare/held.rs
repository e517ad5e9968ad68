//! One condition of `--fail-if` for one run: its figure, held against the limit.
//!
//! A build fails on what is so beyond doubt:
//!
//! - of quantiles, means and shares the figure is on the wrong side of the limit, and so is all of its 95 % interval;
//! - counts, and the extremes of the run itself, are facts and have no interval;
//! - a run's longest beside the base's is chance unless so many lie beyond ([`exceeding`]).
//!
//! A sample that never finished took as long as was seen at least, and perhaps for ever. What holds either way is so; what
//! does not is inconclusive, and never passed. What cannot be known fails, and says so: nothing was measured, or less
//! than the figure needs.

use std::borrow::Cow;

use super::data::ConditionResult;
use super::expression::{Expression, Metric, Value};
use super::gather::Named;
use super::math::counts::exceeding;
use super::math::interval::{self, Ends, MEDIAN_NEEDS, SIDE};
use super::math::ratio::{self, Figure};
use super::series::Series;
use super::{random, words};
use crate::report::text::units::{count, duration};

type Judged = (ConditionResult, String);

pub struct Held<'a> {
    pub expression: &'a Expression,
    pub phase: Option<&'a str>,
    /// The run itself where it is alone.
    pub base: &'a Named,
    pub own: &'a Named,
    pub base_label: &'a str,
    pub seed: u64,
}

impl<'a> Held<'a> {
    pub fn result(&self) -> Judged {
        let own = self.own;
        if own.begun() == 0 {
            return (ConditionResult::TooFew, format!("{} has no samples here", own.name));
        }
        let (well, before) = (self.well(own), self.well(self.base));
        if well.n() < self.needs() {
            return (ConditionResult::TooFew, self.too_few(well.n(), "here"));
        }
        match self.expression.value {
            Value::Count(limit) => self.count(&well, limit),
            Value::Share(limit) => self.share(limit),
            Value::Time(limit) => {
                let judge = |own: &Series| self.time(own, limit);
                if own.unfinished == 0 {
                    return judge(&well);
                }
                self.either(judge(&well), judge(&self.shortest(own)), judge(&self.longest(own)))
            }
            Value::Ratio(limit) => {
                if before.n() < self.needs() {
                    return (ConditionResult::TooFew, self.too_few(before.n(), &format!("in {}", self.base_label)));
                }
                let judge = |base: &Series, own: &Series| self.ratio(base, own, limit);
                if own.unfinished == 0 && self.base.unfinished == 0 {
                    return judge(&before, &well);
                }
                let least = judge(&self.longest(self.base), &self.shortest(own));
                self.either(judge(&before, &well), least, judge(&self.shortest(self.base), &self.longest(own)))
            }
        }
    }

    /// The durations of the samples that ended well.
    fn well(&self, of: &'a Named) -> Cow<'a, Series> {
        let series = match self.phase {
            None => Some(&of.times),
            Some(phase) => of.phase(phase),
        };
        series.map_or_else(Cow::default, Cow::Borrowed)
    }

    /// Those, and the unfinished as far as they came. How far each phase of them came is not known.
    fn shortest(&self, of: &'a Named) -> Series {
        let cut: Vec<(u64, u64)> = of.cut.iter().map(|ns| (*ns, 1)).collect();
        self.well(of).with(if self.phase.is_none() { &cut } else { &[] })
    }

    /// Those, and the unfinished as if they took for ever.
    fn longest(&self, of: &'a Named) -> Series {
        self.well(of).with(&[(u64::MAX, of.unfinished)])
    }

    /// What holds whatever became of the unfinished. `well` has the words, of the others.
    fn either(&self, well: Judged, least: Judged, most: Judged) -> Judged {
        let unfinished = |of: &Named| format!("{} of {} never finished", count(of.unfinished), count(of.begun()));
        let here = (self.own.unfinished > 0).then(|| unfinished(self.own));
        let relative = matches!(self.expression.value, Value::Ratio(_));
        let there =
            (relative && self.base.unfinished > 0).then(|| format!("{} in {}", unfinished(self.base), self.base_label));
        let who: Vec<String> = here.into_iter().chain(there).collect();
        let words = format!("{}; {}", well.1, who.join(", "));
        if least.0 == most.0 {
            (least.0, words)
        } else {
            (ConditionResult::Inconclusive, format!("{words}, and how long they would take is not known"))
        }
    }

    /// Samples that the figure takes: the extremes of two runs are compared by how many lie beyond.
    fn needs(&self) -> u64 {
        match (self.expression.metric, self.expression.value) {
            (Metric::Max | Metric::Min, Value::Ratio(_)) => MEDIAN_NEEDS,
            (metric, _) => metric.needs(),
        }
    }

    fn too_few(&self, n: u64, place: &str) -> String {
        let needs = self.needs();
        format!("too few: {} that ended well {place}, it needs {needs}", words::samples(n))
    }

    fn count(&self, well: &Series, limit: u64) -> Judged {
        let of_errors = self.expression.metric == Metric::Errors;
        let value = if of_errors { self.own.lost() } else { well.n() };
        let words = format!("it is {}{}", count(value), if of_errors { self.of_which() } else { String::new() });
        self.fact(value as f64, limit as f64, words)
    }

    fn share(&self, limit: f64) -> Judged {
        let (lost, all) = (self.own.lost(), self.own.begun());
        let share = lost as f64 / all as f64;
        let (low, high) = interval::share(lost, all).unwrap_or((0.0, 1.0));
        let [share_words, low_words, high_words] = [share, low, high].map(words::percent);
        let words = format!("it is {share_words} ({low_words} to {high_words}){}", self.of_which());
        self.clear(share, limit, Ends { low: Some(low), high: Some(high) }, words)
    }

    /// Errors that are none of the guest's words: samples that never finished.
    fn of_which(&self) -> String {
        match self.own.unfinished {
            0 => String::new(),
            unfinished => format!(", of which {} never finished", count(unfinished)),
        }
    }

    fn time(&self, own: &Series, limit: u64) -> Judged {
        let value = self.value(own);
        let ends = match self.figure() {
            None => return self.fact(value as f64, limit as f64, format!("it is {}", duration(value))),
            Some(Figure::Quantile(share)) => interval::quantile(own, share),
            Some(Figure::Mean) => {
                let (low, high) = ratio::mean(own, &mut random(self.seed, &self.own.name, self.phase)).unzip();
                Ends { low, high }
            }
        };
        let end = |end: Option<f64>| end.map_or_else(|| "no bound".to_owned(), |ns| duration(ns as u64));
        let words = format!("it is {} ({} to {})", duration(value), end(ends.low), end(ends.high));
        self.clear(value as f64, limit as f64, ends, words)
    }

    fn ratio(&self, base: &Series, own: &Series, limit: f64) -> Judged {
        let (before, value) = (self.value(base), self.value(own));
        if before == 0 {
            let words =
                format!("it is {} and that of {} zero, of which there is no ratio", duration(value), self.base_label);
            return (ConditionResult::Inconclusive, words);
        }
        let ratio = value as f64 / before as f64;
        let Some(figure) = self.figure() else {
            return self.extreme(base, own, ratio, limit);
        };
        let ends = ratio::interval(base, own, figure, &mut random(self.seed, &self.own.name, self.phase));
        let ends = ends.unwrap_or(Ends { low: None, high: None });
        let end = |end: Option<f64>| end.map_or_else(|| "no bound".to_owned(), words::times);
        let words = format!("it is {} ({} to {})", words::times(ratio), end(ends.low), end(ends.high));
        self.clear(ratio, limit, ends, words)
    }

    /// The longest or the shortest of two runs: beyond chance where many of the one lie beyond all of the other, scaled to the
    /// limit.
    fn extreme(&self, base: &Series, own: &Series, ratio: f64, limit: f64) -> Judged {
        let operator = self.expression.operator;
        let words = format!("it is {}", words::times(ratio));
        if !operator.holds(ratio, limit) {
            return (ConditionResult::Passed, words);
        }
        let scaled = |ns: u64, by: f64| (ns as f64 * by) as u64;
        let below =
            |series: &Series, limit: u64| series.n() - limit.checked_sub(1).map_or(series.n(), |ns| series.above(ns));
        let (beyond, all, others) = match (self.expression.metric == Metric::Max, operator.upwards()) {
            (true, true) => (own.above(scaled(base.max(), limit)), own.n(), base.n()),
            (true, false) => (base.above(scaled(own.max(), 1.0 / limit)), base.n(), own.n()),
            (false, true) => (below(base, scaled(own.min(), 1.0 / limit)), base.n(), own.n()),
            (false, false) => (below(own, scaled(base.min(), limit)), own.n(), base.n()),
        };
        let words = format!("{words}; {} of {} lie beyond all others by as much", count(beyond), count(all));
        if exceeding(beyond, all, others) <= SIDE {
            (ConditionResult::Failed, words)
        } else {
            (ConditionResult::Inconclusive, format!("{words}, which may be chance"))
        }
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
            // Neither is of durations; expressions hold them against counts only.
            Metric::Errors | Metric::N => series.n(),
        }
    }

    /// What has no interval.
    fn fact(&self, value: f64, limit: f64, words: String) -> Judged {
        let fails = self.expression.operator.holds(value, limit);
        (if fails { ConditionResult::Failed } else { ConditionResult::Passed }, words)
    }

    fn clear(&self, value: f64, limit: f64, ends: Ends, words: String) -> Judged {
        let operator = self.expression.operator;
        if !operator.holds(value, limit) {
            return (ConditionResult::Passed, words);
        }
        let end = if operator.upwards() { ends.low } else { ends.high };
        match end {
            Some(end) if operator.holds(end, limit) => (ConditionResult::Failed, words),
            Some(_) => (ConditionResult::Inconclusive, format!("{words}: the interval is not clear of the limit")),
            None => (ConditionResult::Inconclusive, format!("{words}: {}", self.unbounded())),
        }
    }

    /// Why an end has no bound.
    fn unbounded(&self) -> String {
        match self.figure() {
            Some(Figure::Quantile(share)) => {
                format!("an interval with both ends takes {} samples a run", interval::bounded_from(share))
            }
            _ => "the base may be zero, of which there is no ratio".to_owned(),
        }
    }
}
