//! Names take long to look up, or are not found.

use super::side::{Numbered, listed, middle};
use super::{Found, Side};
use crate::report::connections::Lookup;
use crate::report::text::units::duration;

/// The shortest lookup that is worth a word, in nanoseconds, and by how much it exceeds the other run's.
const LONG: u64 = 10_000_000;
const FACTOR: u64 = 5;

/// The part of the samples' time that lookups take at least, in percent.
const LEAST_PERCENT: u128 = 10;

pub(super) fn recognise(suspect: &Side<'_>, other: &Side<'_>) -> Option<Found> {
    let phase = suspect.phases_like(&["resolve", "lookup", "dns"]).next().map(|(name, _)| name);
    // Of a run with several names nobody knows which sample a lookup was for.
    if phase.is_none() && !suspect.alone {
        return None;
    }
    failing(suspect, other).or_else(|| slow(suspect, other, phase))
}

fn slow(suspect: &Side<'_>, other: &Side<'_>, phase: Option<&str>) -> Option<Found> {
    let (took, usual) = match phase {
        Some(name) => (suspect.durations(Some(name)), other.durations(Some(name))),
        None => (lookups(suspect), lookups(other)),
    };
    let (time, before) = (middle(&took), middle(&usual));
    let spent: u128 = took.iter().map(|one| u128::from(one.ns)).sum();
    let whole = u128::from(suspect.named.times.mean()) * u128::from(suspect.named.times.n());
    if time < LONG || time < before.saturating_mul(FACTOR) || spent * 100 < whole * LEAST_PERCENT {
        return None;
    }
    let words = format!("looking up a name takes {}, where {} takes {}", duration(time), other.label, duration(before));
    Some(Found { words, evidence: vec![listed(phase.unwrap_or("lookup"), &took)] })
}

fn failing(suspect: &Side<'_>, other: &Side<'_>) -> Option<Found> {
    let failed = |side: &Side<'_>| side.report.lookups.iter().filter(|lookup| lookup.error.is_some()).count();
    if failed(suspect) == 0 || failed(other) > 0 || suspect.named.errors == 0 {
        return None;
    }
    let first = suspect.report.lookups.iter().find(|lookup| lookup.error.is_some())?;
    let why = first.error.as_deref().unwrap_or_default();
    Some(Found {
        words: format!(
            "{} of {} name lookups fail, none in {}",
            failed(suspect),
            suspect.report.lookups.len(),
            other.label
        ),
        evidence: vec![format!("{}: {why} after {}", first.name, duration(first.duration_ns))],
    })
}

fn lookups(side: &Side<'_>) -> Vec<Numbered> {
    let one = |(lookup, number): (&Lookup, u64)| Numbered { number, ns: lookup.duration_ns };
    side.report.lookups.iter().zip(1..).map(one).collect()
}
