//! A board's stack, as TOML.

use wrun_net::shape::profile::{Board, WithoutLinger};

use super::effects::section;
use super::network;
use super::page::{Page, list, text, time};
use crate::profile::meaning::{LINGER_OPTIONS, named};
use crate::units;

pub fn board(page: &mut Page, board: &Board) {
    let Board { sockets, receive, unsupported, tick, linger, send_queue } = board;
    let receive = receive.map(|bytes| format!("\"{}\"", units::bytes_text(bytes as u64)));
    let refused = || list(unsupported.iter().map(|kind| text(&kind.to_string())));
    let keys = vec![
        ("sockets", sockets.map(|count| count.to_string()), "no limit", "that can be open at once"),
        ("receive", receive, "no limit", "bytes that one receive answers with at most"),
        (
            "unsupported",
            (!unsupported.is_empty()).then(refused),
            "[]",
            "socket options that are answered with not-supported",
        ),
        ("tick", tick.map(time), "none", "the guest's clock moves in steps of this"),
    ];
    section(page, "board", "what the board's stack is like", keys, true);

    let (without, stall) = match linger.without {
        WithoutLinger::Background => (None, None),
        WithoutLinger::Stall(time) => (Some("stall"), Some(self::time(time))),
        WithoutLinger::Reset => (Some("reset"), None),
    };
    let option = named(&LINGER_OPTIONS, linger.option);
    let keys = vec![
        (
            "without",
            without.map(text),
            "\"background\"",
            "a close without linger: background, stall, or reset for the peer",
        ),
        ("stall", stall, "none", "how long it stalls"),
        (
            "option",
            (linger.option != Default::default()).then(|| text(option)),
            "\"honoured\"",
            "honoured, ignored or not-supported",
        ),
    ];
    section(page, "board.linger", "how closing a TCP connection goes", keys, true);

    let queue = send_queue.as_ref();
    let kinds = queue.filter(|queue| !queue.kinds.is_empty());
    let kinds = kinds.map(|queue| list(queue.kinds.iter().map(|kind| list(kind.iter().map(network)))));
    let keys = vec![
        (
            "depth",
            queue.map(|queue| queue.depth.to_string()),
            "no limit",
            "datagrams it holds before a send would block",
        ),
        ("max-depth", queue.map(|queue| queue.max_depth.to_string()), "depth", "the most that a guest can set it to"),
        (
            "clears-after",
            queue.map(|queue| time(queue.clears_after)),
            "none",
            "without a place for so long it is empty again",
        ),
        ("kinds", kinds, "[]", "of destinations, by address; only sends to several kinds fill it; []: all do"),
    ];
    section(page, "board.send-queue", "a queue of datagrams that does not drain", keys, true);
}
