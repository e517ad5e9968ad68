//! Connects of 1, 3, 7 or 15 s: the first segment was lost and sent again, each time after twice the time before.

use super::side::{Numbered, listed};
use super::{Found, Side};

/// After how many milliseconds all told a first segment was sent the second, third, .. time.
const STEPS: [u64; 4] = [1_000, 3_000, 7_000, 15_000];

/// How much earlier, and how much later than the other run's connects, an answer to one may come, in nanoseconds.
const EARLY: u64 = 10_000_000;
const LATE: u64 = 120_000_000;

/// Connects with a retry that it takes.
const LEAST: usize = 3;

pub(super) fn recognise(suspect: &Side<'_>, other: &Side<'_>) -> Option<Found> {
    let (connects, usual) = (suspect.connects(), other.connects());
    let typical = super::side::middle(&usual);
    let step = |one: &Numbered| {
        STEPS.iter().find(|step| {
            let at = **step * 1_000_000;
            (at - EARLY..=at.saturating_add(LATE).saturating_add(typical)).contains(&one.ns)
        })
    };
    let long: Vec<Numbered> = connects.iter().filter(|one| one.ns >= STEPS[0] * 1_000_000 - EARLY).copied().collect();
    let hits: Vec<Numbered> = long.iter().filter(|one| step(one).is_some()).copied().collect();
    // Where the long ones are of any length, some will fall on a step.
    if hits.len() < LEAST || hits.len() * 5 < long.len() * 4 || usual.iter().any(|one| step(one).is_some()) {
        return None;
    }
    Some(Found {
        words: format!(
            "{} of {} connects take 1, 3, 7 or 15 s: their first segments were lost and sent again",
            hits.len(),
            connects.len()
        ),
        evidence: vec![listed("connect", &hits), format!("none in {}", other.label)],
    })
}
