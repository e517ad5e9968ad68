//! Closing takes long: the stack waits until everything is acknowledged, or until the linger time has passed.

use std::collections::BTreeMap;

use super::side::{Numbered, listed, middle};
use super::{Found, Side};
use crate::report::connections::{Connection, End};
use crate::report::text::units::{count, duration};

/// The shortest close that is taken for a lingering one, in nanoseconds, and by how much it exceeds the other run's.
const LONG: u64 = 20_000_000;
const FACTOR: u64 = 10;

/// Closes that it takes, and their share in percent.
const LEAST: usize = 3;
const LEAST_PERCENT: usize = 30;

pub(super) fn recognise(suspect: &Side<'_>, other: &Side<'_>) -> Option<Found> {
    let (closes, usual) = (closes(suspect), closes(other));
    if usual.is_empty() {
        return None;
    }
    let long = middle(&usual).saturating_mul(FACTOR).max(LONG);
    let lingering: Vec<Numbered> = closes.iter().filter(|one| one.ns >= long).copied().collect();
    if lingering.len() < LEAST || lingering.len() * 100 < closes.len() * LEAST_PERCENT {
        return None;
    }
    let mut evidence = vec![listed("close", &lingering)];
    let ends = ends(&suspect.report.connections);
    if !ends.is_empty() {
        evidence.push(format!("sockets ended {ends}"));
    }
    let (some, all) = (lingering.len(), closes.len());
    let (time, before) = (duration(middle(&lingering)), duration(middle(&usual)));
    Some(Found {
        words: format!("{some} of {all} closes linger for about {time}, where {} takes {before}", other.label),
        evidence,
    })
}

/// The closes of the samples; of a run with no other name and no such phase, the explicit ones of its sockets.
fn closes(side: &Side<'_>) -> Vec<Numbered> {
    match side.phases_like(&["close"]).next() {
        Some((name, _)) => side.durations(Some(name)),
        None if side.alone => {
            let close = |socket: &Connection| Some(Numbered { number: socket.id, ns: socket.close_took_ns? });
            side.report.connections.iter().filter_map(close).collect()
        }
        None => Vec::new(),
    }
}

/// How explicit closes ended, each with its count.
fn ends(sockets: &[Connection]) -> String {
    let word = |end| match end {
        End::Acknowledged => Some("acknowledged"),
        End::Background => Some("in the background"),
        End::Reset => Some("by a reset"),
        End::TimedOut => Some("timed out"),
        End::Open | End::Closed | End::PeerClosed | End::Failed => None,
    };
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    sockets.iter().filter_map(|socket| word(socket.end)).for_each(|word| *counts.entry(word).or_default() += 1);
    counts.iter().map(|(word, times)| format!("{word} ×{}", count(*times))).collect::<Vec<_>>().join(", ")
}
