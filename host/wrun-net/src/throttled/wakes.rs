//! Wakers that are kept under a lock, and woken or dropped after it: either may run code that comes back for the lock.

use std::task::{Context, Waker};

/// Who waits for one thing. The last to ask is woken.
#[derive(Default)]
pub struct Waiting(Option<Waker>);

impl Waiting {
    /// Keeps who asks, and gives back who did before, to be dropped once the lock is gone.
    #[must_use]
    pub fn keep(&mut self, cx: &Context<'_>) -> Option<Waker> {
        if self.0.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            return None;
        }
        self.0.replace(cx.waker().clone())
    }

    pub fn is_there(&self) -> bool {
        self.0.is_some()
    }
}

/// Wakers to be woken once the lock is gone, which this must outlive.
#[derive(Default)]
pub struct Wakes([Option<Waker>; 3]);

impl Wakes {
    /// Wakes who waits there, once. Of each direction there are at most three: who reads or writes, who closes, the pump.
    pub fn add(&mut self, waiting: &mut Waiting) {
        let Some(waker) = waiting.0.take() else { return };
        match self.0.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(waker),
            None => waker.wake(),
        }
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        self.0.iter_mut().filter_map(Option::take).for_each(Waker::wake);
    }
}
