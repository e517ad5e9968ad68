//! What a UDP socket has received and not yet read.

use std::collections::{HashSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use super::settings::Settings;
use crate::error::{Error, Result};
use crate::sync::lock;
use crate::transport::is_same_peer;

/// Bytes that a datagram costs besides its own, so that empty ones fill a buffer too.
const OVERHEAD: usize = 256;

#[derive(Default)]
pub struct Mailbox(Mutex<State>);

#[derive(Default)]
pub struct State {
    pub settings: Settings,
    /// The only one to receive from, and to send to.
    pub peer: Option<SocketAddr>,
    /// Groups joined. There is one interface, so they need no more than a name.
    pub groups: HashSet<IpAddr>,
    datagrams: VecDeque<(SocketAddr, Box<[u8]>)>,
    /// What they cost together, in bytes.
    cost: usize,
    /// Nobody was there for a datagram to the peer, which is told once.
    refused: bool,
    reader: Option<Waker>,
}

impl State {
    /// Tells of a refusal, once.
    pub fn tell_refusal(&mut self) -> Result<()> {
        if std::mem::take(&mut self.refused) { Err(Error::ConnectionRefused) } else { Ok(()) }
    }
}

impl Mailbox {
    /// Reads or changes the state, without waking anybody.
    pub fn state<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut lock(&self.0))
    }

    /// Restricts the socket to one peer, or to none again. What others had sent before is gone, what the peer had sent
    /// stays.
    pub fn connect(&self, peer: Option<SocketAddr>) {
        let mut state = lock(&self.0);
        state.peer = peer;
        if let Some(peer) = peer {
            state.datagrams.retain(|(sender, _)| is_same_peer(peer, *sender));
            state.cost = state.datagrams.iter().map(|(_, data)| data.len() + OVERHEAD).sum();
        }
    }

    /// Puts a datagram in, unless the socket is connected to another than its sender. A full buffer drops it.
    ///
    /// Answers whether the socket is there for this sender.
    pub fn deliver(&self, sender: SocketAddr, data: &[u8]) -> bool {
        let mut state = lock(&self.0);
        if state.peer.is_some_and(|peer| !is_same_peer(peer, sender)) {
            return false;
        }
        // As in a kernel, a buffer with any room takes one more datagram whole, however large.
        if state.cost < state.settings.receive_buffer {
            state.cost += data.len() + OVERHEAD;
            state.datagrams.push_back((sender, data.into()));
            let reader = state.reader.take();
            drop(state);
            reader.into_iter().for_each(Waker::wake);
        }
        true
    }

    /// Tells the socket that nobody was there.
    pub fn refuse(&self) {
        let mut state = lock(&self.0);
        state.refused = true;
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }

    pub fn take(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)> {
        let mut state = lock(&self.0);
        state.tell_refusal()?;
        let (sender, data) = state.datagrams.pop_front().ok_or(Error::WouldBlock)?;
        state.cost -= data.len() + OVERHEAD;
        // A buffer that is too small loses the rest, as everywhere; the contract asks for one that never is.
        let count = data.len().min(buffer.len());
        buffer[..count].copy_from_slice(&data[..count]);
        Ok((count, sender))
    }

    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.0);
        if state.refused || !state.datagrams.is_empty() {
            return Poll::Ready(());
        }
        let replaced = state.reader.replace(cx.waker().clone());
        // In this order, since dropping a waker may run code that comes back here.
        drop(state);
        drop(replaced);
        Poll::Pending
    }
}
