//! What a report says of a profile: what it was set to do, beside what it did.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wrun_net::shape::profile::{OPPORTUNITY, Path, Profile, Rate};
use wrun_net::throttled::{Account, Occurrences, PathAccount, QuirkAccount};

use super::connections::nanoseconds;

/// The impairment of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// The whole profile in effect, as the TOML that it can be run from again.
    pub profile: String,
    /// Each way that something took, by the rules of the profile.
    pub paths: Vec<PathFigures>,
    /// What the board's quirks did, those that showed.
    pub quirks: Vec<Quirk>,
}

/// One direction of the traffic of one rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathFigures {
    /// The rule's name in the profile.
    pub rule: String,
    pub way: Way,
    /// What was set; more than one entry where a schedule changes it.
    pub configured: Vec<Configured>,
    pub achieved: Achieved,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// From the guest to its peers.
    Up,
    /// From its peers to the guest.
    Down,
}

/// What a profile sets a path to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Configured {
    /// How long, before the next entry; null: for the whole run.
    pub lasts_ns: Option<u64>,
    /// One way.
    pub delay_ns: u64,
    pub jitter_ns: u64,
    /// Bytes a second, the mean of a trace; null: without limit.
    pub rate_bytes: Option<u64>,
    /// The share that is lost, of all, bursts included.
    pub loss: f64,
    pub duplicate: f64,
    pub reorder: f64,
    /// Nothing passes.
    pub offline: bool,
}

/// What a path did. Of several runs, counts add up, and of delays the longest are told and of rates the lowest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Achieved {
    /// How often something was sent: datagrams, and segments of TCP streams, these again each time one was sent again.
    pub count: u64,
    /// Of payload, each once.
    pub bytes: u64,
    /// Of `count`, by chance.
    pub lost: u64,
    /// For want of room in the queue.
    pub overflowed: u64,
    pub duplicated: u64,
    pub reordered: u64,
    /// Without the waiting for the rate.
    pub median_delay_ns: Option<u64>,
    pub p99_delay_ns: Option<u64>,
    /// How late the timer was: part of the delays above.
    pub median_late_ns: Option<u64>,
    pub p99_late_ns: Option<u64>,
    /// Bytes a second, while something waited for the rate; null where nothing did.
    pub rate_bytes: Option<u64>,
}

/// A quirk of the board that showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quirk {
    /// As in `answer-stalls`.
    pub name: String,
    pub count: u64,
    /// How long it took in all; null for what takes no time.
    pub total_ns: Option<u64>,
}

impl Throttle {
    /// The figures of a profile, whose text this is.
    pub fn of(text: &str, profile: &Profile, account: &Account) -> Self {
        let paths = account.paths.iter().map(|path| PathFigures::of(profile, path)).collect();
        Self { profile: text.to_owned(), paths, quirks: quirks(&account.quirks) }
    }
}

impl Throttle {
    /// With the figures of a later run of the same profile.
    pub(super) fn followed_by(mut self, later: Self) -> Self {
        for path in later.paths {
            match self.paths.iter_mut().find(|earlier| (&earlier.rule, earlier.way) == (&path.rule, path.way)) {
                Some(earlier) => earlier.achieved.add(&path.achieved),
                None => self.paths.push(path),
            }
        }
        for quirk in later.quirks {
            match self.quirks.iter_mut().find(|earlier| earlier.name == quirk.name) {
                Some(earlier) => {
                    earlier.count = earlier.count.saturating_add(quirk.count);
                    earlier.total_ns =
                        earlier.total_ns.zip(quirk.total_ns).map(|(earlier, later)| earlier.saturating_add(later));
                }
                None => self.quirks.push(quirk),
            }
        }
        self
    }
}

impl PathFigures {
    fn of(profile: &Profile, account: &PathAccount) -> Self {
        let rule = profile.rules.iter().find(|rule| rule.name == account.rule);
        let regimes = rule.map(|rule| rule.regimes.as_slice()).unwrap_or_default();
        let one = regimes.len() == 1;
        let configured = regimes.iter().map(|regime| {
            let path = match account.way {
                wrun_net::throttled::Way::Up => &regime.effects.up,
                wrun_net::throttled::Way::Down => &regime.effects.down,
            };
            Configured::of(path, (!one).then_some(regime.lasts))
        });
        Self {
            rule: account.rule.clone(),
            way: match account.way {
                wrun_net::throttled::Way::Up => Way::Up,
                wrun_net::throttled::Way::Down => Way::Down,
            },
            configured: configured.collect(),
            achieved: Achieved::of(account),
        }
    }
}

impl Configured {
    fn of(path: &Path, lasts: Option<Duration>) -> Self {
        Self {
            lasts_ns: lasts.map(nanoseconds),
            delay_ns: nanoseconds(path.delay.base),
            jitter_ns: nanoseconds(path.delay.jitter),
            rate_bytes: path.rate.as_ref().map(mean_rate),
            loss: path.loss.mean(),
            duplicate: path.duplicate,
            reorder: path.reorder,
            offline: path.offline,
        }
    }
}

/// Bytes a second in the long run.
fn mean_rate(rate: &Rate) -> u64 {
    match rate {
        Rate::Constant(bytes) => *bytes,
        Rate::Trace(trace) => {
            let lasts = trace.milliseconds.last().copied().unwrap_or_default().max(1);
            (trace.milliseconds.len() as u64).saturating_mul(OPPORTUNITY).saturating_mul(1000) / lasts
        }
    }
}

impl Achieved {
    fn of(account: &PathAccount) -> Self {
        let busy = account.busy.as_nanos();
        let rate = (u128::from(account.busy_bytes) * 1_000_000_000).checked_div(busy);
        Self {
            count: account.count,
            bytes: account.bytes,
            lost: account.lost,
            overflowed: account.overflowed,
            duplicated: account.duplicated,
            reordered: account.reordered,
            median_delay_ns: account.median_delay.map(nanoseconds),
            p99_delay_ns: account.p99_delay.map(nanoseconds),
            median_late_ns: account.median_late.map(nanoseconds),
            p99_late_ns: account.p99_late.map(nanoseconds),
            rate_bytes: rate.map(|rate| u64::try_from(rate).unwrap_or(u64::MAX)),
        }
    }

    fn add(&mut self, later: &Self) {
        for (sum, more) in [
            (&mut self.count, later.count),
            (&mut self.bytes, later.bytes),
            (&mut self.lost, later.lost),
            (&mut self.overflowed, later.overflowed),
            (&mut self.duplicated, later.duplicated),
            (&mut self.reordered, later.reordered),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.median_delay_ns = self.median_delay_ns.max(later.median_delay_ns);
        self.p99_delay_ns = self.p99_delay_ns.max(later.p99_delay_ns);
        self.median_late_ns = self.median_late_ns.max(later.median_late_ns);
        self.p99_late_ns = self.p99_late_ns.max(later.p99_late_ns);
        self.rate_bytes = match (self.rate_bytes, later.rate_bytes) {
            (Some(earlier), Some(later)) => Some(earlier.min(later)),
            (earlier, later) => earlier.or(later),
        };
    }
}

/// Those that showed, in a fixed order.
fn quirks(account: &QuirkAccount) -> Vec<Quirk> {
    let lasting = |name, Occurrences { count, total }| (name, count, Some(nanoseconds(total)));
    [
        lasting("connect-stalls", account.connect_stalls),
        lasting("answer-stalls", account.answer_stalls),
        lasting("send-stalls", account.send_stalls),
        lasting("held-sends", account.held_sends),
        lasting("full-queues", account.full_queues),
        lasting("closes-stalled", account.closes_stalled),
        ("closes-reset", account.closes_reset, None),
        ("connects-failed", account.connects_failed, None),
        ("lookups-failed", account.lookups_failed, None),
        ("sockets-refused", account.sockets_refused, None),
        ("options-refused", account.options_refused, None),
    ]
    .into_iter()
    .filter(|(_, count, _)| *count > 0)
    .map(|(name, count, total_ns)| Quirk { name: name.to_owned(), count, total_ns })
    .collect()
}

#[cfg(test)]
mod tests {
    use wrun_net::shape::profile::Trace;

    use super::*;

    #[test]
    fn the_rate_of_a_trace_is_its_mean() {
        let trace = Trace { milliseconds: vec![1, 1, 500, 2000] };
        assert_eq!(mean_rate(&Rate::Trace(trace)), 3000);
    }
}
