//! Conversations that outlive their connection.

use std::time::Duration;

use h2::server::Builder;

use super::peer::{Reply, Server};
use super::*;

fn reliable() -> Conversation {
    Conversation::new(target(), LONGEST, Some(7))
}

/// The same server on a new connection.
fn again(peer: Peer) -> Peer {
    Peer::with(peer.server, &Builder::new())
}

/// Sends what there is to the peer, and has nobody get what it says to it.
fn send_and_lose(conversation: &mut Conversation, peer: &mut Peer) {
    let sent = std::mem::take(conversation.outgoing());
    peer.received(&sent);
}

#[test]
fn no_call_is_made_before_its_session_is_begun() {
    let (mut conversation, mut peer) = (reliable(), Peer::new());
    conversation.ask(increment("a"));
    conversation.ask(increment("b"));
    let sent = std::mem::take(conversation.outgoing());
    let answered = peer.received(&sent);
    assert_eq!(peer.heard, ["/cache.v1.Cache/Begin"]);
    conversation.received(&answered);
    exchange(&mut conversation, &mut peer);
    assert_eq!(peer.heard[1..], ["/cache.v1.Cache/Increment", "/cache.v1.Cache/Increment"]);
    assert_eq!(answers(&mut conversation), ["miss", "miss"]);
}

#[test]
fn a_session_whose_beginning_was_lost_is_begun_as_another_that_does_not_share_its_number() {
    let (mut conversation, mut peer) = (reliable(), Peer::with(Server::within(2, 1 << 20), &Builder::new()));
    conversation.ask(set("n", "0"));
    conversation.ask(increment("n"));
    send_and_lose(&mut conversation, &mut peer);
    assert!(conversation.begin_again());
    let mut peer = again(peer);
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["done", "1"]);
    // Both are there: the server has room for no third.
    let mut third = Conversation::new(target(), LONGEST, Some(70));
    let mut peer = again(peer);
    third.ask(get("n"));
    exchange(&mut third, &mut peer);
    assert!(broken(&mut third).contains("as many as may be"));
    assert!(!third.begin_again());
}

#[test]
fn a_call_of_a_session_that_was_forgotten_meanwhile_is_not_executed_again() {
    let (mut conversation, mut peer) = (reliable(), Peer::new());
    conversation.ask(increment("n"));
    let sent = std::mem::take(conversation.outgoing());
    conversation.received(&peer.received(&sent));
    // It has acknowledged nothing, as it has no answer yet.
    send_and_lose(&mut conversation, &mut peer);
    assert_eq!(peer.server.executed, 1);

    assert!(conversation.begin_again());
    let mut peer = again(peer);
    peer.server.now += Duration::from_secs(61);
    exchange(&mut conversation, &mut peer);
    assert!(broken(&mut conversation).contains("begin another"));
    assert_eq!(peer.server.executed, 1);
}

#[test]
fn a_call_for_whose_answer_there_is_no_room_is_refused_alone_and_the_session_goes_on() {
    let (mut conversation, mut peer) = (reliable(), Peer::with(Server::within(2, 1), &Builder::new()));
    for key in ["a", "b", "c"] {
        conversation.ask(increment(key));
    }
    exchange(&mut conversation, &mut peer);
    let found = answers(&mut conversation);
    assert_eq!(found[0], "miss");
    assert!(found[1..].iter().all(|words| words.starts_with("RESOURCE_EXHAUSTED: not executed")), "{found:?}");
    assert_eq!((found.len(), peer.server.executed), (3, 1));
    conversation.ask(increment("d"));
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["miss"]);
}

#[test]
fn a_conversation_that_ends_has_the_server_forget_its_session() {
    let (mut conversation, mut peer) = (reliable(), Peer::with(Server::within(2, 1), &Builder::new()));
    conversation.ask(get("a"));
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["miss"]);
    conversation.end();
    assert!(conversation.is_ending());
    exchange(&mut conversation, &mut peer);
    assert!(!conversation.is_ending());
    assert_eq!(peer.heard.last().map(String::as_str), Some("/cache.v1.Cache/End"));
    // What it had not acknowledged is in nobody's way.
    let mut next = Conversation::new(target(), LONGEST, Some(70));
    let mut peer = again(peer);
    next.ask(get("a"));
    exchange(&mut next, &mut peer);
    assert_eq!(answers(&mut next), ["miss"]);
}

#[test]
fn a_conversation_without_a_session_says_nothing_at_its_end() {
    let (mut conversation, mut peer) = (conversation(), Peer::new());
    conversation.ask(get("a"));
    exchange(&mut conversation, &mut peer);
    conversation.end();
    assert!(!conversation.is_ending());
    exchange(&mut conversation, &mut peer);
    assert_eq!(peer.heard, ["/cache.v1.Cache/Get"]);
}

#[test]
fn a_call_that_was_executed_and_lost_its_answer_is_executed_once() {
    let (mut conversation, mut peer) = (reliable(), Peer::new());
    conversation.ask(set("n", "0"));
    exchange(&mut conversation, &mut peer);
    conversation.ask(increment("n"));
    conversation.ask(increment("m"));
    send_and_lose(&mut conversation, &mut peer);
    assert_eq!(peer.server.executed, 3);

    assert!(conversation.begin_again());
    let mut peer = again(peer);
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["done", "1", "miss"]);
    conversation.ask(get("n"));
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["5 1"]);
    assert_eq!(peer.server.executed, 4);
}

#[test]
fn a_call_that_never_arrived_is_executed_on_the_next_connection() {
    let (mut conversation, mut peer) = (reliable(), Peer::new());
    conversation.ask(set("n", "0"));
    exchange(&mut conversation, &mut peer);
    conversation.ask(increment("n"));
    conversation.outgoing().clear();

    assert!(conversation.begin_again());
    let mut peer = again(peer);
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["done", "1"]);
}

#[test]
fn an_answer_that_had_come_is_not_asked_for_again() {
    let (mut conversation, mut peer) = (reliable(), Peer::replying([Reply::Late]));
    conversation.ask(get("a"));
    conversation.ask(get("b"));
    exchange(&mut conversation, &mut peer);
    assert_eq!(conversation.answer(), Ok(None));

    assert!(conversation.begin_again());
    let mut peer = again(peer);
    conversation.ask(get("c"));
    exchange(&mut conversation, &mut peer);
    assert_eq!(peer.heard.len(), 2);
    assert_eq!(answers(&mut conversation), ["miss"; 3]);
}

#[test]
fn any_number_of_connections_may_be_lost() {
    let (mut conversation, mut peer) = (reliable(), Peer::new());
    conversation.ask(set("n", "0"));
    for _ in 0..20 {
        conversation.ask(increment("n"));
        send_and_lose(&mut conversation, &mut peer);
        peer = again(peer);
        assert!(conversation.begin_again());
    }
    exchange(&mut conversation, &mut peer);
    let expected: Vec<String> = std::iter::once("done".to_owned()).chain((1..=20).map(|n| n.to_string())).collect();
    assert_eq!(answers(&mut conversation), expected);
}

#[test]
fn more_calls_than_the_window_holds_are_all_answered() {
    let (mut conversation, mut peer) = (reliable(), Peer::new());
    let keys: Vec<String> = (0..1000).map(|key| format!("k{key}")).collect();
    keys.iter().for_each(|key| conversation.ask(get(key)));
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), vec!["miss"; 1000]);
}

#[test]
fn a_session_that_the_server_does_not_know_is_not_asked_again() {
    let (mut conversation, mut peer) = (reliable(), Peer::new());
    conversation.ask(get("a"));
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["miss"]);
    conversation.ask(get("b"));
    assert!(conversation.begin_again());
    let mut other = Peer::new();
    exchange(&mut conversation, &mut other);
    assert!(broken(&mut conversation).contains("begin another"));
    assert!(!conversation.begin_again());
}
