//! A phase that has several modes where the other run's has one, or has none as late: something makes some of the samples
//! wait.

use super::side::{Numbered, like, listed};
use super::{Found, Side};
use crate::compare::series::Series;
use crate::compare::{modes, words};
use crate::report::text::units::duration;

/// The part of a sample's mean, in percent, that the longest mode takes at least: others are not worth a word.
const LEAST_PERCENT: u64 = 10;

/// How many times as long as the shortest mode the longest is at least: modes that are closer are those of a timer.
const FACTOR: u64 = 2;

pub(super) fn recognise(suspect: &Side<'_>, other: &Side<'_>) -> Option<Found> {
    let named = suspect.named;
    let phases = named.phases.iter().map(|(name, series)| (Some(&**name), series));
    let whole = named.phases.is_empty().then_some((None, &named.times));
    let candidates = phases.chain(whole).filter_map(|(phase, series)| {
        let modes = modes::modes(series);
        let longest = *modes.last()?;
        let heavy = u128::from(longest.median_ns) * 100 >= u128::from(named.times.mean()) * u128::from(LEAST_PERCENT);
        let far = longest.median_ns / FACTOR >= modes[0].median_ns;
        // Modes of another size say nothing about this one: microseconds fall apart on the quietest machine.
        let shorter = |series: &Series| series.max().saturating_mul(FACTOR) < longest.min_ns;
        let plain = other.series(phase).is_none_or(|series| shorter(series) || modes::modes(series).is_empty());
        (heavy && far && plain).then_some((phase, modes, longest))
    });
    let (phase, modes, longest) = candidates.max_by_key(|(_, _, longest)| longest.median_ns)?;
    let what = phase.unwrap_or("the sample");
    let late: Vec<Numbered> = suspect.durations(phase).into_iter().filter(|one| one.ns >= longest.min_ns).collect();
    let evidence = if late.is_empty() { "counted in a histogram".to_owned() } else { listed(what, &late) };
    let usual = match other.series(phase) {
        Some(series) => format!("in {} {what} takes {} at most", other.label, duration(series.max())),
        None => format!("{} has no {what}", other.label),
    };
    let words = format!("{what} is {}: {}", words::modes(&modes), meaning(phase.unwrap_or_default()));
    Some(Found { words, evidence: vec![evidence, usual] })
}

/// What several modes of a phase mean, as far as its name tells.
fn meaning(phase: &str) -> &'static str {
    if like(phase, &["wait", "first"]) {
        "some answers begin late: the peer, or the stack on the way, holds them back"
    } else if like(phase, &["connect", "tls"]) {
        "some connections are slow to come about"
    } else if like(phase, &["send", "write"]) {
        "some sends are held up"
    } else {
        "something holds some of them up"
    }
}
