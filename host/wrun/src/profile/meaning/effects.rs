//! The effects of the file, of a rule or of an entry of a schedule.

use std::ops::Range;

use wrun_net::shape::profile::{Effects, Operation};

use super::notes::{HOUR, Notes};
use super::opening::opening;
use super::path::path;
use super::stalls::stalls;
use crate::profile::written;

pub fn effects(notes: &mut Notes<'_>, written: &written::Effects<'_>) -> Effects {
    // An unreadable one is noted; what depends on it is not to be blamed too.
    let round_trip = written.rtt.map(|rtt| notes.time(rtt).unwrap_or(HOUR));
    let up = round_trip.map(|time| time / 2);
    let down = round_trip.zip(up).map(|(time, up)| time - up);
    Effects {
        up: path(notes, up, written.both, written.up),
        down: path(notes, down, written.both, written.down),
        connect: opening(notes, written.connect),
        resolve: opening(notes, written.resolve),
        stalls: stalls(notes, written.stall),
        acknowledgement: written.acknowledgement.and_then(|time| notes.time(time)),
    }
}

/// An effect that was written.
pub struct Given {
    /// As in `stall.connect`.
    pub name: &'static str,
    pub span: Range<usize>,
    /// What it does something to.
    pub operations: &'static [Operation],
    /// It is for streams only.
    pub streams: bool,
}

/// Which effects were given.
pub fn given(written: &written::Effects<'_>) -> Vec<Given> {
    use Operation::{Connect, Receive, Resolve, Send};
    let stall = written.stall.map(toml::Spanned::get_ref);
    let stalls = stall.map(|stall| [&stall.connect, &stall.answer, &stall.send]);
    let stalls = stalls.map(|stalls| stalls.map(|modes| modes.as_ref().map(toml::Spanned::span)));
    let [connects, answers, sends] = stalls.unwrap_or_default();
    let all: [(&str, Option<Range<usize>>, &[Operation], bool); 10] = [
        ("rtt", written.rtt.map(|given| given.span()), &[Connect, Send, Receive], false),
        ("acknowledgement", written.acknowledgement.map(|given| given.span()), &[Send], true),
        ("both", written.both.map(|given| given.span()), &[Connect, Send, Receive], false),
        ("up", written.up.map(|given| given.span()), &[Connect, Send], false),
        ("down", written.down.map(|given| given.span()), &[Connect, Receive], false),
        ("connect", written.connect.map(|given| given.span()), &[Connect], true),
        ("resolve", written.resolve.map(|given| given.span()), &[Resolve], false),
        ("stall.connect", connects, &[Connect], true),
        ("stall.answer", answers, &[Receive], false),
        ("stall.send", sends, &[Send], false),
    ];
    let given = |(name, span, operations, streams): (_, Option<_>, _, _)| {
        Some(Given { name, span: span?, operations, streams })
    };
    all.into_iter().filter_map(given).collect()
}
