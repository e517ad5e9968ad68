//! What a guest sends, on its way to the connection inside.

use std::net::{Shutdown, SocketAddr};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::connection::Connection;
use super::pipe::{Ending, Pipe};
use super::settings::Settings;
use crate::backend::SocketOption;
use crate::error::{Error, Result};
use crate::shape::dice::{Dice, Effect, Owner};
use crate::shape::nagle::{self, Nagle};
use crate::shape::profile::{DELAYED_ACKNOWLEDGEMENT, Operation, Protocol};
use crate::sync::lock;
use crate::throttled::account::Way;
use crate::throttled::alarm::Bell;
use crate::throttled::budget::THERE;
use crate::throttled::core::Ground;
use crate::throttled::course::Course;
use crate::throttled::talk::Talk;
use crate::throttled::tally::Passage;
use crate::throttled::terms::Terms;
use crate::throttled::turns::{TURN, in_turns};
use crate::throttled::wakes::{Waiting, Wakes};

/// The most that is handed to the connection inside at once.
const CHUNK: usize = 64 << 10;

pub struct Up {
    terms: Arc<Terms>,
    /// Terms that have not been looked at yet.
    is_new: bool,
    remote: Option<SocketAddr>,
    /// The line that this goes over, if a rule says so.
    course: Option<Course>,
    /// The rule that decides about the way back, for how long that takes.
    way_back: Option<usize>,
    /// The rule changes something of what is sent.
    shaped: bool,
    pipe: Pipe,
    nagle: Nagle,
    /// Since when something is held back.
    held_since: Option<Instant>,
    /// Drawn from for each turn of the talk.
    stalls: Dice,
    stall: Stall,
    stage: Stage,
    failure: Option<Error>,
    /// The connection inside has no-delay set, whatever the guest has set.
    hurried: bool,
    pumping: bool,
    pub pump: Waiting,
    pub writer: Waiting,
    pub closer: Waiting,
}

/// The wait that a turn of the talk begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stall {
    None,
    /// A write was refused, and is until then.
    Until(Instant),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    /// The end stands behind what is in hand.
    Finishing,
    /// The connection inside has been told of the end.
    Finished,
    /// Everything in hand is to be thrown away.
    Cut,
}

impl Up {
    pub fn new(ground: &Ground, number: u64, remote: Option<SocketAddr>, course: Option<Course>) -> Self {
        let owner = Owner { socket: number, rule: 0, way: Way::Up, effect: Effect::StallSend };
        Self {
            terms: ground.core.terms(),
            is_new: true,
            remote,
            course,
            way_back: None,
            shaped: false,
            pipe: Pipe::new(ground.core.held()),
            nagle: Nagle::default(),
            held_since: None,
            stalls: ground.core.seed.dice(owner),
            stall: Stall::None,
            stage: Stage::Open,
            failure: None,
            hurried: false,
            pumping: false,
            pump: Waiting::default(),
            writer: Waiting::default(),
            closer: Waiting::default(),
        }
    }

    /// Looks at the terms again if there are new ones, and answers with their number.
    pub fn renew(&mut self, ground: &Ground, number: u64) -> u64 {
        if !self.is_new && self.terms.number == ground.core.current() {
            return self.terms.number;
        }
        let known = std::mem::replace(&mut self.terms, ground.core.terms());
        let terms = self.terms.clone();
        let rule = terms.rule(Operation::Send, Some(Protocol::Tcp), self.remote);
        self.way_back = terms.rule(Operation::Receive, Some(Protocol::Tcp), self.remote);
        // The course of the connect goes on, if it is over the same line.
        let kept = self.course.take().filter(|course| known.number == terms.number && Some(course.rule) == rule);
        self.course = kept.or_else(|| terms.course(rule?, Way::Up, ground.core.seed, number));
        self.shaped = self.course.as_ref().is_some_and(|course| {
            let says = |effects: &crate::shape::profile::Effects| {
                !effects.stalls.send.is_none() || effects.acknowledgement.is_some()
            };
            !course.is_clear() || terms.ever(course.rule, says)
        });
        if !self.is_new {
            self.decide_anew(ground);
        }
        self.is_new = false;
        terms.number
    }

    /// What has not left the queue yet leaves it on the new terms.
    fn decide_anew(&mut self, ground: &Ground) {
        let now = Instant::now();
        self.stall = Stall::None;
        let ending = self.pipe.recall(now);
        self.nagle = Nagle::default();
        self.held_since = None;
        self.send(ground, now, self.pipe.held_back());
        if ending.is_some() {
            self.end(ground, now);
        }
    }

    /// Whether what is sent goes through the pipe: because a rule says so, or because something is in it.
    pub fn is_piped(&self) -> bool {
        self.shaped || self.pumping || self.pipe.in_hand() > 0 || !self.pipe.is_still()
    }

    /// Whether more can be sent at all.
    pub fn open(&self) -> Result<()> {
        match (&self.failure, self.stage) {
            (Some(error), Stage::Open) => Err(error.clone()),
            (_, Stage::Open) => Ok(()),
            _ => Err(Error::InvalidState),
        }
    }

    /// Bytes that it has room for; or when to ask again, `None` for when something has gone.
    pub fn admits(&mut self, ground: &Ground) -> Result<usize, Option<Instant>> {
        let now = Instant::now();
        if let Stall::Until(until) = self.stall
            && until > now
        {
            return Err(Some(until));
        }
        let room = if self.pipe.there() < THERE { self.pipe.room() } else { 0 };
        if room == 0 {
            return Err(None);
        }
        let Some(course) = &mut self.course else { return Ok(room) };
        match course.room(ground.core.since(now)) {
            Ok(line) => Ok(room.min(line)),
            Err(when) => Err(when.map(|when| ground.core.at(when))),
        }
    }

    /// Takes some of the data in.
    pub fn write(&mut self, ground: &Ground, talk: &Talk, settings: &Settings, data: &[u8]) -> Result<usize> {
        let now = Instant::now();
        if self.stall == Stall::None && talk.turn.load(Ordering::Relaxed) {
            self.draw_stall(ground, now);
        }
        let room = self.admits(ground).map_err(|_| Error::WouldBlock)?;
        self.stall = Stall::None;
        let count = room.min(data.len());
        self.pipe.take_in(&data[..count]);
        if self.shaped {
            let leaves =
                self.nagle.write(ground.core.since(now), count as u64, &self.nagle_terms(ground, settings, now));
            self.send(ground, now, usize::try_from(leaves).unwrap_or(usize::MAX));
            self.note_held(ground, now);
        } else {
            self.send(ground, now, count);
        }
        Ok(count)
    }

    fn draw_stall(&mut self, ground: &Ground, now: Instant) {
        let effects = self.course.as_ref().and_then(|course| self.terms.effects(course.rule, ground.core.since(now)));
        if let Some(time) = effects.and_then(|effects| effects.stalls.send.draw(&mut self.stalls)) {
            ground.core.quirks.note(|quirks| quirks.send_stalls.add(time));
            self.stall = Stall::Until(ground.core.after(now, time));
        }
    }

    /// Sends the first bytes that are held back on their way.
    fn send(&mut self, ground: &Ground, now: Instant, mut count: usize) {
        let time = ground.core.since(now);
        let round_trip = self.round_trip(time);
        while count > 0 {
            let Some(course) = &mut self.course else { return self.pipe.send(count, now, None) };
            let bytes = course.piece_size(time).clamp(1, count);
            let sent = course.piece(time, bytes, round_trip);
            let at = |time: Option<Duration>| ground.core.at(time.unwrap_or(Duration::MAX));
            let due = at(sent.map(|sent| sent.due));
            let passage = Passage {
                sent: at(sent.map(|sent| sent.departs)),
                due,
                queued: sent.is_some_and(|sent| sent.queued),
                bytes,
                delayed: true,
            };
            self.pipe.send(bytes, due, Some((course.tally.clone(), passage)));
            count -= bytes;
        }
    }

    /// Sends the end on its way.
    fn end(&mut self, ground: &Ground, now: Instant) {
        let time = ground.core.since(now);
        let round_trip = self.round_trip(time);
        let due = match &mut self.course {
            Some(course) => ground.core.at(course.piece(time, 0, round_trip).map_or(Duration::MAX, |sent| sent.due)),
            None => now,
        };
        self.pipe.end(Ending::Finished, due);
    }

    fn round_trip(&self, now: Duration) -> Duration {
        let there = self.course.as_ref().and_then(|course| self.terms.effects(course.rule, now));
        let back = self.way_back.and_then(|rule| self.terms.effects(rule, now));
        let there = there.map_or(Duration::ZERO, |effects| effects.up.delay.base);
        there.saturating_add(back.map_or(Duration::ZERO, |effects| effects.down.delay.base))
    }

    /// How long an acknowledgement takes to come back over the link.
    pub fn way_back(&self, ground: &Ground) -> Duration {
        let effects = self.way_back.and_then(|rule| self.terms.effects(rule, ground.core.since(Instant::now())));
        effects.map_or(Duration::ZERO, |effects| effects.down.delay.base)
    }

    fn nagle_terms(&self, ground: &Ground, settings: &Settings, now: Instant) -> nagle::Terms {
        let time = ground.core.since(now);
        let effects = self.course.as_ref().and_then(|course| self.terms.effects(course.rule, time));
        nagle::Terms {
            round_trip: self.round_trip(time),
            acknowledgement: effects.and_then(|effects| effects.acknowledgement).unwrap_or(DELAYED_ACKNOWLEDGEMENT),
            no_delay: settings.no_delay(),
        }
    }

    /// Keeps account of how long small sends are held back.
    fn note_held(&mut self, ground: &Ground, now: Instant) {
        if self.nagle.held() > 0 {
            self.held_since.get_or_insert(now);
        } else if let Some(since) = self.held_since.take() {
            ground.core.quirks.note(|quirks| quirks.held_sends.add(now.saturating_duration_since(since)));
        }
    }

    /// Something has arrived from the peer. Answers whether that lets something go.
    pub fn heard(&mut self, ground: &Ground, settings: &Settings) -> bool {
        if !self.shaped {
            return false;
        }
        let now = Instant::now();
        let leaves = self.nagle.heard(ground.core.since(now), &self.nagle_terms(ground, settings, now));
        self.send(ground, now, usize::try_from(leaves).unwrap_or(usize::MAX));
        self.note_held(ground, now);
        leaves > 0
    }

    /// Sends the end behind what is in hand. Answers whether there was none before.
    pub fn finish(&mut self, ground: &Ground, wakes: &mut Wakes) -> bool {
        if self.stage != Stage::Open {
            return false;
        }
        wakes.add(&mut self.writer);
        if !self.is_piped() || self.failure.is_some() {
            self.stage = Stage::Finished;
            return self.failure.is_none();
        }
        self.stage = Stage::Finishing;
        let now = Instant::now();
        // All that Nagle's algorithm has held.
        let leaves = self.nagle.finish();
        self.send(ground, now, usize::try_from(leaves).unwrap_or(usize::MAX));
        self.note_held(ground, now);
        self.end(ground, now);
        true
    }

    /// Throws everything away.
    pub fn cut(&mut self, wakes: &mut Wakes) {
        self.stage = Stage::Cut;
        self.pipe.clear();
        wakes.add(&mut self.writer);
        wakes.add(&mut self.pump);
        wakes.add(&mut self.closer);
    }

    /// Lets go what has been held back for long enough.
    fn release(&mut self, ground: &Ground, settings: &Settings, now: Instant) {
        if self.nagle.held() > 0 {
            let leaves = self.nagle.due(ground.core.since(now), &self.nagle_terms(ground, settings, now));
            self.send(ground, now, usize::try_from(leaves).unwrap_or(usize::MAX));
            self.note_held(ground, now);
        }
    }

    /// The connection inside has failed: nothing that is in hand arrives.
    fn fail(&mut self, error: Error, wakes: &mut Wakes) {
        self.failure = Some(error);
        self.pipe.clear();
        self.nagle = Nagle::default();
        wakes.add(&mut self.writer);
        wakes.add(&mut self.closer);
    }

    /// Bytes that have not been handed to the connection inside.
    pub fn in_hand(&self) -> usize {
        self.pipe.in_hand()
    }

    /// How the sending has ended, once nothing is in hand.
    pub fn ended(&self) -> Option<Result<()>> {
        match (&self.failure, self.stage) {
            (Some(error), _) => Some(Err(error.clone())),
            (None, Stage::Finished | Stage::Cut) => Some(Ok(())),
            (None, Stage::Open | Stage::Finishing) => None,
        }
    }

    /// Whether a pump is to be started. One that runs is woken.
    pub fn starts(&mut self, wakes: &mut Wakes) -> bool {
        wakes.add(&mut self.pump);
        !std::mem::replace(&mut self.pumping, true)
    }

    /// Whether the connection inside is to get the guest's no-delay back.
    pub fn restores_no_delay(&mut self) -> bool {
        std::mem::take(&mut self.hurried)
    }

    pub fn is_hurried(&self) -> bool {
        self.hurried
    }
}

/// What a pump does next.
enum Step {
    /// It is over.
    Rest,
    /// Some bytes are there.
    Write,
    /// The end is there.
    Finish,
    Wait,
}

/// Moves what is sent into the connection inside, until nothing is in hand and nobody waits.
pub async fn pump(connection: Arc<Connection>) {
    // The pieces are as they left: the stack inside is not to hold them back once more.
    let hurries = {
        let mut up = lock(&connection.up);
        up.shaped && !std::mem::replace(&mut up.hurried, true)
    };
    if hurries {
        // A stack without the option does as it does.
        let _ = connection.inner.set_option(SocketOption::NoDelay(true)).await;
    }
    let mut bell = connection.ground.bell();
    let mut chunk = Vec::new();
    in_turns(|cx| poll(&connection, &mut bell, &mut chunk, cx)).await;
}

fn poll(
    connection: &Arc<Connection>,
    bell: &mut Bell,
    chunk: &mut Vec<u8>,
    cx: &mut Context<'_>,
) -> Poll<ControlFlow<()>> {
    let inner = &connection.inner;
    for _ in 0..TURN {
        let (step, deadline) = next(connection, chunk, cx);
        let goes_on = match step {
            Step::Rest => return Poll::Ready(ControlFlow::Break(())),
            Step::Write => match inner.try_write(chunk) {
                Ok(count) => {
                    lock(&connection.up).pipe.consume(count);
                    true
                }
                Err(Error::WouldBlock) => inner.poll_write_ready(cx).is_ready(),
                Err(error) => {
                    let mut wakes = Wakes::default();
                    lock(&connection.up).fail(error, &mut wakes);
                    true
                }
            },
            Step::Finish => {
                // Where this fails the connection is over, as the next call will find.
                let _ = inner.shutdown(Shutdown::Write);
                let mut wakes = Wakes::default();
                let mut up = lock(&connection.up);
                up.stage = Stage::Finished;
                wakes.add(&mut up.closer);
                true
            }
            Step::Wait => false,
        };
        if !goes_on && deadline.is_none_or(|deadline| bell.poll(deadline, cx).is_pending()) {
            return Poll::Pending;
        }
    }
    Poll::Ready(ControlFlow::Continue(()))
}

/// What is to be done now, and when to look again whatever comes of it.
fn next(connection: &Arc<Connection>, chunk: &mut Vec<u8>, cx: &Context<'_>) -> (Step, Option<Instant>) {
    let ground = &connection.ground;
    let mut wakes = Wakes::default();
    let mut up = lock(&connection.up);
    let replaced = up.pump.keep(cx);
    up.renew(ground, connection.number);
    let now = Instant::now();
    up.release(ground, &connection.settings, now);
    up.pipe.land(now);
    let mut deadlines = [
        up.pipe.next_due().filter(|due| !ground.core.is_never(*due)),
        up.nagle.until().map(|until| ground.core.at(until)),
        None,
    ];
    if up.writer.is_there() {
        match up.admits(ground) {
            Ok(_) => wakes.add(&mut up.writer),
            Err(when) => deadlines[2] = when,
        }
    }
    let deadline = deadlines.into_iter().flatten().min();
    let step = if up.pipe.there() > 0 {
        let front = up.pipe.front();
        chunk.clear();
        chunk.extend_from_slice(&front[..front.len().min(CHUNK)]);
        Step::Write
    } else if up.pipe.ending().is_some() && up.stage == Stage::Finishing {
        Step::Finish
    } else if up.pipe.is_still() && !up.writer.is_there() {
        up.pumping = false;
        wakes.add(&mut up.closer);
        Step::Rest
    } else {
        Step::Wait
    };
    drop(up);
    drop(replaced);
    (step, deadline)
}
