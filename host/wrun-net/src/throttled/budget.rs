//! How much may be in hand at all, so that no guest and no peer makes the host hold more and more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that one direction of one socket may hold: 100 MB/s at more than half a second of delay.
const EACH: usize = 64 << 20;

/// Bytes that all together may hold.
const ALL: usize = 256 << 20;

/// Bytes that any direction may hold whatever the others do, so that it is never up to others whether it goes on. More
/// than any datagram.
const ALWAYS: usize = 128 << 10;

/// Bytes that may be there and wait for whoever takes them: a receive buffer, from which TCP's own flow control, or a
/// kernel's dropping of datagrams, goes on.
pub const THERE: usize = 256 << 10;

/// What all hold together.
#[derive(Default)]
pub struct Budget(AtomicUsize);

/// What one direction of one socket holds.
pub struct Held {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Held {
    pub fn new(budget: Arc<Budget>) -> Self {
        Self { budget, bytes: 0 }
    }

    /// How many bytes more it may hold.
    pub fn room(&self) -> usize {
        // The sum guards memory and nothing else, so it need not be in step with anything.
        let left = ALL.saturating_sub(self.budget.0.load(Ordering::Relaxed));
        let own = EACH.saturating_sub(self.bytes);
        own.min(left.max(ALWAYS.saturating_sub(self.bytes)))
    }

    pub fn take(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.budget.0.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn give_back(&mut self, bytes: usize) {
        self.bytes -= bytes;
        self.budget.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_late_may_still_hold_a_little_and_what_is_dropped_is_given_back() {
        let budget = Arc::new(Budget::default());
        let mut many = (0..4).map(|_| Held::new(budget.clone())).collect::<Vec<_>>();
        for held in &mut many {
            assert_eq!(held.room(), EACH);
            held.take(EACH);
            assert_eq!(held.room(), 0);
        }
        let mut late = Held::new(budget.clone());
        assert_eq!(late.room(), ALWAYS);
        late.take(ALWAYS);
        assert_eq!(late.room(), 0);
        many.pop();
        assert_eq!(late.room(), EACH - ALWAYS);
    }
}
