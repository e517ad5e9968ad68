//! A body of any length that costs no memory: slices of one static block.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

/// Lines of text, so that a body can be looked at.
static BLOCK: [u8; 16 * 1024] = block();

/// What every body repeats.
const LINE: &[u8; 32] = b"wrun peer: thirty-two byte line\n";

const fn block() -> [u8; 16 * 1024] {
    let mut block = [0; 16 * 1024];
    let mut i = 0;
    while i < block.len() {
        block[i] = LINE[i % LINE.len()];
        i += 1;
    }
    block
}

pub(crate) struct Filler {
    /// Bytes still to come.
    left: u64,
    /// Whether their number is told to hyper, which then announces it; otherwise it sends chunks.
    announced: bool,
}

impl Filler {
    pub(crate) fn new(bytes: u64, announced: bool) -> Self {
        Self { left: bytes, announced }
    }
}

impl Body for Filler {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let slice = slice(self.left);
        self.left -= slice.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(slice)))))
    }

    fn is_end_stream(&self) -> bool {
        self.announced && self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        if self.announced { SizeHint::with_exact(self.left) } else { SizeHint::default() }
    }
}

/// The next part of a body that has `left` bytes to go: all of them, or a whole block.
pub(crate) fn slice(left: u64) -> &'static [u8] {
    &BLOCK[..usize::try_from(left).unwrap_or(usize::MAX).min(BLOCK.len())]
}
