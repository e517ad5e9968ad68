//! Bytes that come at the end and go at the front.

/// A queue of bytes that keeps its memory, and whose content is always one piece.
#[derive(Debug, Default)]
pub struct Queue {
    bytes: Vec<u8>,
    /// How many of them are gone.
    gone: usize,
}

impl Queue {
    pub fn push(&mut self, bytes: &[u8]) {
        // Moved only when at least as much is gone as is left, so that a byte is moved once on average.
        if self.gone > 0 && self.gone * 2 >= self.bytes.len() {
            self.bytes.drain(..self.gone);
            self.gone = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub fn content(&self) -> &[u8] {
        &self.bytes[self.gone..]
    }

    /// The content, and how to take `usize` bytes of its front away while it is still being looked at.
    pub fn split(&mut self) -> (&[u8], impl FnOnce(usize)) {
        let Self { bytes, gone } = self;
        let before = *gone;
        let length = bytes.len();
        (&bytes[before..], move |taken: usize| *gone = (before + taken).min(length))
    }

    pub fn take(&mut self, count: usize) {
        self.split().1(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_leave_in_the_order_in_which_they_came_and_the_memory_does_not_grow() {
        let mut queue = Queue::default();
        for round in 0..10_000_u32 {
            queue.push(&[round as u8, (round >> 8) as u8]);
            if round >= 10 {
                let left = round - 10;
                assert_eq!(queue.content()[..2], [left as u8, (left >> 8) as u8]);
                queue.take(2);
            }
        }
        assert_eq!(queue.content().len(), 20);
        assert!(queue.bytes.capacity() < 1000);
    }

    #[test]
    fn more_than_there_is_takes_all() {
        let mut queue = Queue::default();
        queue.push(b"ab");
        queue.take(7);
        assert!(queue.content().is_empty());
    }
}
