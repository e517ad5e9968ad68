//! `wasi:io/poll`: waiting for one thing, or for many at once.
//!
//! A guest with many connections waits for all of their halves with each call, so these take a short way: what it has
//! subscribed to lies in its table as a [`Half`], which is asked by itself, and not behind wasmtime-wasi's boxed futures,
//! of which each call would make one for each. Everything else that can be waited for is wasmtime-wasi's, and waited for
//! by its own function, in the same breath.
//!
//! Some guests only ask here and never wait, so now and then a call gives the network a turn first: see [`super::turn`].

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll as Ready, Waker};

use wasmtime::Result;
use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi_io::bindings::wasi::io::poll as table;

use super::bindings::wasi::io::poll;
use super::streams::{Reader, Writer};

/// Calls between two turns of the network: often enough to be far below any time a guest measures, seldom enough not to
/// be felt.
const CALLS: u32 = 32;

/// What a guest has subscribed to, where it is a half of a connection. It is a child of the stream in the table.
pub enum Half {
    Reads(Reader),
    Writes(Writer),
}

impl Half {
    fn poll(&self, cx: &mut Context<'_>) -> Ready<()> {
        match self {
            Self::Reads(reader) => reader.poll(cx),
            Self::Writes(writer) => writer.poll(cx),
        }
    }
}

/// A subscription to a half of a connection: `parent`'s child, so that a stream that is dropped before it traps the guest
/// as the standard has it.
pub fn subscribe<P: 'static>(
    table: &mut ResourceTable,
    half: Half,
    parent: &Resource<P>,
) -> Result<Resource<DynPollable>> {
    let half = table.push_child(Arc::new(half), parent)?;
    Ok(Resource::new_own(half.rep()))
}

/// Where a guest's handle would be if it is one for a half of a connection.
fn half(pollable: &Resource<DynPollable>) -> Resource<Arc<Half>> {
    Resource::new_borrow(pollable.rep())
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
        let mut halves: Vec<(u32, Arc<Half>)> = Vec::with_capacity(pollables.len());
        let mut others = Vec::new();
        let mut places = Vec::new();
        for (place, pollable) in (0..).zip(pollables.iter()) {
            match self.table.get(&half(pollable)) {
                Ok(half) => halves.push((place, half.clone())),
                Err(_) => {
                    others.push(Resource::new_borrow(pollable.rep()));
                    places.push(place);
                }
            }
        }
        let nothing_else = others.is_empty() && !halves.is_empty();
        let mut others = pin!(async {
            // An empty list is for wasmtime-wasi to refuse.
            if nothing_else { pending().await } else { table::Host::poll(self.table, others).await }
        });
        poll_fn(|cx| {
            let mut ready: Vec<u32> =
                halves.iter().filter(|(_, half)| half.poll(cx).is_ready()).map(|(place, _)| *place).collect();
            match others.as_mut().poll(cx) {
                Ready::Ready(Ok(found)) => ready.extend(found.into_iter().filter_map(|at| places.get(at as usize))),
                Ready::Ready(Err(error)) => return Ready::Ready(Err(error)),
                Ready::Pending => {}
            }
            if ready.is_empty() { Ready::Pending } else { Ready::Ready(Ok(ready)) }
        })
        .await
    }
}

impl poll::HostPollable for PollView<'_> {
    async fn block(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        let Ok(half) = self.table.get(&half(&pollable)).cloned() else {
            return table::HostPollable::block(self.table, pollable).await;
        };
        poll_fn(|cx| half.poll(cx)).await;
        Ok(())
    }

    async fn ready(&mut self, pollable: Resource<DynPollable>) -> Result<bool> {
        self.turn().await;
        match self.table.get(&half(&pollable)) {
            Ok(half) => Ok(half.poll(&mut Context::from_waker(Waker::noop())).is_ready()),
            Err(_) => table::HostPollable::ready(self.table, pollable).await,
        }
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        if self.table.get(&half(&pollable)).is_err() {
            return table::HostPollable::drop(self.table, pollable);
        }
        self.table.delete(Resource::<Arc<Half>>::new_own(pollable.rep()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wasmtime_wasi::p2::Pollable;
    use wrun_net::memory::Memory;
    use wrun_net::{Backend, Family, TcpStream};

    use super::poll::{Host as _, HostPollable as _};
    use super::*;

    /// Both ends of a connection.
    async fn connection() -> (Arc<dyn TcpStream>, Arc<dyn TcpStream>) {
        let backend = Memory::new();
        let socket = backend.tcp(Family::V4).unwrap();
        let address = socket.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let listener = socket.listen(1).await.unwrap();
        let near = backend.tcp(Family::V4).unwrap().connect(address).await.unwrap();
        poll_fn(|cx| listener.poll_accept_ready(cx)).await;
        (near, listener.try_accept().unwrap())
    }

    /// Ready after a time.
    struct Timer(Duration);

    #[wasmtime_wasi::async_trait]
    impl Pollable for Timer {
        async fn ready(&mut self) {
            tokio::time::sleep(self.0).await;
        }
    }

    fn again(pollable: &Resource<DynPollable>) -> Resource<DynPollable> {
        Resource::new_borrow(pollable.rep())
    }

    #[tokio::test(start_paused = true)]
    async fn halves_and_everything_else_are_waited_for_together_and_told_by_their_places() {
        let (near, far) = connection().await;
        let (mut table, mut calls) = (ResourceTable::new(), 0);
        let stream = table.push(Reader::new(near.clone())).unwrap();
        let reads = subscribe(&mut table, Half::Reads(Reader::new(near.clone())), &stream).unwrap();
        let writes = subscribe(&mut table, Half::Writes(Writer::new(near)), &stream).unwrap();
        let second = table.push(Timer(Duration::from_secs(1))).unwrap();
        let second = wasmtime_wasi::p2::subscribe(&mut table, second).unwrap();
        let mut view = PollView { table: &mut table, calls: &mut calls };

        assert_eq!(view.poll(vec![again(&reads), again(&writes)]).await.unwrap(), [1]);
        assert_eq!(view.poll(vec![again(&reads), again(&second)]).await.unwrap(), [1], "after a second");
        assert!(!view.ready(again(&reads)).await.unwrap());
        far.try_write(b"x").unwrap();
        assert_eq!(view.poll(vec![again(&second), again(&reads), again(&reads)]).await.unwrap(), [1, 2]);
        assert!(view.ready(again(&reads)).await.unwrap());
        view.block(again(&reads)).await.unwrap();
        assert!(view.poll(Vec::new()).await.is_err(), "nothing to wait for");
    }

    #[tokio::test]
    async fn a_stream_cannot_go_before_what_is_subscribed_to_it() {
        let (near, _far) = connection().await;
        let (mut table, mut calls) = (ResourceTable::new(), 0);
        let stream = table.push(Reader::new(near.clone())).unwrap();
        let reads = subscribe(&mut table, Half::Reads(Reader::new(near)), &stream).unwrap();
        let own = |stream: &Resource<Reader>| Resource::<Reader>::new_own(stream.rep());
        assert!(table.delete(own(&stream)).is_err());
        PollView { table: &mut table, calls: &mut calls }.drop(reads).unwrap();
        assert!(table.delete(own(&stream)).is_ok());
    }
}
