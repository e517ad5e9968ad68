//! A coarse clock, or waits in its steps: every duration is about a multiple of a tick.

use std::collections::BTreeMap;

use super::side::Numbered;
use super::{Found, Side};
use crate::report::text::units::{count, duration};

/// Ticks of clocks and of polling loops, in nanoseconds, the longest first: 100 ms, 50, 20, 64 Hz, 10, 1.
const TICKS: [u64; 6] = [100_000_000, 50_000_000, 20_000_000, 15_625_000, 10_000_000, 1_000_000];

/// How far from a multiple a duration may be, as a part of the tick. Of durations of any length, 6 of 100 are as near.
const NEAR: u64 = 33;

/// Durations that it takes, and how many different multiples they are at least.
const LEAST: u64 = 8;
const DIFFERENT: usize = 3;

pub(super) fn recognise(suspect: &Side<'_>, other: &Side<'_>) -> Option<Found> {
    let tick = TICKS.into_iter().find(|tick| multiples(&suspect.durations(None), *tick).is_some())?;
    if multiples(&other.durations(None), tick).is_some() {
        return None;
    }
    let multiples = multiples(&suspect.durations(None), tick)?;
    let counts: Vec<String> = multiples
        .iter()
        .take(8)
        .map(|(multiple, times)| format!("{} ×{}", duration(multiple * tick), count(*times)))
        .collect();
    Some(Found {
        words: format!(
            "every duration is about a multiple of {}: a coarse clock, or a loop that looks that often",
            duration(tick)
        ),
        evidence: vec![format!("multiples: {}", counts.join(", ")), format!("those of {} are not", other.label)],
    })
}

/// How often each multiple of a tick occurs, if all durations are near one, be it zero: what is over before the next tick.
fn multiples(durations: &[Numbered], tick: u64) -> Option<BTreeMap<u64, u64>> {
    let mut multiples = BTreeMap::new();
    for one in durations {
        let multiple = one.ns.saturating_add(tick / 2) / tick;
        if one.ns.abs_diff(multiple.saturating_mul(tick)) > tick / NEAR {
            return None;
        }
        *multiples.entry(multiple).or_default() += 1;
    }
    // What is about zero is a multiple of every tick, and speaks for none.
    let (times, different) =
        multiples.range(1..).fold((0, 0), |(times, different), (_, count)| (times + count, different + 1));
    (times >= LEAST && different >= DIFFERENT).then_some(multiples)
}
