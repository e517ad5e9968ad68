//! One direction of a UDP socket over the lines of the rules that its remote ends meet.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::OVERHEAD;
use crate::shape::line::Verdict;
use crate::shape::profile::{Effects, Mixture, Operation, Protocol, Stalls};
use crate::throttled::account::Way;
use crate::throttled::core::Ground;
use crate::throttled::course::Course;
use crate::throttled::tally::Passage;
use crate::throttled::terms::Terms;
use crate::throttled::transit::Transit;

pub struct Routes {
    way: Way,
    socket: u64,
    terms: Arc<Terms>,
    /// One for each rule that was met.
    courses: Vec<Course>,
}

/// A datagram, with where it comes from or goes to.
#[derive(Clone)]
pub struct Datagram {
    /// Shared with its duplicate.
    pub data: Arc<[u8]>,
    pub remote: SocketAddr,
}

impl Datagram {
    /// What it takes in memory, in bytes.
    fn cost(&self) -> usize {
        self.data.len() + OVERHEAD
    }
}

impl Routes {
    pub fn new(ground: &Ground, way: Way, socket: u64) -> Self {
        Self { way, socket, terms: ground.core.terms(), courses: Vec::new() }
    }

    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Looks at the terms, if there are others, and answers with those that held before.
    pub fn renew(&mut self, ground: &Ground) -> Option<Arc<Terms>> {
        if self.terms.number == ground.core.current() {
            return None;
        }
        self.courses.clear();
        Some(std::mem::replace(&mut self.terms, ground.core.terms()))
    }

    /// Whether any rule changes a path, or does any of this, at any time.
    pub fn shapes(&self, does: impl Fn(&Effects) -> bool) -> bool {
        let is_clear = |effects: &Effects| match self.way {
            Way::Up => effects.up.is_clear(),
            Way::Down => effects.down.is_clear(),
        };
        self.terms.any(self.operation(), Protocol::Udp, |effects| !is_clear(effects) || does(effects))
    }

    fn operation(&self) -> Operation {
        match self.way {
            Way::Up => Operation::Send,
            Way::Down => Operation::Receive,
        }
    }

    fn rule(&self, remote: Option<SocketAddr>) -> Option<usize> {
        self.terms.rule(self.operation(), Some(Protocol::Udp), remote)
    }

    /// What is done at this time since the beginning to what comes from there or goes there.
    pub fn effects(&self, time: Duration, remote: Option<SocketAddr>) -> Option<&Effects> {
        self.terms.effects(self.rule(remote)?, time)
    }

    /// How long an operation with a remote end stalls that begins at this time since the beginning.
    pub fn stall(
        &mut self,
        ground: &Ground,
        time: Duration,
        remote: SocketAddr,
        of: impl Fn(&Stalls) -> &Mixture,
    ) -> Option<Duration> {
        let terms = self.terms.clone();
        let course = self.course(ground, remote)?;
        course.stall(of(&terms.effects(course.rule, time)?.stalls))
    }

    /// The way over the line for a remote end. `None` where no rule says so.
    pub fn course(&mut self, ground: &Ground, remote: SocketAddr) -> Option<&mut Course> {
        let rule = self.rule(Some(remote))?;
        let known = self.courses.iter().position(|course| course.rule == rule);
        let place = match known {
            Some(place) => place,
            None => {
                self.courses.push(self.terms.course(rule, self.way, ground.core.seed, self.socket)?);
                self.courses.len() - 1
            }
        };
        self.courses.get_mut(place)
    }

    /// Sends a datagram on its way, so much later than the line says, or loses it.
    pub fn dispatch<T: From<Datagram>>(
        &mut self,
        transit: &mut Transit<T>,
        ground: &Ground,
        now: Instant,
        datagram: Datagram,
        stall: Duration,
    ) {
        let core = &ground.core;
        let bytes = datagram.data.len();
        let cost = datagram.cost();
        let Some(course) = self.course(ground, datagram.remote) else {
            return transit.send(datagram.into(), cost, core.after(now, stall), None);
        };
        let (verdict, queued) = course.datagram(core.since(now), bytes);
        let Verdict::Passes(passes) = verdict else { return };
        // A stall of the board is no part of the link's delay.
        let at = |time: Duration| core.at(time.saturating_add(stall));
        let due = at(passes.due);
        // One that was chosen to overtake has no delay to be held against.
        let passage = Passage {
            handed: core.after(now, stall),
            sent: at(passes.departs),
            due,
            queued: queued.is_some(),
            bytes: queued.unwrap_or(bytes),
            delayed: !passes.reordered,
        };
        let tally = course.tally.clone();
        if let Some(again) = passes.duplicate {
            let due = at(again);
            let passage = Passage { due, queued: false, bytes: 0, ..passage };
            transit.send(datagram.clone().into(), cost, due, Some((tally.clone(), passage)));
        }
        transit.send(datagram.into(), cost, due, Some((tally, passage)));
    }
}
