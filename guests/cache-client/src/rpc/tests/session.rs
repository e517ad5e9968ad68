//! Conversations that outlive their connection.

use h2::server::Builder;

use super::peer::Reply;
use super::*;

fn reliable() -> Conversation {
    Conversation::new(target(), LONGEST, Some(7))
}

/// The same server on a new connection.
fn again(peer: Peer) -> Peer {
    Peer::with(peer.server, &Builder::new())
}

#[test]
fn a_call_that_was_executed_and_lost_its_answer_is_executed_once() {
    let (mut conversation, mut peer) = (reliable(), Peer::new());
    conversation.ask(set("n", "0"));
    exchange(&mut conversation, &mut peer);
    conversation.ask(increment("n"));
    conversation.ask(increment("m"));
    let sent = std::mem::take(conversation.outgoing());
    // Nobody gets what is answered to it.
    peer.received(&sent);
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
        let sent = std::mem::take(conversation.outgoing());
        peer.received(&sent);
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
