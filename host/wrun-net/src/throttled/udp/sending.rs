//! What may hold a send up: a stall of the board, or a send queue that is full.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::Instant;

use crate::error::{Error, Result};
use crate::shape::profile::SendQueue;
use crate::shape::send_queue::Places;
use crate::throttled::core::Ground;
use crate::throttled::showing::Showing;

pub struct Sending {
    /// What was drawn for the next datagram.
    stall: Option<Showing>,
    /// The quirk, where the board has it.
    places: Option<Places>,
    /// Bytes of the datagrams that have a place.
    placed: u64,
    /// A datagram was refused because there is no place.
    full: Option<Showing>,
}

impl Sending {
    pub fn new(queue: Option<&SendQueue>) -> Self {
        let places = queue.cloned().map(Places::new);
        Self { stall: None, places, placed: 0, full: None }
    }

    /// Begins anew, on other terms. A queue that stays as it was keeps what is in it.
    pub fn renew(&mut self, known: Option<&SendQueue>, queue: Option<&SendQueue>) {
        self.stall = None;
        if known != queue {
            self.places = queue.cloned().map(Places::new);
            (self.placed, self.full) = (0, None);
        }
    }

    /// Whether a datagram may go now, which stalls by what is drawn for it. If it may not, [`Self::held_until`] says
    /// when. It takes its place only by [`Self::sent`]: one that does not go after all is asked for again, and is to find
    /// its stall over and the place still there.
    pub fn admit(&mut self, ground: &Ground, draw: impl FnOnce() -> Option<Duration>) -> Result<()> {
        let now = Instant::now();
        if self.stall.is_none() {
            let core = &ground.core;
            let stall = |time| Showing::new(core, |quirks| &mut quirks.send_stalls, now, core.after(now, time));
            self.stall = draw().map(stall);
        }
        if self.stall.as_ref().is_some_and(|stall| !stall.is_over(now)) {
            return Err(Error::WouldBlock);
        }
        let time = ground.core.since(now);
        if let Some(until) = self.places.as_mut().and_then(|places| places.full_until(time)) {
            let until = ground.core.at(until);
            if self.full.as_ref().is_none_or(|full| full.until() != until) {
                self.full = Some(Showing::new(&ground.core, |quirks| &mut quirks.full_queues, now, until));
            }
            return Err(Error::WouldBlock);
        }
        self.full = None;
        Ok(())
    }

    /// A datagram of this size that was admitted has gone.
    pub fn sent(&mut self, ground: &Ground, to: SocketAddr, bytes: usize) {
        self.stall = None;
        let Some(places) = &mut self.places else { return };
        let time = ground.core.since(Instant::now());
        if places.queued(time) == 0 {
            self.placed = 0;
        }
        places.try_send(time, to.ip());
        self.placed = if places.queued(time) == 0 { 0 } else { self.placed + bytes as u64 };
    }

    /// Until when no datagram may go.
    pub fn held_until(&mut self, ground: &Ground, now: Instant) -> Option<Instant> {
        if let Some(stall) = self.stall.as_ref().filter(|stall| !stall.is_over(now)) {
            return Some(stall.until());
        }
        let until = self.places.as_mut()?.full_until(ground.core.since(now))?;
        Some(ground.core.at(until))
    }

    /// Bytes of the datagrams that have a place in the queue.
    pub fn placed(&mut self, ground: &Ground) -> u64 {
        let now = ground.core.since(Instant::now());
        let is_empty = self.places.as_mut().is_none_or(|places| places.queued(now) == 0);
        if is_empty { 0 } else { self.placed }
    }

    /// How many datagrams the queue holds, where the board has one.
    pub fn depth(&self) -> Option<u32> {
        self.places.as_ref().map(Places::depth)
    }

    /// Sets how many the queue holds. Answers whether the board has one.
    pub fn set_depth(&mut self, ground: &Ground, depth: u32) -> bool {
        let now = ground.core.since(Instant::now());
        let Some(places) = &mut self.places else { return false };
        places.set_depth(now, depth);
        if places.full_until(now).is_none() {
            self.full = None;
        }
        true
    }

    /// Nobody will send any more.
    pub fn give_up(&mut self) {
        (self.stall, self.full) = (None, None);
    }
}
