//! A send queue that fills and clears after a fixed time: sends that find no room, and then all wait equally long.

use super::side::{Numbered, listed, middle};
use super::{Found, Side};
use crate::report::text::units::{count, duration};

/// The shortest wait that is taken for one, in nanoseconds, and by how much it exceeds an ordinary send.
const LONG: u64 = 20_000_000;
const FACTOR: u64 = 10;

/// Waits that it takes, and how far from their middle they are at most, in percent.
const LEAST: usize = 3;
const EQUAL_PERCENT: u64 = 10;

pub(super) fn recognise(suspect: &Side<'_>, other: &Side<'_>) -> Option<Found> {
    let (blocks, usual) = (blocks(suspect), blocks(other));
    if blocks <= usual {
        return None;
    }
    let phase = suspect.phases_like(&["send", "write"]).next().map(|(name, _)| name);
    if phase.is_none() && !suspect.named.phases.is_empty() {
        return None;
    }
    let long = other.median(phase).saturating_mul(FACTOR).max(LONG);
    let waits: Vec<Numbered> = suspect.durations(phase).into_iter().filter(|one| one.ns >= long).collect();
    let time = middle(&waits);
    let equal = waits.iter().filter(|one| one.ns.abs_diff(time) <= time / 100 * EQUAL_PERCENT).count();
    if waits.len() < LEAST || equal * 5 < waits.len() * 4 {
        return None;
    }
    let what = phase.unwrap_or("the sample");
    Some(Found {
        words: format!(
            "{} sends wait, all for about {}: a send queue that is full and clears after that time",
            waits.len(),
            duration(time)
        ),
        evidence: vec![
            listed(what, &waits),
            format!("{} calls found no room to send, {} in {}", count(blocks), count(usual), other.label),
        ],
    })
}

/// Calls of a run that found no room to send.
fn blocks(side: &Side<'_>) -> u64 {
    side.report.connections.iter().fold(0, |sum, socket| sum.saturating_add(socket.send_would_blocks))
}
