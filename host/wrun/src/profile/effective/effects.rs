//! The effects of the file, of a rule or of an entry of a schedule, as TOML.

use wrun_net::shape::profile::{Delay, Distribution, Effects, Failure, Loss, Mixture, Mode, Opening, Path, Rate};

use super::page::{Page, list, text, time};
use crate::profile::meaning::{LENGTHS, chances};
use crate::units;

/// A key of a table, its value if it is set, what holds without, and what it is.
type Key = (&'static str, Option<String>, &'static str, &'static str);

/// All keys if `fully`, otherwise those that are set. `prefix` is the table that they stand in, as it is written in front of
/// theirs: nothing for the file, or `rule.schedule.`.
pub fn effects(page: &mut Page, prefix: &str, effects: &Effects, fully: bool) {
    let Effects { up, down, connect, resolve, stalls, acknowledgement } = effects;
    let about = "kept back so long by the peer; small sends without no-delay wait for it";
    if fully || acknowledgement.is_some() {
        page.key("acknowledgement", acknowledgement.map(time), "the stack's own", about);
    }
    let mut part =
        |name: &str, about: &str, keys: Vec<Key>| section(page, &format!("{prefix}{name}"), about, keys, fully);
    part("up", "from the guest to its peers", path(up));
    part("down", "from its peers to the guest", path(down));
    part("connect", "a connect, on top of the way there and back", opening(connect));
    part("resolve", "a name lookup", opening(resolve));
    let stalls = vec![
        ("connect", mixture(&stalls.connect), "[]", "a connect waits; modes by weight, each uniform from .. to"),
        ("answer", mixture(&stalls.answer), "[]", "the first bytes received after something was sent wait"),
        (
            "send",
            mixture(&stalls.send),
            "[]",
            "the first bytes sent after something was received wait; a datagram each",
        ),
    ];
    part("stall", "waits of whole operations, beside what the link does", stalls);
}

/// A table; its head is a comment too where nothing in it is set.
pub fn section(page: &mut Page, name: &str, about: &str, keys: Vec<Key>, fully: bool) {
    let any = keys.iter().any(|(_, value, ..)| value.is_some());
    if !any && !fully {
        return;
    }
    page.heading(&format!("{}[{name}]", if any { "" } else { "# " }), about);
    for (key, value, without, about) in keys {
        if fully || value.is_some() {
            page.key(key, value, without, about);
        }
    }
}

fn path(path: &Path) -> Vec<Key> {
    let Path { delay, rate, queue, loss, duplicate, reorder, offline } = path;
    let [base, jitter, distribution] = self::delay(delay);
    let (constant, trace) = match rate {
        Some(Rate::Constant(rate)) => (Some(format!("\"{}\"", units::rate_text(*rate))), None),
        Some(Rate::Trace(trace)) => (None, Some(list(trace.milliseconds.iter().map(u64::to_string)))),
        None => (None, None),
    };
    let some = |share: f64| (share > 0.0).then(|| units::share_text(share));
    vec![
        base,
        jitter,
        distribution,
        ("rate", constant, "no limit", "of payload, in bits or bytes a second"),
        ("trace", trace, "none", "a rate as a Mahimahi file, or these: ms at each of which 1500 B pass"),
        (
            "queue",
            queue.map(|bytes| format!("\"{}\"", units::bytes_text(bytes))),
            "\"256 KiB\"",
            "what may wait for the rate; datagrams beyond are dropped",
        ),
        ("loss", self::loss(*loss), "0", "share of datagrams, or a table for bursts; TCP: sent again later"),
        ("duplicate", some(*duplicate), "0", "share of datagrams that come twice"),
        ("reorder", some(*reorder), "0", "share of datagrams that skip the delay and overtake"),
        ("offline", offline.then(|| "true".to_owned()), "false", "nothing passes at all"),
    ]
}

fn delay(delay: &Delay) -> [Key; 3] {
    let Delay { base, jitter, distribution } = delay;
    let spread = match distribution {
        Distribution::Uniform => text("uniform"),
        Distribution::Normal => text("normal"),
        Distribution::Pareto => text("pareto"),
        Distribution::Table(numbers) => list(numbers.iter().map(f64::to_string)),
    };
    // Without a jitter there is nothing to spread, and the key would be refused.
    let jittered = !jitter.is_zero() || *distribution != Distribution::Uniform;
    [
        (
            "delay",
            (!base.is_zero()).then(|| time(*base)),
            "\"0 ms\"",
            "one way; rtt = \"..\" sets half of it for both ways",
        ),
        ("jitter", jittered.then(|| time(*jitter)), "\"0 ms\"", "how far delays differ from `delay`; at most that"),
        (
            "distribution",
            jittered.then_some(spread),
            "\"uniform\"",
            "of jitter: uniform, normal, pareto, or a list of numbers",
        ),
    ]
}

fn loss(loss: Loss) -> Option<String> {
    let share = units::share_text;
    match loss {
        Loss::None => None,
        Loss::Independent(of) => Some(share(of)),
        Loss::Bursts { good_to_bad, bad_to_good, loss_in_good, loss_in_bad } => {
            let bursts = bursts(good_to_bad, bad_to_good).filter(|_| (loss_in_good, loss_in_bad) == (0.0, 1.0));
            if let Some((of, length)) = bursts {
                return Some(format!("{{ share = {}, length = {length} }}", share(of)));
            }
            Some(format!(
                "{{ good-to-bad = {}, bad-to-good = {}, loss-in-good = {}, loss-in-bad = {} }}",
                share(good_to_bad),
                share(bad_to_good),
                share(loss_in_good),
                share(loss_in_bad)
            ))
        }
    }
}

/// The share and the mean length that give exactly these chances, if any do.
fn bursts(good_to_bad: f64, bad_to_good: f64) -> Option<(f64, f64)> {
    let length =
        shortest(1.0 / bad_to_good, |length| LENGTHS.contains(&length) && chances(0.0, length).1 == bad_to_good)?;
    let share = good_to_bad / (good_to_bad + bad_to_good);
    Some((shortest(share, |share| chances(share, length).0 == good_to_bad)?, length))
}

/// The number near this one with the fewest digits that fits: the one that somebody wrote.
fn shortest(value: f64, fits: impl Fn(f64) -> bool) -> Option<f64> {
    let rounded = |digits: usize| format!("{value:.digits$e}").parse().ok();
    (0..=f64::DIGITS as usize + 1).filter_map(rounded).find(|rounded| fits(*rounded))
}

fn opening(opening: &Opening) -> Vec<Key> {
    let Opening { delay, failure, how } = opening;
    let [base, jitter, distribution] = self::delay(delay);
    let base = (base.0, base.1, base.2, "until it is under way");
    let (way, timeout) = match how {
        Failure::Refused => ("refused", None),
        Failure::Unreachable => ("unreachable", None),
        Failure::Timeout(after) => ("timeout", Some(time(*after))),
    };
    // How it fails can be set without failing, as with a share of 0.
    let fails = *failure > 0.0 || *how != Failure::Refused;
    vec![
        base,
        jitter,
        distribution,
        ("failure", fails.then(|| units::share_text(*failure)), "0", "share that fails, after the delay"),
        ("how", fails.then(|| text(way)), "\"refused\"", "refused, unreachable or timeout"),
        ("timeout", timeout, "none", "after this the stack gives up, the delay included"),
    ]
}

fn mixture(Mixture(modes): &Mixture) -> Option<String> {
    let mode = |Mode { weight, from, to }: &Mode| {
        format!("    {{ weight = {weight}, from = {}, to = {} }},\n", time(*from), time(*to))
    };
    (!modes.is_empty()).then(|| format!("[\n{}]", modes.iter().map(mode).collect::<String>()))
}
