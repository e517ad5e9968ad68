//! Tasks that do a lot, in turns with all others.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::task::{Context, Poll};

/// How often a task goes round before it is somebody else's turn. One thread is all there is for the guest, its peers and
/// the sockets' readiness, and a receiver that is not let in loses what is sent to it.
pub const TURN: usize = 16;

/// Polls until it says that it is over, letting everybody else in between.
pub async fn in_turns(mut poll: impl FnMut(&mut Context<'_>) -> Poll<ControlFlow<()>>) {
    while poll_fn(&mut poll).await.is_continue() {
        // Comes back after the runtime has looked at its sockets and timers.
        tokio::task::yield_now().await;
    }
}
