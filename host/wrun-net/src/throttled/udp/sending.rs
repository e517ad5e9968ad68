//! What may hold a send up: a stall of the board, or a send queue that is full.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::Instant;

use crate::error::{Error, Result};
use crate::shape::profile::SendQueue;
use crate::shape::send_queue::Places;
use crate::throttled::core::Ground;

pub struct Sending {
    stall: Stall,
    /// The quirk, where the board has it.
    places: Option<Places>,
    /// Bytes of the datagrams that have a place.
    placed: u64,
    /// The time of being full that was counted already.
    counted: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stall {
    /// None was drawn for the next datagram.
    None,
    /// The next datagram is to wait until then.
    Until(Instant),
}

impl Sending {
    pub fn new(queue: Option<&SendQueue>) -> Self {
        let places = queue.cloned().map(Places::new);
        Self { stall: Stall::None, places, placed: 0, counted: None }
    }

    /// Begins anew, on other terms. A queue that stays as it was keeps what is in it.
    pub fn renew(&mut self, known: Option<&SendQueue>, queue: Option<&SendQueue>) {
        self.stall = Stall::None;
        if known != queue {
            self.places = queue.cloned().map(Places::new);
            (self.placed, self.counted) = (0, None);
        }
    }

    /// Whether a datagram may go now, which stalls by what is drawn for it. If it may not, [`Self::held_until`] says
    /// when. It takes its place only by [`Self::sent`]: one that does not go after all is asked for again, and is to find
    /// its stall over and the place still there.
    pub fn admit(&mut self, ground: &Ground, draw: impl FnOnce() -> Option<Duration>) -> Result<()> {
        let now = Instant::now();
        if self.stall == Stall::None
            && let Some(time) = draw()
        {
            ground.core.quirks.note(|quirks| quirks.send_stalls.add(time));
            self.stall = Stall::Until(ground.core.after(now, time));
        }
        if matches!(self.stall, Stall::Until(until) if until > now) {
            return Err(Error::WouldBlock);
        }
        if let Some(places) = &mut self.places {
            if let Some(until) = places.full_until(ground.core.since(now)) {
                let until = ground.core.at(until);
                if self.counted != Some(until) {
                    self.counted = Some(until);
                    let wait = until.saturating_duration_since(now);
                    ground.core.quirks.note(|quirks| quirks.full_queues.add(wait));
                }
                return Err(Error::WouldBlock);
            }
        }
        Ok(())
    }

    /// A datagram of this size that was admitted has gone.
    pub fn sent(&mut self, ground: &Ground, to: SocketAddr, bytes: usize) {
        self.stall = Stall::None;
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
        if let Stall::Until(until) = self.stall
            && until > now
        {
            return Some(until);
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
        self.places.as_mut().map(|places| places.set_depth(now, depth)).is_some()
    }
}
