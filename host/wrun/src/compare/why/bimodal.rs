//! A phase that has several modes where the other run's has one, or has none as late: something makes some of the samples
//! wait.

use super::side::{Numbered, like, listed};
use super::{Found, Side};
use crate::compare::series::Series;
use crate::compare::{modes, words};
use crate::report::text::units::duration;

/// The part of a sample's mean, in percent, that the longest mode takes at least: others are not worth a word.
const LEAST_PERCENT: u64 = 10;

pub(super) fn recognise(suspect: &Side<'_>, other: &Side<'_>) -> Option<Found> {
    let mean = suspect.named.times.mean();
    let candidates = suspect.named.phases.iter().filter_map(|(name, series)| {
        let modes = modes::modes(series);
        let longest = *modes.last()?;
        let heavy = u128::from(longest.median_ns) * 100 >= u128::from(mean) * u128::from(LEAST_PERCENT);
        // Modes of another size say nothing about this one: microseconds fall apart on the quietest machine.
        let out_of_reach = |series: &Series| series.max().saturating_mul(2) < longest.min_ns;
        let plain = |series: &Series| out_of_reach(series) || modes::modes(series).is_empty();
        let plain = other.named.phase(name).is_none_or(plain);
        (heavy && plain).then_some((name, modes, longest))
    });
    let (name, modes, longest) = candidates.max_by_key(|(_, _, longest)| longest.median_ns)?;
    let meaning = match () {
        () if like(name, &["wait", "first"]) => {
            "some answers begin late: the peer, or the stack on the way, holds them back"
        }
        () if like(name, &["connect", "tls"]) => "some connections are slow to come about",
        () if like(name, &["send", "write"]) => "some sends are held up",
        () => "something holds some of them up",
    };
    let late: Vec<Numbered> =
        suspect.durations(Some(name)).into_iter().filter(|one| one.ns >= longest.min_ns).collect();
    let evidence = if late.is_empty() { "counted in a histogram".to_owned() } else { listed(name, &late) };
    let usual = match other.named.phase(name) {
        Some(series) => format!("in {} {name} takes {} at most", other.label, duration(series.max())),
        None => format!("{} has no {name}", other.label),
    };
    Some(Found { words: format!("{name} is {}: {meaning}", words::modes(&modes)), evidence: vec![evidence, usual] })
}
