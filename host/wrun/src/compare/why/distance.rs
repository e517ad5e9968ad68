//! A longer path: whatever goes there and comes back takes longer, connecting and waiting for an answer by the same time.

use super::side::{Numbered, middle};
use super::{Found, Side};
use crate::report::text::units::duration;

/// The shortest lengthening that is worth a word, in nanoseconds.
const LONG: u64 = 1_000_000;

/// Durations of each that it takes.
const LEAST: usize = 6;

/// By how much less the one may have grown than the other, in percent of it.
const ALIKE_PERCENT: u128 = 25;

/// A path lengthens them all: so many of a hundred have grown by half of that at least, and not by twice as much.
const MOST_PERCENT: usize = 75;

pub(super) fn recognise(suspect: &Side<'_>, other: &Side<'_>) -> Option<Found> {
    let connect = Grown::of(suspect.connects(), other.connects())?;
    let wait = Grown::of(suspect.answers(), other.answers())?;
    let (less, more) = (connect.by.min(wait.by), connect.by.max(wait.by));
    if u128::from(less) * 100 < u128::from(more) * (100 - ALIKE_PERCENT) {
        return None;
    }
    let [by, connect_by, wait_by] = [less.midpoint(more), connect.by, wait.by].map(duration);
    Some(Found {
        words: format!(
            "each round trip takes about {by} longer: connect +{connect_by}, wait +{wait_by}: a longer path"
        ),
        evidence: vec![format!("connect {}, wait {} (medians)", connect.words(), wait.words())],
    })
}

/// Durations that have all grown by about the same.
struct Grown {
    before: u64,
    after: u64,
    by: u64,
}

impl Grown {
    fn of(after: Vec<Numbered>, before: Vec<Numbered>) -> Option<Self> {
        if after.len().min(before.len()) < LEAST {
            return None;
        }
        let (usual, now) = (middle(&before), middle(&after));
        let by = now.checked_sub(usual).filter(|by| *by >= LONG)?;
        let range = usual.saturating_add(by / 2)..=usual.saturating_add(by.saturating_mul(2));
        let alike = after.iter().filter(|one| range.contains(&one.ns)).count();
        (alike * 100 >= after.len() * MOST_PERCENT).then_some(Self { before: usual, after: now, by })
    }

    fn words(&self) -> String {
        format!("{} → {}", duration(self.before), duration(self.after))
    }
}
