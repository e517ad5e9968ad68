//! A whole answer: heads until one is final, then its body.

use super::body::Body;
use super::head::Head;
use super::{BadAnswer, MAX_HEAD};

/// An answer that is coming in.
#[derive(Debug)]
pub struct Response {
    state: State,
    /// Bytes of everything so far, as they came.
    bytes: u64,
    /// Bytes of body allowed.
    max_body: u64,
}

#[derive(Debug)]
enum State {
    Head {
        text: Vec<u8>,
        /// Bytes of interim heads that are done with.
        before: usize,
        /// Size at which an attempt to parse is worth it although no empty line has come: it finds garbage early, and
        /// since it doubles, a head in small pieces is not parsed once for every piece.
        attempt: usize,
    },
    Body(Head, Body),
}

impl Response {
    pub fn new(max_body: u64) -> Self {
        Self { state: State::head(0), bytes: 0, max_body }
    }

    /// Of the final head, when it is there.
    pub fn status(&self) -> Option<u16> {
        match &self.state {
            State::Head { .. } => None,
            State::Body(head, _) => Some(head.status),
        }
    }

    /// Whether the server will take another request on this connection.
    pub fn keeps_alive(&self) -> bool {
        matches!(&self.state, State::Body(head, body) if head.keeps_alive && body.complete())
    }

    /// Bytes of everything so far, heads included.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn complete(&self) -> bool {
        matches!(&self.state, State::Body(_, body) if body.complete())
    }

    /// Takes bytes as they come and says how many it used: all of them, unless it is complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<usize, BadAnswer> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        let mut used = 0;
        while used < bytes.len() && !self.complete() {
            used += match &mut self.state {
                State::Head { .. } => self.feed_head(&bytes[used..])?,
                State::Body(_, body) => body.feed(&bytes[used..])?,
            };
        }
        Ok(used)
    }

    /// The connection ended.
    pub fn end(&mut self) -> Result<(), BadAnswer> {
        match &mut self.state {
            State::Head { .. } => Err(BadAnswer::ClosedInHead(self.bytes)),
            State::Body(_, body) => body.end(),
        }
    }

    fn feed_head(&mut self, bytes: &[u8]) -> Result<usize, BadAnswer> {
        let State::Head { text, before, attempt } = &mut self.state else { return Ok(0) };
        let had = text.len();
        let room = MAX_HEAD - *before - had;
        if room == 0 {
            return Err(BadAnswer::HeadTooLarge);
        }
        let taken = bytes.len().min(room);
        text.extend_from_slice(&bytes[..taken]);
        if text.len() < *attempt && !has_empty_line(&text[had.saturating_sub(3)..]) {
            return Ok(taken);
        }
        *attempt = text.len().saturating_mul(2);
        let Some((head, size)) = Head::parse(text)? else { return Ok(taken) };
        let done = *before + size;
        self.state = match head.status {
            101 => return Err(BadAnswer::Upgrade),
            100..=199 => State::head(done),
            _ => {
                let body = Body::new(head.framing, self.max_body)?;
                State::Body(head, body)
            }
        };
        // What came behind the head is the body's, or the next head's. The head did not end in what was there before.
        Ok(size.saturating_sub(had).clamp(1, taken))
    }
}

impl State {
    fn head(before: usize) -> Self {
        Self::Head { text: Vec::new(), before, attempt: 16 }
    }
}

/// The parser takes a bare LF for the end of a line, so this does too.
fn has_empty_line(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair == b"\n\n") || text.windows(3).any(|three| three == b"\n\r\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fed(answer: &[u8], piece: usize) -> (Response, Result<usize, BadAnswer>) {
        let mut response = Response::new(1 << 20);
        let mut used = 0;
        for part in answer.chunks(piece) {
            match response.feed(part) {
                Ok(more) => used += more,
                Err(error) => return (response, Err(error)),
            }
        }
        (response, Ok(used))
    }

    const ANSWER: &[u8] = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n\
        HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

    #[test]
    fn interim_heads_are_passed_over_in_pieces_of_any_size() {
        for piece in 1..=ANSWER.len() {
            let (response, used) = fed(ANSWER, piece);
            assert_eq!(used, Ok(ANSWER.len()), "{piece}");
            assert_eq!((response.status(), response.complete()), (Some(200), true), "{piece}");
            assert!(response.keeps_alive());
        }
    }

    #[test]
    fn what_follows_an_answer_is_not_used() {
        let twice = [ANSWER, ANSWER].concat();
        assert_eq!(fed(&twice, twice.len()).1, Ok(ANSWER.len()));
    }

    #[test]
    fn garbage_is_refused_long_before_the_limit_of_a_head() {
        let (response, outcome) = fed(&[b'x'; 1000], 1);
        assert!(matches!(outcome, Err(BadAnswer::NotHttp(_))));
        assert!(response.bytes() <= 16);
    }

    #[test]
    fn a_head_without_end_is_refused_at_its_limit() {
        let mut endless = b"HTTP/1.1 200 OK\r\nX: ".to_vec();
        endless.resize(MAX_HEAD + 1, b'x');
        assert_eq!(fed(&endless, 1000).1, Err(BadAnswer::HeadTooLarge));
        let interims = b"HTTP/1.1 102 Processing\r\n\r\n".repeat(MAX_HEAD / 20);
        assert_eq!(fed(&interims, 1000).1, Err(BadAnswer::HeadTooLarge));
    }

    #[test]
    fn an_end_is_an_error_unless_the_body_ends_by_it() {
        let (mut response, _) = fed(b"HTTP/1.0 200 OK\r\n\r\nsome", 100);
        assert!(!response.complete());
        assert_eq!(response.end(), Ok(()));
        assert!(response.complete());
        let mut nothing = Response::new(0);
        assert_eq!(nothing.end().expect_err("no answer").to_string(), "connection closed before an answer");
        let (mut part, _) = fed(b"HTTP/1.1 2", 100);
        assert_eq!(part.end().expect_err("part").to_string(), "connection closed after 10 bytes of the head");
    }

    #[test]
    fn switching_protocols_unasked_is_refused() {
        assert_eq!(fed(b"HTTP/1.1 101 Switching Protocols\r\n\r\n", 100).1, Err(BadAnswer::Upgrade));
    }

    proptest! {
        #[test]
        fn any_bytes_are_used_or_refused_in_bounded_memory(
            start in prop::sample::select(vec![&b""[..], b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]),
            bytes in prop::collection::vec(any::<u8>(), 0..3000),
            piece in 1_usize..100,
        ) {
            let (response, _) = fed(&[start, &bytes].concat(), piece);
            if let State::Head { text, .. } = &response.state {
                prop_assert!(text.capacity() <= 2 * MAX_HEAD);
            }
        }

        #[test]
        fn the_size_of_the_pieces_never_changes_the_outcome(
            lines in prop::collection::vec("[ -~]{0,20}", 0..6),
            end in prop::sample::select(vec!["\r\n", "\n"]),
            piece in 1_usize..100,
        ) {
            let answer = format!("HTTP/1.1 200 OK{end}{}{end}{end}body", lines.join(end));
            let (whole, all) = fed(answer.as_bytes(), answer.len());
            let (parts, some) = fed(answer.as_bytes(), piece);
            prop_assert_eq!(all.is_ok(), some.is_ok());
            prop_assert_eq!(whole.status(), parts.status());
            prop_assert_eq!(whole.complete(), parts.complete());
        }
    }
}
