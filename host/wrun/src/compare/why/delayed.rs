//! Waits of 40 or 200 ms: a small write that waits for the acknowledgement of the one before (Nagle's algorithm), which the peer
//! keeps back. Linux keeps it for 40 ms at least, others for 200.

use super::side::{Numbered, like, listed};
use super::{Found, Side};

/// How long one is kept back, and what that shows as, in milliseconds: timers are late by up to two ticks of 4 ms, never early
/// by much.
const STEPS: [(u64, u64, u64); 2] = [(40, 39, 48), (200, 195, 212)];

/// Samples with the step, and their share in percent, that it takes.
const LEAST: usize = 4;
const LEAST_PERCENT: usize = 30;

/// What sends no small writes.
const OTHERS: [&str; 4] = ["connect", "resolve", "lookup", "close"];

pub(super) fn recognise(suspect: &Side<'_>, other: &Side<'_>) -> Option<Found> {
    // Without Nagle's algorithm nothing waits for an acknowledgement.
    if suspect.setting("no-delay") == Some("true") {
        return None;
    }
    let phases = suspect
        .named
        .phases
        .iter()
        .map(|(name, _)| Some(&**name))
        .filter(|name| !name.is_some_and(|name| like(name, &OTHERS)));
    let phases: Vec<Option<&str>> = if suspect.named.phases.is_empty() { vec![None] } else { phases.collect() };
    let candidates = phases.into_iter().flat_map(|phase| STEPS.map(|step| (phase, step)));
    let found = candidates.filter_map(|(phase, step)| Some((phase, step.0, steps(suspect, other, phase, step)?)));
    let (phase, step, hits) = found.max_by_key(|(_, _, hits)| hits.len())?;
    let what = phase.unwrap_or("the sample");
    Some(Found {
        words: format!(
            "{what} takes {step} ms in {} of {}: as long as an acknowledgement is kept back that the next small write waits for; \
             try --no-delay",
            hits.len(),
            suspect.durations(phase).len()
        ),
        evidence: vec![listed(what, &hits), format!("none of {} has the step", other.label)],
    })
}

/// The durations at a step, where they are many, close together, and the other run has none.
fn steps(
    suspect: &Side<'_>,
    other: &Side<'_>,
    phase: Option<&str>,
    (_, from, to): (u64, u64, u64),
) -> Option<Vec<Numbered>> {
    let (from, to) = (from * 1_000_000, to * 1_000_000);
    // The wait comes on top of what the phase takes anyway.
    let usual = other.median(phase);
    let at = |one: &Numbered| [one.ns, one.ns.saturating_sub(usual)].iter().any(|ns| (from..=to).contains(ns));
    let width = to - from;
    let near = |one: &Numbered| {
        let range = from.saturating_sub(3 * width)..=to + 3 * width;
        !at(one) && (range.contains(&one.ns) || range.contains(&one.ns.saturating_sub(usual)))
    };
    let durations = suspect.durations(phase);
    let hits: Vec<Numbered> = durations.iter().filter(|one| at(one)).copied().collect();
    let around = durations.iter().filter(|one| near(one)).count();
    let elsewhere = other.durations(phase).iter().filter(|one| at(one)).count();
    let many = hits.len() >= LEAST && hits.len() * 100 >= durations.len() * LEAST_PERCENT;
    (many && around * 4 <= hits.len() && elsewhere == 0).then_some(hits)
}
