//! The one verdict on a name, and the sentence that it is.
//!
//! A change counts when it is larger than the threshold and the 95 % interval of the ratio of medians is clear of 1. It is ruled out
//! when the interval lies within the threshold. Anything else is inconclusive. What is less than wrun itself takes of a sample
//! ([`super::resolution`]) is no change either. Beside the median there are
//! more looks, since a run may be worse without its median being so: stalls ([`super::stalls`]), errors, and samples
//! that never finished. Who may lose so many more that it would count is not the same, and who loses more is not faster.

use super::data::{ConditionResult, Interval, Number, ToBase, Verdict};
use super::gather::Named;
use super::math::counts::fisher_above;
use super::math::interval::{self, MEDIAN_NEEDS};
use super::stalls::{Stalls, stalls};
use super::words;
use crate::report::text::units::{count, duration};

/// What the share of errors of a failing run would at most be by chance.
const FAILING: f64 = 0.05;

/// Two runs' samples of one name, and what they are called.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    pub base: &'a Named,
    pub other: &'a Named,
    pub base_label: &'a str,
    /// Medians that are less apart are not told apart: see [`super::resolution`].
    pub resolution_ns: u64,
    /// The run of the two that was cut short: what it had still to do may have gone otherwise.
    pub cut_short: Option<&'a str>,
}

/// A verdict, its sentence, and how likely chance alone would bring it about, where there is a test of that.
pub struct Judged {
    pub verdict: Verdict,
    pub words: String,
    pub p: Option<f64>,
}

/// `threshold` is the smallest change that counts, as in 0.05.
pub fn judge(pair: Pair<'_>, to_base: Option<&ToBase>, threshold: f64) -> Judged {
    let Pair { base, other, base_label, .. } = pair;
    let more_errors = share(other.errors, other.ended()) > share(base.errors, base.ended());
    let chance = fisher_above(other.errors, other.ended(), base.errors, base.ended());
    if more_errors && chance <= FAILING {
        let nothing = if other.times.is_empty() { ", nothing is left to time" } else { "" };
        let words = format!("{}{nothing}{}", errors(pair), unfinished(pair));
        return Judged { verdict: Verdict::Failing, words, p: Some(chance) };
    }
    let here = other.times.n() <= base.times.n();
    let (fewer, whose) = if here { (other, "here".to_owned()) } else { (base, format!("in {base_label}")) };
    if fewer.times.n() < MEDIAN_NEEDS {
        let failed = format!("{}{}", failed(pair), unfinished(pair));
        let n = words::samples(fewer.times.n());
        let words = format!("{n} that ended well {whose}, a verdict needs {MEDIAN_NEEDS}{failed}");
        return Judged { verdict: Verdict::TooFew, words, p: None };
    }
    let mut judged = timing(pair, to_base, threshold);
    judged.words = format!("{}{}{}", judged.words, failed(pair), unfinished(pair));
    let more_unfinished = share(other.unfinished, other.begun()) > share(base.unfinished, base.begun());
    let lossy = match judged.verdict {
        // Whoever loses more is not faster, whatever is left over.
        Verdict::Faster => more_errors || more_unfinished,
        Verdict::Same => may_lose_more(pair, threshold),
        _ => false,
    };
    if lossy {
        judged.verdict = Verdict::Inconclusive;
        judged.words = format!("of those that ended well, {}", judged.words);
    }
    if let (Some(label), Verdict::Faster | Verdict::Same) = (pair.cut_short, judged.verdict) {
        judged.verdict = Verdict::Inconclusive;
        judged.words = format!("{}, but {label} was cut short", judged.words);
    }
    judged
}

/// Whether more of the samples failed or never finished than in the base, and not clearly less than by the share `threshold`
/// of all: as with times, a difference that counts must be ruled out.
fn may_lose_more(pair: Pair<'_>, threshold: f64) -> bool {
    let Pair { base, other, .. } = pair;
    let before = share(base.lost(), base.begun());
    let most = interval::share(other.lost(), other.begun()).map_or(0.0, |(_, high)| high);
    share(other.lost(), other.begun()) > before && most - before > threshold
}

/// The verdict on what ended well.
fn timing(pair: Pair<'_>, to_base: Option<&ToBase>, threshold: f64) -> Judged {
    let (verdict, median) = resolved(pair, to_base, medians(to_base, threshold, pair.base_label));
    let p = to_base.and_then(|to_base| to_base.p).map(Number::get);
    let Some(stalls) = stalls(pair.base, pair.other, threshold, pair.resolution_ns) else {
        return Judged { verdict, words: median, p };
    };
    let tail = tail(&stalls, pair);
    match (verdict, stalls.more) {
        (Verdict::Slower, true) | (Verdict::Faster, false) => Judged { verdict, words: median, p },
        (Verdict::Slower, false) | (Verdict::Faster, true) => {
            Judged { verdict: Verdict::Inconclusive, words: format!("{median}, but {tail}"), p: None }
        }
        (_, more) => {
            let verdict = if more { Verdict::Slower } else { Verdict::Faster };
            Judged { verdict, words: format!("{tail}; {median}"), p: Some(stalls.p) }
        }
    }
}

/// The same where the medians are further apart than wrun's own doing can put them, and not told apart where they are not.
fn resolved(pair: Pair<'_>, to_base: Option<&ToBase>, (verdict, words): (Verdict, String)) -> (Verdict, String) {
    let (base, other) = (pair.base.times.median().unwrap_or(0), pair.other.times.median().unwrap_or(0));
    let (apart, resolution) = (other.abs_diff(base), pair.resolution_ns);
    if apart >= resolution {
        return (verdict, words);
    }
    let within = |ratio: Number| ((ratio.get() - 1.0) * base as f64).abs() < resolution as f64;
    let interval = to_base.and_then(|to_base| to_base.interval);
    let ruled_out = interval.is_some_and(|interval| within(interval.low) && within(interval.high));
    match verdict {
        Verdict::Inconclusive if !ruled_out => (verdict, words),
        Verdict::Slower | Verdict::Faster | Verdict::Inconclusive => {
            let (apart, resolution) = (duration(apart), duration(resolution));
            (
                Verdict::Same,
                format!("{words}, {apart} apart: less than the {resolution} that wrun itself takes of a sample"),
            )
        }
        _ => (verdict, words),
    }
}

/// The verdict on the medians alone.
fn medians(to_base: Option<&ToBase>, threshold: f64, base: &str) -> (Verdict, String) {
    let Some((ratio, interval)) = to_base.and_then(|to_base| Some((to_base.ratio?.get(), to_base.interval?))) else {
        return (Verdict::Inconclusive, format!("the median of {base} may be zero, of which there is no ratio"));
    };
    let words = format!("the median is {} that of {base} ({})", words::times(ratio), words::interval(&interval));
    let (most, least) = (1.0 + threshold, 1.0 / (1.0 + threshold));
    let Interval { low, high } = interval;
    let (low, high) = (Number::get(low), Number::get(high));
    if low >= least && high <= most {
        (Verdict::Same, words)
    } else if ratio > most && low > 1.0 {
        (Verdict::Slower, words)
    } else if ratio < least && high < 1.0 {
        (Verdict::Faster, words)
    } else {
        (Verdict::Inconclusive, words)
    }
}

fn tail(stalls: &Stalls, pair: Pair<'_>) -> String {
    let (n, base_n) = (count(pair.other.times.n()), count(pair.base.times.n()));
    let (limit, label) = (duration(stalls.limit_ns), pair.base_label);
    format!("{} of {n} take over {limit}, {} of {base_n} in {label}", count(stalls.other), count(stalls.base))
}

fn errors(pair: Pair<'_>) -> String {
    let Pair { base, other, base_label, .. } = pair;
    let (failed, all) = (count(other.errors), count(other.ended()));
    format!("{failed} of {all} failed, {} of {} in {base_label}", count(base.errors), count(base.ended()))
}

/// The errors of either as the end of a sentence; nothing of none.
fn failed(pair: Pair<'_>) -> String {
    if pair.base.errors == 0 && pair.other.errors == 0 { String::new() } else { format!("; {}", errors(pair)) }
}

/// The same of samples that never finished.
fn unfinished(pair: Pair<'_>) -> String {
    let Pair { base, other, base_label, .. } = pair;
    if base.unfinished == 0 && other.unfinished == 0 {
        return String::new();
    }
    let [left, all, base_left, base_all] = [other.unfinished, other.begun(), base.unfinished, base.begun()].map(count);
    format!("; {left} of {all} never finished, {base_left} of {base_all} in {base_label}")
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

impl Verdict {
    /// As it is said.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotComparable => "not comparable",
            Self::Failing => "failing",
            Self::Slower => "slower",
            Self::Inconclusive => "inconclusive",
            Self::TooFew => "too few samples",
            Self::Faster => "faster",
            Self::Same => "same",
        }
    }
}

impl ConditionResult {
    /// As it is said.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::Inconclusive => "inconclusive",
            Self::TooFew => "FAILED",
            Self::NotComparable => "not comparable",
        }
    }
}
