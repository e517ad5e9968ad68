//! A rate limit: connections that move very different amounts, or the same again and again, all at the same bytes a second.

use super::{Found, Side};
use crate::report::connections::Connection;
use crate::report::text::units::{self, bytes, count, duration};

/// A connection's transfer counts from so many calls and nanoseconds on: shorter ones say nothing of a rate.
const CALLS: u64 = 4;
const LONG: u64 = 20_000_000;

/// Connections that it takes, how far from their middle rate they are at most, in percent, and by how much the other
/// run is faster.
const LEAST: usize = 4;
const EQUAL_PERCENT: f64 = 10.0;
const FACTOR: f64 = 2.0;

/// One direction of a connection.
struct Transfer {
    number: u64,
    bytes: u64,
    ns: u64,
}

impl Transfer {
    /// Bytes a second.
    fn rate(&self) -> f64 {
        self.bytes as f64 * 1e9 / (self.ns.max(1)) as f64
    }
}

pub(super) fn recognise(suspect: &Side<'_>, other: &Side<'_>) -> Option<Found> {
    if !suspect.alone {
        return None;
    }
    limit(suspect, other, "receive", received).or_else(|| limit(suspect, other, "send", sent))
}

fn limit(suspect: &Side<'_>, other: &Side<'_>, way: &str, of: fn(&Connection) -> Option<Transfer>) -> Option<Found> {
    let transfers = |side: &Side<'_>| side.report.connections.iter().filter_map(of).collect::<Vec<_>>();
    let (all, others) = (transfers(suspect), transfers(other));
    let long: Vec<&Transfer> = all.iter().filter(|transfer| transfer.ns >= LONG).collect();
    let rate = middle(long.iter().map(|transfer| transfer.rate()))?;
    let usual = middle(others.iter().map(Transfer::rate));
    let equal = long.iter().filter(|transfer| (transfer.rate() / rate - 1.0).abs() * 100.0 <= EQUAL_PERCENT).count();
    let most = long.len() * 2 > all.len() && long.len() >= LEAST && equal * 10 >= long.len() * 9;
    if !most || usual.is_some_and(|usual| usual < rate * FACTOR) {
        return None;
    }
    let per_second = |rate: f64| units::rate(rate as u64);
    let shown = long
        .iter()
        .take(4)
        .map(|one| format!("socket {}: {} in {}", count(one.number), bytes(one.bytes), duration(one.ns)));
    let before = usual.map_or_else(|| "as fast as it can".to_owned(), per_second);
    Some(Found {
        words: format!(
            "{} connections {way} about {}, each as much as the others: a rate limit",
            long.len(),
            per_second(rate)
        ),
        evidence: vec![shown.collect::<Vec<_>>().join(", "), format!("{}: {before}", other.label)],
    })
}

fn received(socket: &Connection) -> Option<Transfer> {
    let ns = socket.last_received_ns?.checked_sub(socket.first_received_ns?)?;
    (socket.receives >= CALLS).then_some(Transfer { number: socket.id, bytes: socket.received_bytes, ns })
}

fn sent(socket: &Connection) -> Option<Transfer> {
    let ns = socket.last_sent_ns?.checked_sub(socket.first_sent_ns?)?;
    (socket.sends >= CALLS).then_some(Transfer { number: socket.id, bytes: socket.sent_bytes, ns })
}

fn middle(rates: impl Iterator<Item = f64>) -> Option<f64> {
    let mut rates: Vec<f64> = rates.collect();
    rates.sort_unstable_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().filter(|rate| *rate > 0.0)
}
