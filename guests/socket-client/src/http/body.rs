//! The body of an answer: where it ends. Its bytes are counted and dropped.

use super::BadAnswer;
use super::head::Framing;

/// Bytes of one line with a chunk's size and extensions.
const MAX_SIZE_LINE: usize = 1024;
/// Bytes of all trailer lines.
const MAX_TRAILERS: usize = 64 * 1024;

/// A body that is coming in.
#[derive(Debug)]
pub struct Body {
    state: State,
    /// Bytes of content so far.
    came: u64,
    /// Bytes of content allowed.
    limit: u64,
    /// Bytes of content announced.
    announced: Option<u64>,
}

#[derive(Debug)]
enum State {
    /// So many bytes of content are left.
    Length(u64),
    /// Content up to the end of the connection.
    UntilClose,
    /// In the line with a chunk's size.
    Size(Vec<u8>),
    /// So many bytes of the chunk are left.
    Chunk(u64),
    /// So many of the chunk's CR and LF are there.
    ChunkEnd(usize),
    /// Behind the last chunk: bytes of the line so far, and of all lines.
    Trailers {
        line: usize,
        all: usize,
    },
    Complete,
}

impl Body {
    pub fn new(framing: Framing, limit: u64) -> Result<Self, BadAnswer> {
        let (state, announced) = match framing {
            Framing::Empty | Framing::Length(0) => (State::Complete, None),
            Framing::Length(length) => (State::Length(length), Some(length)),
            Framing::Chunked => (State::Size(Vec::new()), None),
            Framing::UntilClose => (State::UntilClose, None),
        };
        if announced > Some(limit) {
            return Err(BadAnswer::BodyTooLarge(limit));
        }
        Ok(Self { state, came: 0, limit, announced })
    }

    pub fn complete(&self) -> bool {
        matches!(self.state, State::Complete)
    }

    /// Takes bytes as they come and says how many it used: all of them, unless it is complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<usize, BadAnswer> {
        let mut used = 0;
        while used < bytes.len() && !self.complete() {
            used += self.step(&bytes[used..])?;
        }
        Ok(used)
    }

    /// The connection ended.
    pub fn end(&mut self) -> Result<(), BadAnswer> {
        match self.state {
            State::UntilClose | State::Complete => {
                self.state = State::Complete;
                Ok(())
            }
            _ => Err(BadAnswer::ClosedInBody(self.came, self.announced)),
        }
    }

    /// Uses at least one of the bytes, of which there are some.
    fn step(&mut self, bytes: &[u8]) -> Result<usize, BadAnswer> {
        match &mut self.state {
            State::Length(left) | State::Chunk(left) => {
                let size = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= size as u64;
                if *left == 0 {
                    let chunked = matches!(self.state, State::Chunk(_));
                    self.state = if chunked { State::ChunkEnd(0) } else { State::Complete };
                }
                self.content(size)
            }
            State::UntilClose => self.content(bytes.len()),
            State::Size(line) => {
                let end = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
                let size = end.unwrap_or(bytes.len());
                if line.len() + size > MAX_SIZE_LINE {
                    return Err(BadAnswer::BadChunk("a size line is too long"));
                }
                line.extend_from_slice(&bytes[..size]);
                if end.is_some() {
                    self.state = match chunk_size(line)? {
                        0 => State::Trailers { line: 0, all: 0 },
                        size => State::Chunk(size),
                    };
                }
                Ok(size)
            }
            State::ChunkEnd(at) => {
                if bytes[0] != b"\r\n"[*at] {
                    return Err(BadAnswer::BadChunk("a chunk is longer than its size"));
                }
                self.state = if *at == 0 { State::ChunkEnd(1) } else { State::Size(Vec::new()) };
                Ok(1)
            }
            State::Trailers { line, all } => {
                *all += 1;
                if *all > MAX_TRAILERS {
                    return Err(BadAnswer::BadChunk("the trailers are too long"));
                }
                match bytes[0] {
                    b'\n' if *line == 0 => self.state = State::Complete,
                    b'\n' => *line = 0,
                    b'\r' => {}
                    _ => *line += 1,
                }
                Ok(1)
            }
            State::Complete => Ok(0),
        }
    }

    fn content(&mut self, size: usize) -> Result<usize, BadAnswer> {
        self.came = self.came.saturating_add(size as u64);
        if self.came > self.limit { Err(BadAnswer::BodyTooLarge(self.limit)) } else { Ok(size) }
    }
}

fn chunk_size(line: &[u8]) -> Result<u64, BadAnswer> {
    // The parser takes a line without digits for a size of zero.
    if !line.first().is_some_and(u8::is_ascii_hexdigit) {
        return Err(BadAnswer::BadChunk("a chunk has no size"));
    }
    match httparse::parse_chunk_size(line) {
        Ok(httparse::Status::Complete((_, size))) => Ok(size),
        _ => Err(BadAnswer::BadChunk("a chunk's size is no hexadecimal number")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chunked(limit: u64) -> Body {
        Body::new(Framing::Chunked, limit).expect("nothing announced")
    }

    #[test]
    fn chunks_end_with_the_trailers_and_what_follows_is_not_used() {
        let coded = b"5\r\nhello\r\n6;ext=\"x\"\r\n world\r\n0\r\nTrailer: y\r\n\r\n";
        let mut body = chunked(100);
        let mut all = coded.to_vec();
        all.extend_from_slice(b"HTTP/1.1");
        assert_eq!(body.feed(&all), Ok(coded.len()));
        assert!(body.complete());
        assert_eq!(body.came, 11);
    }

    #[test]
    fn broken_chunks_are_refused() {
        for coded in ["\r\n", "x\r\n", "-1\r\n", "5 5\r\n", "5\nhello", "5\r\nhelloworld", "11111111111111111\r\n"] {
            assert!(matches!(chunked(100).feed(coded.as_bytes()), Err(BadAnswer::BadChunk(_))), "{coded:?}");
        }
        assert!(chunked(100).feed(&[b'1'; MAX_SIZE_LINE + 1]).is_err());
        let mut endless = b"0\r\n".to_vec();
        endless.resize(MAX_TRAILERS + 10, b'x');
        assert!(chunked(100).feed(&endless).is_err());
    }

    #[test]
    fn a_body_over_the_limit_is_refused_before_or_while_it_comes() {
        assert!(Body::new(Framing::Length(101), 100).is_err());
        let mut body = Body::new(Framing::UntilClose, 100).expect("nothing announced");
        assert_eq!(body.feed(&[0; 100]), Ok(100));
        assert_eq!(body.feed(&[0; 1]), Err(BadAnswer::BodyTooLarge(100)));
        assert_eq!(chunked(4).feed(b"5\r\nhello"), Err(BadAnswer::BodyTooLarge(4)));
    }

    #[test]
    fn an_early_end_says_how_much_was_missing() {
        let mut body = Body::new(Framing::Length(100), 1000).expect("allowed");
        assert_eq!(body.feed(&[0; 12]), Ok(12));
        assert_eq!(body.end().expect_err("early").to_string(), "connection closed after 12 of 100 bytes");
        let mut body = chunked(100);
        assert_eq!(body.feed(b"5\r\nhel"), Ok(6));
        assert_eq!(body.end().expect_err("early").to_string(), "connection closed within a chunk, after 3 bytes");
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_are_used_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..2000), piece in 1_usize..50) {
            let mut body = chunked(1000);
            for part in bytes.chunks(piece) {
                match body.feed(part) {
                    Ok(used) => prop_assert!(used == part.len() || body.complete()),
                    Err(_) => return Ok(()),
                }
                if let State::Size(line) = &body.state {
                    prop_assert!(line.capacity() <= 2 * MAX_SIZE_LINE);
                }
            }
        }

        #[test]
        fn whatever_is_coded_in_chunks_is_counted_whole(
            sizes in prop::collection::vec(1_usize..300, 0..20),
            piece in 1_usize..700,
        ) {
            let mut coded = Vec::new();
            for size in &sizes {
                coded.extend_from_slice(format!("{size:X}\r\n").as_bytes());
                coded.resize(coded.len() + size, b'x');
                coded.extend_from_slice(b"\r\n");
            }
            coded.extend_from_slice(b"0\r\n\r\n");
            let mut body = chunked(1 << 20);
            for part in coded.chunks(piece) {
                prop_assert_eq!(body.feed(part), Ok(part.len()));
            }
            prop_assert!(body.complete());
            prop_assert_eq!(body.came, sizes.iter().sum::<usize>() as u64);
        }
    }
}
