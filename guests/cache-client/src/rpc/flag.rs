//! What stands in for a task: a flag that says that polling again is of use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

/// Raised by whoever would wake a task.
pub struct Flag {
    raised: Arc<Raised>,
    waker: Waker,
}

struct Raised(AtomicBool);

impl Wake for Raised {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Flag {
    /// Raised already: what was never polled has to be.
    pub fn raised() -> Self {
        let raised = Arc::new(Raised(AtomicBool::new(true)));
        Self { waker: Waker::from(Arc::clone(&raised)), raised }
    }

    /// Whether it was raised since this was asked last.
    pub fn lower(&self) -> bool {
        self.raised.0.swap(false, Ordering::Relaxed)
    }

    pub fn waker(&self) -> &Waker {
        &self.waker
    }
}
