//! The tables of what happened beneath the guest: sockets and name lookups.

use super::page::{BAD, Column, FAINT, HEAD, Line, PLAIN, Page};
use super::units::{bytes, count, duration};
use crate::report::connections::{Connection, End, Lookup, Role};
use crate::report::data::Report;

/// Sockets that are shown.
const SOCKETS: usize = 10;
/// Lookups that are shown.
const LOOKUPS: usize = 5;

pub fn connections(page: &mut Page, report: &Report) {
    let all = (report.connections.len() as u64).saturating_add(report.omitted.connections);
    if report.connections.is_empty() {
        return;
    }
    let head = ["#", "socket", "connect", "answer", "open", "sent", "received", "end"].map(str::to_owned);
    let rows = report.connections.iter().take(SOCKETS).map(row);
    page.gap();
    page.columns(
        &[
            Column::Right,
            Column::Rest,
            Column::Right,
            Column::Right,
            Column::Right,
            Column::Right,
            Column::Right,
            Column::Left,
        ],
        std::iter::once(Line::new(HEAD, head)).chain(rows).collect(),
    );
    more(page, all, SOCKETS, "sockets");
    let blocked =
        report.connections.iter().map(|socket| socket.send_would_blocks.saturating_add(socket.receive_would_blocks));
    let calls = report.connections.iter().map(Connection::calls).fold(0, u64::saturating_add);
    let blocked = blocked.fold(0, u64::saturating_add);
    page.line(FAINT, &format!("{} calls, {} of them would have blocked", count(calls), count(blocked)));
}

fn row(socket: &Connection) -> Line {
    let between = |from: Option<u64>, to: Option<u64>| match (from, to) {
        (Some(from), Some(to)) => duration(to.saturating_sub(from)),
        _ => "–".to_owned(),
    };
    let style = if socket.end == End::Failed { BAD } else { PLAIN };
    Line::new(
        style,
        [
            socket.id.to_string(),
            address(socket),
            between(socket.connect_start_ns, socket.connect_end_ns),
            // How long the peer took: from the first byte that was sent to the first that came back.
            between(
                socket.first_sent_ns,
                socket.first_received_ns.filter(|first| Some(*first) >= socket.first_sent_ns),
            ),
            between(Some(socket.opened_ns), socket.ended_ns),
            bytes(socket.sent_bytes),
            bytes(socket.received_bytes),
            end(socket),
        ],
    )
}

/// Whom it spoke to, or where it waited.
fn address(socket: &Connection) -> String {
    let local = socket.local.as_deref().unwrap_or("nowhere");
    let remote = socket.remote.as_deref();
    match (socket.role, remote) {
        (Role::Unused, _) => "unused".to_owned(),
        (Role::Listener, _) => format!("listens {local}"),
        (Role::Accepted, remote) => format!("from {}", remote.unwrap_or("nowhere")),
        (Role::Client, remote) => remote.unwrap_or("nowhere").to_owned(),
        (Role::Datagram, Some(remote)) => format!("udp {remote}"),
        (Role::Datagram, None) => format!("udp on {local}"),
    }
}

fn end(socket: &Connection) -> String {
    let word = match socket.end {
        End::Open => "still open",
        End::Closed => "closed",
        End::PeerClosed => "by peer",
        End::Acknowledged => "acknowledged",
        End::Background => "background",
        End::Reset => "cut",
        End::TimedOut => "linger over",
        End::Failed => return short(socket.error.as_deref().unwrap_or("failed")),
    };
    word.to_owned()
}

/// The network's word, in the width of a column.
fn short(error: &str) -> String {
    let error = error.strip_prefix("connection ").or_else(|| error.strip_prefix("remote ")).unwrap_or(error);
    let short: String = crate::report::words::printable(error).chars().take(12).collect();
    short.trim_end().to_owned()
}

pub fn lookups(page: &mut Page, report: &Report) {
    if report.lookups.is_empty() {
        return;
    }
    let all = (report.lookups.len() as u64).saturating_add(report.omitted.lookups);
    let head = Line::new(HEAD, ["lookup".to_owned(), "took".to_owned(), "answer".to_owned()]);
    let row = |lookup: &Lookup| {
        let (style, answer) = match &lookup.error {
            Some(error) => (BAD, error.clone()),
            None => (PLAIN, lookup.addresses.join(" ")),
        };
        Line::new(style, [lookup.name.clone(), duration(lookup.duration_ns), answer])
    };
    page.gap();
    page.columns(
        &[Column::Rest, Column::Right, Column::Rest],
        std::iter::once(head).chain(report.lookups.iter().take(LOOKUPS).map(row)).collect(),
    );
    more(page, all, LOOKUPS, "lookups");
}

fn more(page: &mut Page, all: u64, shown: usize, what: &str) {
    let more = all.saturating_sub(shown as u64);
    if more > 0 {
        page.line(FAINT, &format!("and {} more {what}", count(more)));
    }
}
