//! Letting time pass for guests that ask again and again instead of waiting.
//!
//! The network is looked at when a guest waits. One that only asks ("is it there yet?") would see nothing happen until
//! it is interrupted at its next tick, and would measure that tick. So what answers "not yet" gives the network a turn
//! first. [`Poll`] does the same for `wasi:io/poll`, whose calls may be of that kind too, now and then.

use std::task::{Context, Poll as Ready, Waker};

use wasmtime::Result;
use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi_io::bindings::wasi::io::poll as table;

use super::bindings::wasi::io::poll;

/// Calls of `wasi:io/poll` between two turns of the network: often enough to be far below any time a guest measures,
/// seldom enough not to be felt.
const CALLS: u32 = 32;

/// Whether something is ready, if need be after a turn of the network.
pub async fn ready_now(mut poll: impl FnMut(&mut Context<'_>) -> Ready<()>) -> bool {
    let mut is_ready = || poll(&mut Context::from_waker(Waker::noop())).is_ready();
    if is_ready() {
        return true;
    }
    tokio::task::yield_now().await;
    is_ready()
}

/// What the interface works on.
pub struct PollView<'a> {
    pub table: &'a mut ResourceTable,
    /// Calls so far.
    pub calls: &'a mut u32,
}

pub struct Poll;

impl HasData for Poll {
    type Data<'a> = PollView<'a>;
}

impl PollView<'_> {
    async fn turn(&mut self) {
        *self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(CALLS) {
            tokio::task::yield_now().await;
        }
    }
}

impl poll::Host for PollView<'_> {
    async fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> Result<Vec<u32>> {
        self.turn().await;
        table::Host::poll(self.table, pollables).await
    }
}

impl poll::HostPollable for PollView<'_> {
    async fn block(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        table::HostPollable::block(self.table, pollable).await
    }

    async fn ready(&mut self, pollable: Resource<DynPollable>) -> Result<bool> {
        self.turn().await;
        table::HostPollable::ready(self.table, pollable).await
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        table::HostPollable::drop(self.table, pollable)
    }
}
