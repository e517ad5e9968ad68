//! What a conversation promises, each a claim.

use bytes::Bytes;
use cache_rpc::{GetResponse, Item};
use h2::Reason;
use h2::server::Builder;

use super::peer::{Reply, Server};
use super::*;
use crate::rpc::frame;

#[test]
fn every_kind_of_request_is_answered_in_the_order_asked() {
    let (mut conversation, mut peer) = (conversation(), Peer::new());
    let delete = Request::Delete { key: b"n" };
    for request in [get("n"), increment("n"), set("n", "41"), get("n"), increment("n"), delete, delete] {
        conversation.ask(request);
    }
    assert_eq!(conversation.unanswered(), 7);
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["miss", "miss", "done", "5 41", "42", "done", "miss"]);
    assert_eq!(conversation.unanswered(), 0);
}

#[test]
fn requests_that_are_asked_together_leave_together_before_any_answer() {
    let (mut conversation, mut peer) = (conversation(), Peer::new());
    for key in ["a", "b", "c"] {
        conversation.ask(get(key));
    }
    let sent = std::mem::take(conversation.outgoing());
    peer.received(&sent);
    assert_eq!(peer.heard.len(), 3);
}

#[test]
fn an_answer_that_overtakes_another_waits_for_it() {
    let (mut conversation, mut peer) = (conversation(), Peer::replying([Reply::Late]));
    conversation.ask(get("a"));
    conversation.ask(set("b", "x"));
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), [""; 0]);
    peer.answer_late();
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["miss", "done"]);
}

#[test]
fn a_request_waits_while_its_key_is_written_and_no_other_does() {
    let (mut conversation, mut peer) = (conversation(), Peer::replying([Reply::Late]));
    conversation.ask(set("a", "1"));
    conversation.ask(get("b"));
    conversation.ask(get("a"));
    conversation.ask(get("c"));
    exchange(&mut conversation, &mut peer);
    assert_eq!(peer.heard, ["/cache.v1.Cache/Set", "/cache.v1.Cache/Get"]);
    peer.answer_late();
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["done", "miss", "5 1", "miss"]);
}

#[test]
fn reads_of_one_key_go_together() {
    let (mut conversation, mut peer) = (conversation(), Peer::replying([Reply::Late, Reply::Late]));
    conversation.ask(get("a"));
    conversation.ask(get("a"));
    exchange(&mut conversation, &mut peer);
    assert_eq!(peer.heard.len(), 2);
}

#[test]
fn values_far_beyond_every_window_pass_both_ways() {
    let (mut conversation, mut peer) = (conversation(), Peer::new());
    let value = "0123456789".repeat(300_000);
    for key in ["a", "b", "c"] {
        conversation.ask(set(key, &value));
        conversation.ask(get(key));
    }
    exchange(&mut conversation, &mut peer);
    let found = answers(&mut conversation);
    assert_eq!(found.len(), 6);
    let whole = format!("5 {value}");
    assert!(found.chunks(2).all(|pair| pair == ["done", &whole]));
}

#[test]
fn more_calls_than_the_server_takes_at_once_wait_their_turn() {
    let (mut conversation, mut peer) =
        (conversation(), Peer::with(Server::new(), Builder::new().max_concurrent_streams(2)));
    exchange(&mut conversation, &mut peer);
    let keys: Vec<String> = (0..50).map(|key| format!("k{key}")).collect();
    keys.iter().for_each(|key| conversation.ask(set(key, "x")));
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["done"; 50]);
}

#[test]
fn a_call_that_is_refused_is_an_answer_and_the_next_is_asked_on_the_same_connection() {
    let grpc = ("content-type", "application/grpc");
    let only = vec![grpc, ("grpc-status", "3"), ("grpc-message", "50%25 of a key")];
    let later = vec![("grpc-status", "8"), ("grpc-message", "out of memory")];
    let plain = vec![("grpc-status", "12")];
    let replies = [Reply::Head(200, only), Reply::Trailers(Bytes::new(), later), Reply::Head(404, plain)];
    let (mut conversation, mut peer) = (conversation(), Peer::replying(replies));
    for key in ["a", "b", "c", "d"] {
        conversation.ask(get(key));
    }
    exchange(&mut conversation, &mut peer);
    let refused = ["INVALID_ARGUMENT: 50% of a key", "RESOURCE_EXHAUSTED: out of memory", "UNIMPLEMENTED", "miss"];
    assert_eq!(answers(&mut conversation), refused);
}

#[test]
fn aborted_is_an_answer_outside_of_sessions() {
    let fields = vec![("content-type", "application/grpc"), ("grpc-status", "10")];
    let (mut conversation, mut peer) = (conversation(), Peer::replying([Reply::Head(200, fields)]));
    conversation.ask(get("a"));
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["ABORTED"]);
}

#[test]
fn an_answer_that_is_none_breaks_the_conversation_in_words() {
    let message = frame::wrap(&GetResponse { item: Some(Item { value: "v".into(), flags: 1 }) });
    let grpc = ("content-type", "application/grpc");
    let ok = vec![("grpc-status", "0")];
    let cases = [
        (Reply::Head(503, vec![("content-type", "text/html")]), "HTTP status 503"),
        (Reply::Head(200, vec![("content-type", "text/html"), ("x", "y")]), "\"text/html\""),
        (Reply::Head(200, vec![]), "without a type"),
        (Reply::Head(200, vec![grpc]), "does not say how its call ended"),
        (Reply::Head(200, vec![grpc, ("grpc-status", "0")]), "without an answer"),
        (Reply::Trailers(Bytes::new(), ok.clone()), "without an answer"),
        (Reply::Trailers(message.clone(), vec![("x", "y")]), "does not say how its call ended"),
        (Reply::Trailers(message.slice(..4), ok.clone()), "ends within"),
        (Reply::Trailers(message.slice(..7), ok.clone()), "ends within"),
        (Reply::Body([&message[..], &message[..]].concat().into()), "more than one message"),
        (Reply::Body([&[1], &message[1..]].concat().into()), "compressed"),
        (Reply::Body(Bytes::from_static(&[0, 255, 255, 255, 255])), "at most"),
        (Reply::Body(Bytes::from_static(&[0, 0, 0, 0, 1, 0xff])), "not of the schema"),
        (Reply::Reset(Reason::INTERNAL_ERROR), "internal error"),
    ];
    for (reply, why) in cases {
        let (mut conversation, mut peer) = (conversation(), Peer::replying([Reply::Cache, reply]));
        conversation.ask(get("a"));
        exchange(&mut conversation, &mut peer);
        conversation.ask(get("b"));
        conversation.ask(get("c"));
        exchange(&mut conversation, &mut peer);
        assert_eq!(answers(&mut conversation), ["miss"], "{why}");
        let words = broken(&mut conversation);
        assert!(words.contains(why), "{why}: {words}");
        assert_eq!(broken(&mut conversation), words, "it stays broken");
        assert!(!conversation.begin_again(), "without a session there is nothing to go on with");
    }
}

#[test]
fn a_server_that_takes_its_leave_answers_what_is_under_way_and_breaks_the_rest() {
    let (mut conversation, mut peer) = (conversation(), Peer::replying([Reply::Late]));
    conversation.ask(get("a"));
    exchange(&mut conversation, &mut peer);
    peer.connection.as_mut().expect("a connection").graceful_shutdown();
    exchange(&mut conversation, &mut peer);
    conversation.ask(get("b"));
    exchange(&mut conversation, &mut peer);
    assert_eq!(conversation.answer(), Ok(None));
    peer.answer_late();
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["miss"]);
    broken(&mut conversation);
}

#[test]
fn a_connection_that_is_ended_between_calls_is_broken_at_once() {
    let (mut conversation, mut peer) = (conversation(), Peer::new());
    conversation.ask(get("a"));
    exchange(&mut conversation, &mut peer);
    peer.connection.as_mut().expect("a connection").graceful_shutdown();
    exchange(&mut conversation, &mut peer);
    assert_eq!(answers(&mut conversation), ["miss"]);
    broken(&mut conversation);
}

#[test]
fn a_name_that_http_cannot_write_is_no_target() {
    for server in ["", "a b:1", "a/b:1", "[::1:1"] {
        assert!(Target::new(server, false).is_err(), "{server:?}");
    }
    for server in ["localhost:11211", "127.0.0.1:1", "[::1]:1"] {
        assert!(Target::new(server, true).is_ok(), "{server:?}");
    }
}
