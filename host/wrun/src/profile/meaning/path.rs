//! One direction of a link.

use std::time::Duration;

use toml::{Spanned, Value};
use wrun_net::shape::profile::{Delay, Distribution, Loss, Path, Rate};

use super::notes::{HOUR, Notes, shown};
use crate::profile::given::Given;
use crate::profile::trace;
use crate::profile::written::{self, Bursts};
use crate::units;

/// A table of a distribution has at most so many numbers.
const NUMBERS: usize = 1000;

/// The mean length of a burst of losses, in datagrams.
pub const LENGTHS: std::ops::RangeInclusive<f64> = 1.0..=1_000_000.0;

/// What `own` says, and where it says nothing, what `both` does. `half` is half of a round trip, if one was given.
pub fn path(
    notes: &mut Notes<'_>,
    half: Option<Duration>,
    both: Option<&Spanned<written::Path>>,
    own: Option<&Spanned<written::Path>>,
) -> Path {
    let (both, own) = (both.map(Spanned::get_ref), own.map(Spanned::get_ref));
    let base = pick(notes, both, own, |path| &path.delay);
    if let (Some(base), Some(_)) = (base, half) {
        notes.note(base.span(), "a delay beside rtt", "rtt is both ways' delay: write one or the other");
    }
    // An unreadable one is noted; what depends on it is not to be blamed too.
    let base = base.map(|base| notes.time(base).unwrap_or(HOUR)).or(half);
    let jitter = pick(notes, both, own, |path| &path.jitter);
    let distribution = pick(notes, both, own, |path| &path.distribution);
    let delay = delay(notes, base, jitter, distribution);

    let constant = pick(notes, both, own, |path| &path.rate);
    let trace = pick(notes, both, own, |path| &path.trace);
    if let (Some(_), Some(trace)) = (constant, trace) {
        notes.note(trace.span(), "a trace beside a rate", "a trace is a rate that changes: write one or the other");
    }
    let rate = match constant {
        Some(rate) => notes.rate(rate).map(Rate::Constant),
        None => trace.and_then(|given| trace::trace(notes, given)).map(Rate::Trace),
    };
    let queue = pick(notes, both, own, |path| &path.queue);
    if let (Some(queue), None, None) = (queue, constant, trace) {
        notes.note(
            queue.span(),
            "a queue without a rate",
            "nothing waits in it, so it does nothing: write a rate, or no queue",
        );
    }
    let loss = pick(notes, both, own, |path| &path.loss);
    let duplicate = pick(notes, both, own, |path| &path.duplicate);
    let reorder = pick(notes, both, own, |path| &path.reorder);
    if let (Some(reorder), true) = (reorder, delay.base.is_zero()) {
        let help = "what is reordered skips the delay and so overtakes: write a delay, or no reorder";
        notes.note(reorder.span(), "reordering without a delay", help);
    }
    let offline = pick(notes, both, own, |path| &path.offline);
    Path {
        delay,
        rate,
        queue: queue.and_then(|queue| notes.bytes(queue)),
        loss: loss.map(|given| self::loss(notes, given)).unwrap_or_default(),
        duplicate: duplicate.and_then(|share| notes.share(share)).unwrap_or_default(),
        reorder: reorder.and_then(|share| notes.share(share)).unwrap_or_default(),
        offline: offline.and_then(|flag| notes.flag(flag)).unwrap_or_default(),
    }
}

/// A key of one way, or of both.
fn pick<'a, T>(
    notes: &mut Notes<'_>,
    both: Option<&'a written::Path>,
    own: Option<&'a written::Path>,
    key: fn(&'a written::Path) -> &'a Option<Spanned<T>>,
) -> Option<&'a Spanned<T>> {
    let (both, own) = (both.and_then(|both| key(both).as_ref()), own.and_then(|own| key(own).as_ref()));
    if let (Some(_), Some(own)) = (both, own) {
        notes.note(own.span(), "given here and in [both]", "write it once for both ways, or once for each");
    }
    own.or(both)
}

pub fn delay(
    notes: &mut Notes<'_>,
    base: Option<Duration>,
    jitter: Option<&Given>,
    distribution: Option<&Given>,
) -> Delay {
    let base = base.unwrap_or_default();
    if let (Some(distribution), None) = (distribution, jitter) {
        notes.note(
            distribution.span(),
            "a distribution without a jitter",
            "it is how jitter is spread: write a jitter",
        );
    }
    let given = jitter;
    let jitter = given.and_then(|jitter| notes.time(jitter)).unwrap_or_default();
    if let (Some(given), true) = (given, jitter > base) {
        let help = format!("at most the delay, here {}: a delay is never negative", units::time_text(base));
        notes.note(given.span(), "a jitter above the delay", help);
    }
    let distribution = distribution.and_then(|given| self::distribution(notes, given)).unwrap_or_default();
    Delay { base, jitter, distribution }
}

fn distribution(notes: &mut Notes<'_>, given: &Given) -> Option<Distribution> {
    let Value::Array(numbers) = given.get_ref() else {
        let (uniform, normal, pareto) = (Distribution::Uniform, Distribution::Normal, Distribution::Pareto);
        let words = [("uniform", &uniform), ("normal", &normal), ("pareto", &pareto)];
        return notes.word(given, "distribution or list of numbers", &words).cloned();
    };
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    let wrong = numbers.iter().find(|value| !number(value).is_some_and(|number| (-1.0..=100.0).contains(&number)));
    if wrong.is_some() || numbers.is_empty() || numbers.len() > NUMBERS {
        let message = match wrong {
            Some(wrong) => format!("{} cannot be in a table of a distribution", shown(wrong)),
            None => format!("a table of {} numbers", numbers.len()),
        };
        let help = format!("write 1 to {NUMBERS} numbers from -1 to 100: a delay is `delay` + number * `jitter`");
        notes.note(given.span(), message, help);
        return None;
    }
    Some(Distribution::Table(numbers.iter().filter_map(number).collect()))
}

fn loss(notes: &mut Notes<'_>, given: &Spanned<written::Loss>) -> Loss {
    match given.get_ref() {
        written::Loss::Share(value) => match notes.share_of(value, given.span()) {
            Some(share) if share > 0.0 => Loss::Independent(share),
            _ => Loss::None,
        },
        written::Loss::Bursts(bursts) => self::bursts(notes, given, bursts),
    }
}

/// The chances from good to bad and back of a chain that loses `share` of all in bursts of a mean `length`: all is lost in
/// the bad state and nothing in the good one, where it is the rest of the time.
pub fn chances(share: f64, length: f64) -> (f64, f64) {
    let bad_to_good = 1.0 / length;
    (bad_to_good * share / (1.0 - share), bad_to_good)
}

fn bursts(notes: &mut Notes<'_>, given: &Spanned<written::Loss>, bursts: &Bursts) -> Loss {
    let mut share = |given: &Option<Given>| given.as_ref().map(|given| notes.share(given).unwrap_or_default());
    let (good_to_bad, bad_to_good) = (share(&bursts.good_to_bad), share(&bursts.bad_to_good));
    let (loss_in_good, loss_in_bad) = (share(&bursts.loss_in_good), share(&bursts.loss_in_bad));
    let overall = share(&bursts.share);
    let length =
        bursts.length.as_ref().map(|given| notes.number(given, "a mean length in datagrams", LENGTHS).unwrap_or(1.0));
    match (overall, length, good_to_bad, bad_to_good, loss_in_good, loss_in_bad) {
        (Some(overall), Some(length), None, None, None, None) => {
            let (good_to_bad, bad_to_good) = chances(overall, length);
            if !(0.0..=1.0).contains(&good_to_bad) {
                let most = (1000.0 * length / (1.0 + length)).floor() / 10.0;
                let help = format!("bursts of a mean length of {length} are at most {most} % of all");
                notes.note(given.span(), "more bursts than there is room for", help);
                return Loss::None;
            }
            Loss::Bursts { good_to_bad, bad_to_good, loss_in_good: 0.0, loss_in_bad: 1.0 }
        }
        (None, None, Some(good_to_bad), Some(bad_to_good), loss_in_good, loss_in_bad) => Loss::Bursts {
            good_to_bad,
            bad_to_good,
            loss_in_good: loss_in_good.unwrap_or(0.0),
            loss_in_bad: loss_in_bad.unwrap_or(1.0),
        },
        _ => {
            let help = "write { share, length } for bursts of a mean length, or { good-to-bad, bad-to-good } and, \
                        if not 0 and 1, loss-in-good and loss-in-bad";
            notes.note(given.span(), "losses in bursts that are not whole, or mixed up", help);
            Loss::None
        }
    }
}
