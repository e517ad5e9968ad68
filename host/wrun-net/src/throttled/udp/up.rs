//! What a guest sends, on its way to the socket inside.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::OVERHEAD;
use super::route::{Datagram, Routes};
use super::sending::Sending;
use super::socket::Shared;
use crate::backend::{Family, UdpSocket};
use crate::error::{Error, Result};
use crate::sync::lock;
use crate::throttled::account::Way;
use crate::throttled::alarm::Bell;
use crate::throttled::budget::THERE;
use crate::throttled::core::{Core, Ground};
use crate::throttled::leftover::Leftover;
use crate::throttled::transit::Transit;
use crate::throttled::turns::{TURN, in_turns};
use crate::throttled::wakes::{Waiting, Wakes};
use crate::transport::is_same_peer;

pub struct Up {
    routes: Routes,
    /// Some rule changes what some datagrams meet, or the board's queue does.
    shaped: bool,
    pub sending: Sending,
    transit: Transit<Datagram>,
    /// The socket inside, which stays open while something is in hand.
    kept: Option<Arc<dyn UdpSocket>>,
    /// Its address, when the guest has dropped its own.
    leftover: Option<Leftover>,
    peer: Option<SocketAddr>,
    /// What a late send was answered, still to be told.
    failure: Option<Error>,
    pumping: bool,
    over: bool,
    pub pump: Waiting,
    pub writer: Waiting,
}

impl Up {
    pub fn new(ground: &Ground, number: u64) -> Self {
        let routes = Routes::new(ground, Way::Up, number);
        let sending = Sending::new(routes.terms().profile.board.send_queue.as_ref());
        Self {
            shaped: is_shaped(&routes),
            routes,
            sending,
            transit: Transit::handing_on(ground.core.held()),
            kept: None,
            leftover: None,
            peer: None,
            failure: None,
            pumping: false,
            over: false,
            pump: Waiting::default(),
            writer: Waiting::default(),
        }
    }

    /// Looks at the terms again if there are new ones, and answers with their number.
    pub fn renew(&mut self, ground: &Ground) -> u64 {
        if let Some(known) = self.routes.renew(ground) {
            let now = Instant::now();
            self.shaped = is_shaped(&self.routes);
            let queue = self.routes.terms().profile.board.send_queue.as_ref();
            self.sending.renew(known.profile.board.send_queue.as_ref(), queue);
            // What has not left the queue yet leaves it on the new terms.
            for datagram in self.transit.recall(now) {
                self.routes.dispatch(&mut self.transit, ground, now, datagram, Duration::ZERO);
            }
        }
        self.routes.terms().number
    }

    /// Whether a send has to be looked at.
    pub fn is_piped(&self) -> bool {
        self.shaped || self.failure.is_some()
    }

    pub fn tell_failure(&mut self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Takes a datagram. What no line changes, and what is due at once, goes to the socket inside right here: a task
    /// would have it late. The lock is kept meanwhile, so that nobody else's comes in between.
    pub fn send(
        &mut self,
        ground: &Ground,
        inner: &Arc<dyn UdpSocket>,
        data: &[u8],
        remote: Option<SocketAddr>,
    ) -> Result<()> {
        // Where it goes: the one peer, unless it is said.
        let to = remote.or(self.peer).ok_or(Error::InvalidState)?;
        if data.len() > largest(to) {
            return Err(Error::DatagramTooLarge);
        }
        if !self.has_room(data.len()) {
            return Err(Error::WouldBlock);
        }
        let now = Instant::now();
        let (routes, time) = (&mut self.routes, ground.core.since(now));
        let stall = || routes.stall(ground, time, to, |stalls| &stalls.send);
        self.sending.admit(ground, stall)?;
        if self.routes.course(ground, to).is_none_or(|course| course.is_clear()) {
            inner.try_send(data, remote)?;
        } else {
            // What is there already, or due, goes first: the task sees to that.
            let is_first = self.transit.first().is_none() && self.transit.next_due().is_none_or(|due| due > now);
            let datagram = Datagram { data: data.into(), remote: to };
            self.routes.dispatch(&mut self.transit, ground, now, datagram, Duration::ZERO);
            let handed_over = if is_first { self.hand_over(&**inner, now) } else { Ok(()) };
            if !self.transit.is_empty() {
                self.kept.get_or_insert_with(|| inner.clone());
            }
            handed_over?;
        }
        self.sending.sent(ground, to, data.len());
        Ok(())
    }

    /// Hands what is due over to the socket inside, until that has no room: the rest is the task's.
    fn hand_over(&mut self, inner: &dyn UdpSocket, now: Instant) -> Result<()> {
        self.transit.land(now);
        let mut handed_over = Ok(());
        while let Some(Datagram { data, remote }) = self.transit.first() {
            let is_peer = self.peer.is_some_and(|peer| is_same_peer(peer, *remote));
            let result = inner.try_send(data, (!is_peer).then_some(*remote));
            if result == Err(Error::WouldBlock) {
                break;
            }
            self.transit.take();
            handed_over = handed_over.and(result);
        }
        handed_over
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.transit.landed_cost() < THERE && self.transit.held().room() >= bytes + OVERHEAD
    }

    /// Until when nothing can be sent: `None` for when something has gone. `Ok` if something can.
    pub fn admits(&mut self, ground: &Ground) -> Result<(), Option<Instant>> {
        if self.failure.is_some() {
            return Ok(());
        }
        if let Some(until) = self.sending.held_until(ground, Instant::now()) {
            return Err(Some(until));
        }
        // For any datagram, since nobody knows how large the next one is.
        if self.has_room(largest_of(Family::V6)) || self.transit.is_empty() { Ok(()) } else { Err(None) }
    }

    pub fn connected(&mut self, peer: Option<SocketAddr>) {
        self.peer = peer;
    }

    /// Bytes that have not been handed to the socket inside.
    pub fn in_hand(&self) -> u64 {
        self.transit.sum(|datagram| datagram.data.len() as u64)
    }

    /// Whether a pump is to be started. One that runs is woken.
    pub fn starts(&mut self, wakes: &mut Wakes) -> bool {
        wakes.add(&mut self.pump);
        let is_needed = !self.transit.is_empty() || self.writer.is_there();
        is_needed && !std::mem::replace(&mut self.pumping, true)
    }

    /// The guest has dropped it. What is in hand goes on.
    pub fn give_up(&mut self, core: &Arc<Core>, wakes: &mut Wakes) {
        self.over = true;
        self.sending.give_up();
        let address = self.kept.as_ref().and_then(|kept| kept.local_address().ok());
        self.leftover = address.map(|address| Leftover::new(core, address));
        wakes.add(&mut self.writer);
        wakes.add(&mut self.pump);
    }
}

/// Whether anything says something about what a UDP socket sends.
fn is_shaped(routes: &Routes) -> bool {
    routes.terms().profile.board.send_queue.is_some() || routes.shapes(|effects| !effects.stalls.send.is_none())
}

/// The most bytes a datagram carries: 65,535 without the headers that count as its length.
fn largest(to: SocketAddr) -> usize {
    largest_of(Family::of(to.ip()))
}

fn largest_of(family: Family) -> usize {
    match family {
        Family::V4 => 65_507,
        Family::V6 => 65_527,
    }
}

/// What a pump does next.
enum Step {
    /// It is over.
    Rest,
    /// This one is there; to be sent to the one peer, if that is `None`.
    Send(Arc<dyn UdpSocket>, Arc<[u8]>, Option<SocketAddr>),
    Wait,
}

/// Moves what is sent into the socket inside, until nothing is in hand and nobody waits.
pub async fn pump(shared: Arc<Shared>) {
    let mut bell = shared.ground.bell();
    in_turns(|cx| poll(&shared, &mut bell, cx)).await;
}

fn poll(shared: &Shared, bell: &mut Bell, cx: &mut Context<'_>) -> Poll<ControlFlow<()>> {
    // As many as any receiver's buffer has room for while it waits for its turn.
    for _ in 0..4 * TURN {
        let (step, deadline) = next(shared, cx);
        let goes_on = match step {
            Step::Rest => return Poll::Ready(ControlFlow::Break(())),
            Step::Send(inner, data, to) => {
                let result = inner.try_send(&data, to);
                let is_ready = result != Err(Error::WouldBlock) || inner.poll_send_ready(cx).is_ready();
                if result != Err(Error::WouldBlock) {
                    sent(shared, result, to.is_none());
                }
                is_ready
            }
            Step::Wait => false,
        };
        if !goes_on && deadline.is_none_or(|deadline| bell.poll(deadline, cx).is_pending()) {
            return Poll::Pending;
        }
    }
    Poll::Ready(ControlFlow::Continue(()))
}

/// The first of those that are there has gone to the socket inside.
fn sent(shared: &Shared, result: Result<()>, to_peer: bool) {
    let mut wakes = Wakes::default();
    let mut up = lock(&shared.up);
    let gone = up.transit.take();
    // A socket that has another peer by now may refuse what was sent to an earlier one: that is lost, and no news.
    if let Err(error) = result
        && (to_peer || up.peer.is_none())
    {
        up.failure.get_or_insert(error);
        shared.look();
        wakes.add(&mut up.writer);
    }
    // The socket goes before the word that its address is free.
    let kept = if up.transit.is_empty() { (up.kept.take(), up.leftover.take()) } else { (None, None) };
    drop(up);
    drop((gone, kept));
}

/// What is to be done now, and when to look again whatever comes of it.
fn next(shared: &Shared, cx: &Context<'_>) -> (Step, Option<Instant>) {
    let ground = &shared.ground;
    let mut wakes = Wakes::default();
    let mut up = lock(&shared.up);
    let replaced = up.pump.keep(cx);
    up.renew(ground);
    up.transit.land(Instant::now());
    let mut deadlines = [up.transit.next_due(), None];
    if up.writer.is_there() {
        match up.admits(ground) {
            Ok(()) => wakes.add(&mut up.writer),
            Err(when) => deadlines[1] = when,
        }
    }
    let deadline = deadlines.into_iter().flatten().min();
    let first = up.transit.first().map(|datagram| (datagram.data.clone(), datagram.remote));
    let (step, kept) = match (first, up.kept.clone()) {
        (Some((data, to)), Some(inner)) => {
            let is_peer = up.peer.is_some_and(|peer| is_same_peer(peer, to));
            (Step::Send(inner, data, (!is_peer).then_some(to)), (None, None))
        }
        _ if up.transit.is_empty() && (up.over || !up.writer.is_there()) => {
            up.pumping = false;
            (Step::Rest, (up.kept.take(), up.leftover.take()))
        }
        _ => (Step::Wait, (None, None)),
    };
    drop(up);
    drop((replaced, kept));
    (step, deadline)
}
