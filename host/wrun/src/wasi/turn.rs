//! Letting time pass for guests that ask again and again instead of waiting.
//!
//! The network is looked at when a guest waits. One that only asks ("is it there yet?") would see nothing happen until
//! it is interrupted at its next tick, and would measure that tick. So what answers "not yet" gives the network a turn
//! first.

use std::task::{Context, Poll, Waker};

/// Whether something is ready, if need be after a turn of the network.
pub async fn ready_now(mut poll: impl FnMut(&mut Context<'_>) -> Poll<()>) -> bool {
    let mut is_ready = || poll(&mut Context::from_waker(Waker::noop())).is_ready();
    if is_ready() {
        return true;
    }
    tokio::task::yield_now().await;
    is_ready()
}
