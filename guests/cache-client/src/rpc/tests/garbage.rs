//! Servers that say anything at all: a conversation breaks, or waits, and never panics.

use proptest::prelude::*;

use super::*;

/// Sends `bytes` to a conversation that has asked, in pieces, and takes what it says to it.
fn feed(bytes: &[u8], piece: usize) {
    for mut conversation in [conversation(), Conversation::new(target(), LONGEST, Some(7))] {
        conversation.ask(set("a", "x"));
        conversation.ask(get("b"));
        for piece in bytes.chunks(piece) {
            conversation.outgoing().clear();
            conversation.received(piece);
            while let Ok(Some(_)) = conversation.answer() {}
            conversation.ask(get("c"));
        }
        conversation.outgoing();
        let _ = conversation.answer();
        conversation.begin_again();
        conversation.outgoing();
    }
}

/// What a good server says to the requests of [`feed`].
fn good() -> Vec<u8> {
    let (mut conversation, mut peer) = (conversation(), Peer::new());
    let mut said = Vec::new();
    conversation.ask(set("a", "x"));
    conversation.ask(get("b"));
    loop {
        let sent = std::mem::take(conversation.outgoing());
        let answered = peer.received(&sent);
        conversation.received(&answered);
        if sent.is_empty() && answered.is_empty() {
            return said;
        }
        said.extend(answered);
    }
}

proptest! {
    #[test]
    fn any_bytes_break_or_wait(bytes in prop::collection::vec(any::<u8>(), 0..600), piece in 1_usize..100) {
        feed(&bytes, piece);
    }

    #[test]
    fn any_frames_break_or_wait(
        frames in prop::collection::vec((0_u8..12, any::<u8>(), 0_u32..7, prop::collection::vec(any::<u8>(), 0..40)), 0..20),
        piece in 1_usize..100,
    ) {
        let mut bytes = vec![0, 0, 0, 4, 0, 0, 0, 0, 0];
        for (kind, flags, stream, payload) in frames {
            let length = u32::try_from(payload.len()).expect("a short payload");
            bytes.extend(&length.to_be_bytes()[1..]);
            bytes.extend([kind, flags]);
            bytes.extend(stream.to_be_bytes());
            bytes.extend(payload);
        }
        feed(&bytes, piece);
    }

    #[test]
    fn a_good_answer_with_bytes_changed_breaks_or_waits(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        piece in 1_usize..200,
    ) {
        let mut bytes = good();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let (before, after) = bytes.split_at(cut.index(bytes.len()));
        feed(before, piece);
        feed(&[before, after].concat(), piece);
    }
}

#[test]
fn a_server_that_asks_without_end_and_does_not_read_fills_no_memory() {
    let mut conversation = conversation();
    conversation.received(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
    let pings: Vec<u8> = [&[0, 0, 8, 6, 0, 0, 0, 0, 0][..], &[7; 8]].concat().repeat(1000);
    for _ in 0..1000 {
        conversation.received(&pings);
        if conversation.answer().is_err() {
            break;
        }
        assert!(conversation.outgoing().len() < 2 << 20);
    }
    assert!(broken(&mut conversation).contains("does not read"));
}

#[test]
fn another_protocol_breaks_the_conversation() {
    let mut conversation = conversation();
    conversation.ask(get("a"));
    conversation.outgoing().clear();
    conversation.received(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    broken(&mut conversation);
}
