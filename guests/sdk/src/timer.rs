//! A point in time to wait for beside sockets.

use std::time::Duration;

use wasip2::clocks::monotonic_clock;
use wasip2::io::poll::Pollable;

use crate::poll::{Interest, nanoseconds};

/// A point in time, for [`wait`](crate::wait): ready from then on.
///
/// A guest that waits again and again keeps one and its timeout `None`, where a timeout would be set up anew by each wait.
#[derive(Debug)]
pub struct Timer(Pollable);

impl Timer {
    /// A time from now. Zero is ready at once, so that a wait with it only looks.
    pub fn after(time: Duration) -> Self {
        Self(monotonic_clock::subscribe_duration(nanoseconds(time)))
    }

    /// Ready when the time has come.
    pub fn elapsed(&self) -> Interest<'_> {
        Interest(&self.0)
    }
}
