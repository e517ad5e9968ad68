//! What the board's stack is like.

use toml::Spanned;
use wrun_net::OptionKind;
use wrun_net::shape::profile::{Board, Linger, LingerOption, Network, SendQueue, WithoutLinger};

use super::matching::{NETWORKS, network};
use super::notes::{HOUR, Notes};
use crate::profile::given::{Given, List};
use crate::profile::written;

/// Sockets that a board may be said to have, and datagrams in a queue.
const MOST: u64 = 1_000_000;

/// Kinds of destinations.
const KINDS: usize = 16;

pub const LINGER_OPTIONS: [(&str, LingerOption); 3] = [
    ("honoured", LingerOption::Honoured),
    ("ignored", LingerOption::Ignored),
    ("not-supported", LingerOption::NotSupported),
];

/// What a close without linger does, before it is known for how long.
#[derive(Clone, Copy, PartialEq)]
enum Without {
    Background,
    Stall,
    Reset,
}

pub fn board(notes: &mut Notes<'_>, written: &written::Board) -> Board {
    let sockets = written.sockets.as_ref().and_then(|given| whole(notes, given, "a number of sockets", 1));
    let receive = written.receive.as_ref().and_then(|given| notes.bytes(given));
    let help = "write the step of the clock, or leave it out";
    Board {
        sockets,
        receive: receive.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
        unsupported: unsupported(notes, written),
        tick: written.tick.as_ref().and_then(|given| notes.lasting(given, HOUR, help)),
        linger: written.linger.as_ref().map(|written| linger(notes, written)).unwrap_or_default(),
        send_queue: written.send_queue.as_ref().map(|written| send_queue(notes, written)),
    }
}

fn whole(notes: &mut Notes<'_>, given: &Given, what: &str, least: u64) -> Option<u32> {
    notes.whole(given, what, least..=MOST).and_then(|number| u32::try_from(number).ok())
}

fn unsupported(notes: &mut Notes<'_>, written: &written::Board) -> Vec<OptionKind> {
    let names = OptionKind::ALL.map(|kind| (kind.to_string(), kind));
    let words: Vec<_> = names.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
    let given = written.unsupported.as_ref().map(Spanned::get_ref).map(|list| &list[..]).unwrap_or_default();
    let mut kinds = Vec::new();
    for given in given {
        let Some(kind) = notes.word(given, "socket option", &words) else { continue };
        if kinds.contains(&kind) {
            notes.note(given.span(), format!("`{kind}` twice"), "write it once");
        }
        let contradicted = match kind {
            OptionKind::Linger => written.linger.as_ref().and_then(|linger| linger.option.as_ref()).map(Spanned::span),
            OptionKind::SendQueue => written.send_queue.as_ref().map(Spanned::span),
            _ => None,
        };
        if let Some(span) = contradicted {
            let help = "unsupported has it already, and answers not-supported: write one or the other";
            notes.note(span, format!("something about `{kind}`, which is unsupported"), help);
        }
        kinds.push(kind);
    }
    kinds
}

fn linger(notes: &mut Notes<'_>, written: &written::Linger) -> Linger {
    let words = [("background", Without::Background), ("stall", Without::Stall), ("reset", Without::Reset)];
    let without = written.without.as_ref().and_then(|given| notes.word(given, "way to close", &words));
    let without = match (without.unwrap_or(Without::Background), &written.stall) {
        (Without::Stall, Some(given)) => {
            let time = notes.lasting(given, HOUR, "write how long the close takes");
            WithoutLinger::Stall(time.unwrap_or(HOUR))
        }
        (other, Some(given)) => {
            notes.note(given.span(), "a time for a close that does not stall", "write without = \"stall\" with it");
            if other == Without::Reset { WithoutLinger::Reset } else { WithoutLinger::Background }
        }
        (Without::Stall, None) => {
            if let Some(without) = &written.without {
                notes.note(
                    without.span(),
                    "a close that stalls nobody knows how long",
                    "write stall = \"3 s\" with it",
                );
            }
            WithoutLinger::Background
        }
        (Without::Reset, None) => WithoutLinger::Reset,
        (Without::Background, None) => WithoutLinger::Background,
    };
    let option = written.option.as_ref().and_then(|given| notes.word(given, "way to treat linger", &LINGER_OPTIONS));
    Linger { without, option: option.unwrap_or_default() }
}

fn send_queue(notes: &mut Notes<'_>, written: &Spanned<written::SendQueue>) -> SendQueue {
    let written::SendQueue { depth, max_depth, clears_after, kinds } = written.get_ref();
    if depth.is_none() || clears_after.is_none() {
        let help = "write depth = 2 (datagrams) and clears-after = \"3 s\"";
        notes.note(written.span(), "a send queue without its depth or the time after which it clears", help);
    }
    let depth = depth.as_ref().and_then(|given| whole(notes, given, "a number of datagrams", 1)).unwrap_or(1);
    let max_depth =
        max_depth.as_ref().and_then(|given| whole(notes, given, "a number of datagrams from `depth` on", depth.into()));
    let help = "a queue that clears at once never fills: write a longer time, or no send queue";
    let clears_after = clears_after.as_ref().and_then(|given| notes.lasting(given, HOUR, help)).unwrap_or(HOUR);
    let kinds = kinds.as_ref().map(|kinds| self::kinds(notes, kinds)).unwrap_or_default();
    SendQueue { depth, max_depth: max_depth.unwrap_or(depth), clears_after, kinds }
}

fn kinds(notes: &mut Notes<'_>, written: &Spanned<List<Spanned<List<Given>>>>) -> Vec<Vec<Network>> {
    let mut kinds: Vec<Vec<Network>> = Vec::new();
    if written.get_ref().len() > KINDS {
        notes.note(written.span(), format!("{} kinds", written.get_ref().len()), format!("at most {KINDS}"));
    }
    for kind in written.get_ref().iter().take(KINDS) {
        if kind.get_ref().is_empty() {
            notes.note(kind.span(), "a kind of nobody", "write its addresses, or leave it out");
        }
        let mut networks = Vec::new();
        if kind.get_ref().len() > NETWORKS {
            notes.note(
                kind.span(),
                format!("a kind of {} addresses", kind.get_ref().len()),
                format!("at most {NETWORKS}"),
            );
        }
        for given in kind.get_ref().iter().take(NETWORKS) {
            let Some(network) = network(notes, given.get_ref(), given.span()) else { continue };
            if kinds.iter().flatten().any(|other| overlap(other, &network)) {
                notes.note(given.span(), "an address of two kinds", "each address is of one kind");
            }
            networks.push(network);
        }
        kinds.push(networks);
    }
    kinds
}

/// Whether an address is in both.
fn overlap(one: &Network, other: &Network) -> bool {
    let net = |network: &Network| ipnet::IpNet::new(network.address, network.prefix);
    match (net(one), net(other)) {
        (Ok(one), Ok(other)) => one.contains(&other) || other.contains(&one),
        _ => false,
    }
}
