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
    let effect = |name, span: Option<Range<usize>>, operations: &'static [Operation], streams| {
        Some(Given { name, span: span?, operations, streams })
    };
    let all = [
        effect("rtt", written.rtt.map(|given| given.span()), &[Connect, Send, Receive], false),
        effect("acknowledgement", written.acknowledgement.map(|given| given.span()), &[Send], true),
        effect("both", written.both.map(|given| given.span()), &[Connect, Send, Receive], false),
        effect("up", written.up.map(|given| given.span()), &[Connect, Send], false),
        effect("down", written.down.map(|given| given.span()), &[Connect, Receive], false),
        effect("connect", written.connect.map(|given| given.span()), &[Connect], true),
        effect("resolve", written.resolve.map(|given| given.span()), &[Resolve], false),
        effect("stall.connect", connects, &[Connect], true),
        effect("stall.answer", answers, &[Receive], false),
        effect("stall.send", sends, &[Send], false),
    ];
    all.into_iter().flatten().collect()
}
