//! Conversations with a server in memory, a good one and bad ones.

mod claims;
mod garbage;
mod peer;
mod session;

use cache::client::{Answer, Broken, Conversation as _, Request};
use peer::Peer;

use super::{Conversation, Target};

/// The longest value, in bytes.
const LONGEST: usize = 4 << 20;

fn conversation() -> Conversation {
    Conversation::new(target(), LONGEST, None)
}

fn target() -> Target {
    Target::new("127.0.0.1:1", false).expect("an address")
}

/// Moves bytes between the two until neither has more to say.
fn exchange(conversation: &mut Conversation, peer: &mut Peer) {
    loop {
        let sent = std::mem::take(conversation.outgoing());
        let answered = peer.received(&sent);
        conversation.received(&answered);
        if sent.is_empty() && answered.is_empty() {
            return;
        }
    }
}

/// Every answer that is complete, in words.
fn answers(conversation: &mut Conversation) -> Vec<String> {
    let mut answers = Vec::new();
    while let Ok(Some(answer)) = conversation.answer() {
        answers.push(words(&answer));
    }
    answers
}

fn words(answer: &Answer<'_>) -> String {
    match answer {
        Answer::Value { flags, value } => format!("{flags} {}", String::from_utf8_lossy(value)),
        Answer::Miss => "miss".to_owned(),
        Answer::Done => "done".to_owned(),
        Answer::Number(number) => number.to_string(),
        Answer::Refused(why) => why.clone().into_owned(),
    }
}

fn broken(conversation: &mut Conversation) -> String {
    match conversation.answer() {
        Err(Broken(words)) => words,
        other => panic!("not broken: {other:?}"),
    }
}

fn get(key: &str) -> Request<'_> {
    Request::Get { key: key.as_bytes() }
}

fn set<'a>(key: &'a str, value: &'a str) -> Request<'a> {
    Request::Set { key: key.as_bytes(), value: value.as_bytes(), flags: 5, expiry: 0 }
}

fn increment(key: &str) -> Request<'_> {
    Request::Increment { key: key.as_bytes(), by: 1 }
}
