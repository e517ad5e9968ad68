//! Waiting: for one thing with a limit, and for many things at once.

use std::io;
use std::time::Duration;

use wasip2::clocks::monotonic_clock;
use wasip2::io::poll::{self, Pollable};

use crate::error::timed_out;

/// Something to [`wait`] for: that a socket can be read, written or accepted from without blocking.
///
/// Made by the `readable`, `writable` and `acceptable` methods of the sockets, and cheap: a socket subscribes once for
/// each direction and keeps that for its life.
#[derive(Debug, Clone, Copy)]
pub struct Interest<'a>(pub(crate) &'a Pollable);

/// Waits until at least one of many things can be done, and says which: their places in `interests`, in order.
///
/// Empty when `timeout` passed first. `None` waits for ever, zero only looks. What is ready stays so until it is used
/// up, so each wait reports it again. With no interests it sleeps for the timeout; with neither, it answers
/// [`io::ErrorKind::InvalidInput`] rather than sleep for ever.
pub fn wait(interests: &[Interest<'_>], timeout: Option<Duration>) -> io::Result<Vec<usize>> {
    let mut pollables: Vec<&Pollable> = interests.iter().map(|interest| interest.0).collect();
    let timer = timeout.map(|timeout| monotonic_clock::subscribe_duration(nanoseconds(timeout)));
    pollables.extend(timer.as_ref());
    if pollables.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "wait for nothing without a timeout would never end"));
    }
    let ready = poll::poll(&pollables).into_iter().map(|place| place as usize);
    let mut places: Vec<usize> = ready.filter(|place| *place < interests.len()).collect();
    // The standard promises no order.
    places.sort_unstable();
    Ok(places)
}

/// A point in time to wait until, or for ever.
pub(crate) struct Deadline(Option<monotonic_clock::Instant>);

impl Deadline {
    pub(crate) fn after(timeout: Option<Duration>) -> Self {
        Self(timeout.map(|timeout| monotonic_clock::now().saturating_add(nanoseconds(timeout))))
    }

    /// Waits until `pollable` is ready; `false` when the deadline passed first.
    pub(crate) fn block(&self, pollable: &Pollable) -> bool {
        let Some(at) = self.0 else {
            pollable.block();
            return true;
        };
        let timer = monotonic_clock::subscribe_instant(at);
        poll::poll(&[pollable, &timer]).contains(&0)
    }
}

/// Attempts until the answer is another than "would block"; `asked` is for the error of a wait that passed `timeout`.
///
/// An attempt comes first: what is there already needs no wait, and while nothing is there a call of the host more is
/// part of the waiting.
pub(crate) fn attempt<T>(
    interest: Interest<'_>,
    timeout: Option<Duration>,
    asked: impl FnOnce() -> String,
    mut attempt: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let would_block =
        |answer: &io::Result<T>| matches!(answer, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
    let answer = attempt();
    if !would_block(&answer) {
        return answer;
    }
    // The clock is read only when there is something to wait for.
    let deadline = Deadline::after(timeout);
    loop {
        if !deadline.block(interest.0) {
            return Err(timed_out(timeout.unwrap_or_default(), asked));
        }
        let answer = attempt();
        if !would_block(&answer) {
            return answer;
        }
    }
}

/// For the standard's clock; more than 584 years are as good as for ever.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
