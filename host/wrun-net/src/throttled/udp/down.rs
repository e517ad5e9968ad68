//! What others send to a guest, on its way from the socket inside.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::OVERHEAD;
use super::route::{Datagram, Routes};
use super::socket::Shared;
use crate::error::{Error, Result};
use crate::sync::lock;
use crate::throttled::account::Way;
use crate::throttled::alarm::Bell;
use crate::throttled::budget::THERE;
use crate::throttled::core::Ground;
use crate::throttled::scratch;
use crate::throttled::showing::Showing;
use crate::throttled::talk::Talk;
use crate::throttled::transit::Transit;
use crate::throttled::turns::{TURN, in_turns};
use crate::throttled::wakes::{Waiting, Wakes};
use crate::transport::is_same_peer;

pub struct Down {
    routes: Routes,
    /// Some rule changes what some datagrams meet.
    shaped: bool,
    transit: Transit<Received>,
    /// Answers that stall.
    stalls: Vec<Showing>,
    peer: Option<SocketAddr>,
    pumping: bool,
    /// It has had a pump, so that what is received has been taken from the socket inside.
    piped: bool,
    over: bool,
    pub pump: Waiting,
    pub reader: Waiting,
}

enum Received {
    Datagram(Datagram),
    Failed(Error),
}

impl From<Datagram> for Received {
    fn from(datagram: Datagram) -> Self {
        Self::Datagram(datagram)
    }
}

impl Down {
    pub fn new(ground: &Ground, number: u64) -> Self {
        let routes = Routes::new(ground, Way::Down, number);
        Self {
            shaped: is_shaped(&routes),
            routes,
            transit: Transit::new(ground.core.held()),
            stalls: Vec::new(),
            peer: None,
            pumping: false,
            piped: false,
            over: false,
            pump: Waiting::default(),
            reader: Waiting::default(),
        }
    }

    /// Looks at the terms again if there are new ones, and answers with their number.
    pub fn renew(&mut self, ground: &Ground) -> u64 {
        if self.routes.renew(ground).is_some() {
            self.shaped = is_shaped(&self.routes);
            // What has not left the queue yet leaves it on the new terms.
            let now = Instant::now();
            // Nor does it stall any longer.
            self.stalls.clear();
            for received in self.transit.recall(now) {
                match received {
                    Received::Datagram(datagram) => {
                        self.routes.dispatch(&mut self.transit, ground, now, datagram, Duration::ZERO);
                    }
                    failed @ Received::Failed(_) => self.transit.send(failed, OVERHEAD, now, None),
                }
            }
        }
        self.routes.terms().number
    }

    /// Whether what is received comes from here.
    pub fn is_piped(&self) -> bool {
        self.shaped || self.piped
    }

    /// Bytes that a single receive answers with at most.
    pub fn limit(&self) -> usize {
        self.routes.terms().profile.board.receive.unwrap_or(usize::MAX)
    }

    fn arrive(&mut self, ground: &Ground, talk: &Talk, data: &[u8], from: SocketAddr) {
        let now = Instant::now();
        // What was in the queue of the socket inside as it got a peer.
        if self.peer.is_some_and(|peer| !is_same_peer(peer, from)) {
            return;
        }
        let mut stall = Duration::ZERO;
        if talk.asked.swap(false, Ordering::Relaxed)
            && let Some(time) = self.routes.stall(ground, ground.core.since(now), from, |stalls| &stalls.answer)
        {
            let until = ground.core.after(now, time);
            self.stalls.push(Showing::new(&ground.core, |quirks| &mut quirks.answer_stalls, now, until));
            stall = time;
        }
        let datagram = Datagram { data: data.into(), remote: from };
        self.routes.dispatch(&mut self.transit, ground, now, datagram, stall);
    }

    /// The socket inside has an error to tell, which comes from where its peer is.
    fn fail(&mut self, ground: &Ground, error: Error) {
        let now = Instant::now();
        let effects = self.routes.effects(ground.core.since(now), self.peer);
        let delay = effects.map_or(Duration::ZERO, |effects| effects.down.delay.base);
        self.transit.send(Received::Failed(error), OVERHEAD, ground.core.after(now, delay), None);
    }

    /// From now on there is one peer only, or none.
    pub fn connected(&mut self, peer: Option<SocketAddr>) {
        self.peer = peer;
        if let Some(peer) = peer {
            self.transit.retain(|received| match received {
                Received::Datagram(datagram) => is_same_peer(peer, datagram.remote),
                Received::Failed(_) => true,
            });
        }
    }

    /// Lets land what is due, and says whether anything did.
    fn land(&mut self, now: Instant) -> bool {
        self.stalls.retain(|stall| !stall.is_over(now));
        self.transit.land(now)
    }

    pub fn receive(&mut self, buffer: &mut [u8], wakes: &mut Wakes) -> Result<(usize, SocketAddr)> {
        self.land(Instant::now());
        let was_full = !self.has_room();
        let received = self.transit.take().ok_or(Error::WouldBlock)?;
        if was_full {
            wakes.add(&mut self.pump);
        }
        match received {
            Received::Datagram(Datagram { data, remote }) => {
                let count = data.len().min(buffer.len());
                buffer[..count].copy_from_slice(&data[..count]);
                Ok((count, remote))
            }
            Received::Failed(error) => Err(error),
        }
    }

    pub fn is_readable(&mut self) -> bool {
        self.land(Instant::now());
        self.transit.first().is_some()
    }

    fn has_room(&self) -> bool {
        self.transit.landed_cost() < THERE && self.transit.held().room() > OVERHEAD
    }

    /// Nobody will receive any more.
    pub fn give_up(&mut self, wakes: &mut Wakes) {
        self.over = true;
        self.stalls.clear();
        self.transit.retain(|_| false);
        wakes.add(&mut self.reader);
        wakes.add(&mut self.pump);
    }

    /// Whether a pump is to be started.
    pub fn starts(&mut self) -> bool {
        if self.pumping || self.over || !self.is_piped() {
            return false;
        }
        self.piped = true;
        self.pumping = true;
        true
    }
}

/// Whether any rule says something about what a UDP socket receives.
fn is_shaped(routes: &Routes) -> bool {
    routes.shapes(|effects| !effects.stalls.answer.is_none())
}

/// Takes what is received from the socket inside, for as long as the guest has its own.
pub async fn pump(shared: Arc<Shared>) {
    let mut bell = shared.ground.bell();
    in_turns(|cx| poll(&shared, &mut bell, cx)).await;
}

fn poll(shared: &Shared, bell: &mut Bell, cx: &mut Context<'_>) -> Poll<ControlFlow<()>> {
    // The socket inside drops what it has no room for, so this goes round more often than others.
    for _ in 0..8 * TURN {
        let Some((has_room, deadline)) = next(shared, cx) else { return Poll::Ready(ControlFlow::Break(())) };
        // Held for this one look only, so that its address is free as soon as the guest's socket is gone.
        let Some(inner) = shared.inner.upgrade() else { return Poll::Ready(ControlFlow::Break(())) };
        if has_room && inner.poll_receive_ready(cx).is_ready() {
            scratch::lend(|buffer| {
                let received = inner.try_receive(buffer);
                let mut down = lock(&shared.down);
                match received {
                    Ok((count, from)) => down.arrive(&shared.ground, &shared.talk, &buffer[..count], from),
                    Err(Error::WouldBlock) => {}
                    Err(error) => down.fail(&shared.ground, error),
                }
            });
        } else if deadline.is_none_or(|deadline| bell.poll(deadline, cx).is_pending()) {
            return Poll::Pending;
        }
    }
    Poll::Ready(ControlFlow::Continue(()))
}

/// Whether to take more now, and when to look again. `None`: never.
fn next(shared: &Shared, cx: &Context<'_>) -> Option<(bool, Option<Instant>)> {
    let mut wakes = Wakes::default();
    let mut down = lock(&shared.down);
    if down.over {
        return None;
    }
    let replaced = down.pump.keep(cx);
    down.renew(&shared.ground);
    if down.land(Instant::now()) {
        wakes.add(&mut down.reader);
    }
    let next = (down.has_room(), down.transit.next_due());
    drop(down);
    drop(replaced);
    Some(next)
}
