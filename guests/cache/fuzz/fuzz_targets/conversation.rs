//! A client that is answered with bytes whole and in pieces: it must not panic, must say the same, and must not have more
//! answers than it asked for.

use cache::client::{Conversation, Request};

pub fn feed<C: Conversation>(new: impl Fn(usize) -> C, input: &[u8]) {
    let whole = answers(new(LONGEST), [input].into_iter());
    // Pieces of sizes that the bytes themselves choose, so that a finding is found again.
    let size = 1 + usize::from(input.first().copied().unwrap_or(0)) % 50;
    let pieces = answers(new(LONGEST), input.chunks(size));
    assert_eq!(whole, pieces, "in pieces of {size}");
}

/// The longest value that is taken, in bytes.
const LONGEST: usize = 300;

/// The answers, and whether the conversation broke after them.
fn answers<'a>(mut conversation: impl Conversation, pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<String>, bool) {
    let asked = [
        Request::Get { key: b"k" },
        Request::Set { key: b"k", value: b"v", flags: 1, expiry: 0 },
        Request::Get { key: b"k" },
        Request::Delete { key: b"k" },
        Request::Increment { key: b"k", by: 1 },
    ];
    asked.into_iter().for_each(|request| conversation.ask(request));
    let mut answers = Vec::new();
    for piece in pieces {
        conversation.received(piece);
        loop {
            match conversation.answer() {
                Ok(Some(answer)) => answers.push(format!("{answer:?}")),
                Ok(None) => break,
                Err(_) => return (answers, true),
            }
        }
        assert_eq!(conversation.unanswered() + answers.len(), asked.len());
    }
    (answers, false)
}
