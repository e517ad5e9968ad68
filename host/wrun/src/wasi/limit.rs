//! How much of one kind a guest may have at once.

use std::sync::Arc;

/// A bound, and how near the guest is to it.
pub struct Limit {
    max: usize,
    open: Arc<()>,
    reached: bool,
}

/// One thing's place under a limit, given back when dropped.
pub struct Place(#[expect(dead_code, reason = "held to be counted")] Arc<()>);

impl Limit {
    pub fn new(max: usize) -> Self {
        Self { max, open: Arc::new(()), reached: false }
    }

    /// A place, unless all are taken.
    pub fn take(&mut self) -> Option<Place> {
        // One count is the limit's own.
        if Arc::strong_count(&self.open) > self.max {
            self.reached = true;
            return None;
        }
        Some(Place(self.open.clone()))
    }

    /// Whether the guest ever asked for one more than it may have.
    pub fn reached(&self) -> bool {
        self.reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_given_back_can_be_taken_again() {
        let mut limit = Limit::new(2);
        let (first, _second) = (limit.take().unwrap(), limit.take().unwrap());
        assert!(limit.take().is_none() && limit.reached());
        drop(first);
        assert!(limit.take().is_some());
    }
}
