//! One direction of a connection over the line that a rule gives it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::pipe::{Ending, Pipe};
use crate::shape::profile::{Effects, Mixture, Operation, Protocol, Stalls};
use crate::throttled::account::Way;
use crate::throttled::budget::THERE;
use crate::throttled::core::Ground;
use crate::throttled::course::Course;
use crate::throttled::tally::Passage;
use crate::throttled::terms::Terms;

pub struct Route {
    way: Way,
    remote: Option<SocketAddr>,
    /// `None` until they are first looked at.
    terms: Option<Arc<Terms>>,
    /// The line, if a rule says so.
    course: Option<Course>,
    /// The rule of the other direction, for how long a round trip is.
    opposite: Option<usize>,
}

/// Whether there are other terms than when they were last looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum News {
    None,
    /// They were never looked at.
    First,
    Other,
}

impl Route {
    /// `course` is the one that the connect has used.
    pub fn new(way: Way, remote: Option<SocketAddr>, course: Option<Course>) -> Self {
        Self { way, remote, terms: None, course, opposite: None }
    }

    /// The number of the terms that were looked at last.
    pub fn number(&self) -> u64 {
        self.terms.as_ref().map_or(0, |terms| terms.number)
    }

    /// Looks at the terms, if there are others.
    pub fn renew(&mut self, ground: &Ground, socket: u64) -> News {
        if self.number() == ground.core.current() {
            return News::None;
        }
        let terms = ground.core.terms();
        let rule = |operation| terms.rule(operation, Some(Protocol::Tcp), self.remote);
        let (rule, opposite) = match self.way {
            Way::Up => (rule(Operation::Send), rule(Operation::Receive)),
            Way::Down => (rule(Operation::Receive), rule(Operation::Send)),
        };
        self.opposite = opposite;
        // The course of the connect goes on, if it is over the same line.
        let kept = self.course.take().filter(|course| course.terms == terms.number && Some(course.rule) == rule);
        self.course = kept.or_else(|| terms.course(rule?, self.way, ground.core.seed, socket));
        match self.terms.replace(terms) {
            None => News::First,
            Some(_) => News::Other,
        }
    }

    pub fn terms(&self) -> Option<&Terms> {
        self.terms.as_deref()
    }

    /// Whether the line changes anything, or the rule does any of this, at any time.
    pub fn shapes(&self, does: impl Fn(&Effects) -> bool) -> bool {
        let (Some(terms), Some(course)) = (&self.terms, &self.course) else { return false };
        !course.is_clear() || terms.ever(course.rule, does)
    }

    /// What the rule does at this time since the beginning.
    pub fn effects(&self, time: Duration) -> Option<&Effects> {
        self.terms.as_ref()?.effects(self.course.as_ref()?.rule, time)
    }

    /// How long an operation stalls that begins at this time since the beginning.
    pub fn stall(&mut self, time: Duration, of: impl Fn(&Stalls) -> &Mixture) -> Option<Duration> {
        let course = self.course.as_mut()?;
        course.stall(of(&self.terms.as_ref()?.effects(course.rule, time)?.stalls))
    }

    /// The way there and back, without jitter.
    pub fn round_trip(&self, time: Duration) -> Duration {
        self.own_delay(time).saturating_add(self.opposite_delay(time))
    }

    fn own_delay(&self, time: Duration) -> Duration {
        self.effects(time).map_or(Duration::ZERO, |effects| match self.way {
            Way::Up => effects.up.delay.base,
            Way::Down => effects.down.delay.base,
        })
    }

    /// The other direction's way, without jitter.
    pub fn opposite_delay(&self, time: Duration) -> Duration {
        let effects = self.terms.as_ref().zip(self.opposite).and_then(|(terms, rule)| terms.effects(rule, time));
        effects.map_or(Duration::ZERO, |effects| match self.way {
            Way::Up => effects.down.delay.base,
            Way::Down => effects.up.delay.base,
        })
    }

    /// Sends the first bytes that a pipe holds back on their way, all of them so much later than the line says. Answers
    /// when the last of them leaves the line's queue, all times since the beginning.
    pub fn send(
        &mut self,
        pipe: &mut Pipe,
        ground: &Ground,
        now: Instant,
        mut count: usize,
        stall: Duration,
    ) -> Duration {
        let core = &ground.core;
        let time = core.since(now);
        let round_trip = self.round_trip(time);
        let mut departs = time;
        while count > 0 {
            let Some(course) = &mut self.course else {
                pipe.send(count, core.after(now, stall), None);
                break;
            };
            let bytes = course.piece_size(time).clamp(1, count);
            let sent = course.piece(time, bytes, round_trip);
            let at = |time: Option<Duration>| core.at(time.unwrap_or(Duration::MAX).saturating_add(stall));
            let due = at(sent.map(|sent| sent.due));
            let passage = Passage {
                handed: at(sent.map(|sent| sent.handed)),
                sent: at(sent.map(|sent| sent.departs)),
                due,
                queued: sent.is_some_and(|sent| sent.queued),
                bytes,
                delayed: true,
            };
            pipe.send(bytes, due, Some((course.tally.clone(), passage)));
            departs = sent.map_or(Duration::MAX, |sent| sent.departs);
            count -= bytes;
        }
        departs
    }

    /// Sends an end on its way, behind everything.
    pub fn end(&mut self, pipe: &mut Pipe, ground: &Ground, now: Instant, ending: Ending) {
        let time = ground.core.since(now);
        let round_trip = self.round_trip(time);
        let sent = match &mut self.course {
            Some(course) => course.piece(time, 0, round_trip).map(|sent| sent.due),
            None => Some(time),
        };
        pipe.end(ending, ground.core.at(sent.unwrap_or(Duration::MAX)));
    }

    /// Sends what has not left the queue of its line by now once more, on the terms that hold now.
    pub fn send_anew(&mut self, pipe: &mut Pipe, ground: &Ground, now: Instant) {
        let ending = pipe.recall(now);
        let count = pipe.held_back();
        self.send(pipe, ground, now, count, Duration::ZERO);
        if let Some(ending) = ending {
            self.end(pipe, ground, now, ending);
        }
    }

    /// Bytes that the pipe and the line have room for; or when to ask again, `None` for when something has gone.
    pub fn room(&mut self, pipe: &Pipe, ground: &Ground, now: Instant) -> Result<usize, Option<Instant>> {
        let room = if pipe.there() < THERE { pipe.room() } else { 0 };
        if room == 0 {
            return Err(None);
        }
        let Some(course) = &mut self.course else { return Ok(room) };
        match course.room(ground.core.since(now)) {
            Ok(line) => Ok(room.min(line)),
            Err(when) => Err(when.map(|when| ground.core.at(when))),
        }
    }

    /// There is room, and nothing to be sent.
    pub fn idle(&mut self, ground: &Ground, now: Instant) {
        let time = ground.core.since(now);
        self.course.as_mut().into_iter().for_each(|course| course.idle(time));
    }

    /// What is sent next begins a segment of its own.
    pub fn cut(&mut self) {
        self.course.as_mut().into_iter().for_each(Course::cut);
    }
}
