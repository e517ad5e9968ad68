//! What a guest sends, on its way to the connection inside.

mod pump;

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

pub use self::pump::pump;
use super::pipe::{Ending, Pipe};
use super::route::{News, Route};
use super::settings::Settings;
use crate::error::{Error, Result};
use crate::shape::line::SEGMENT;
use crate::shape::nagle::{self, Nagle};
use crate::shape::profile::DELAYED_ACKNOWLEDGEMENT;
use crate::throttled::account::Way;
use crate::throttled::core::Ground;
use crate::throttled::course::Course;
use crate::throttled::showing::Showing;
use crate::throttled::talk::Talk;
use crate::throttled::wakes::{Waiting, Wakes};

pub struct Up {
    route: Route,
    /// The rule changes something of what is sent.
    shaped: bool,
    pipe: Pipe,
    nagle: Nagle,
    /// Something is held back, until an acknowledgement, an end or no-delay lets it go.
    held: Option<Showing>,
    /// The wait that a turn of the talk begins with: a write was refused, and is until it is over.
    stall: Option<Showing>,
    stage: Stage,
    failure: Option<Error>,
    /// The connection inside has no-delay set, whatever the guest has set.
    hurried: bool,
    pumping: bool,
    pub pump: Waiting,
    pub writer: Waiting,
    pub closer: Waiting,
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
    pub fn new(ground: &Ground, remote: Option<SocketAddr>, course: Option<Course>) -> Self {
        Self {
            route: Route::new(Way::Up, remote, course),
            shaped: false,
            pipe: Pipe::new(ground.core.held()),
            nagle: Nagle::default(),
            held: None,
            stall: None,
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
        let news = self.route.renew(ground, number);
        if news != News::None {
            self.shaped =
                self.route.shapes(|effects| !effects.stalls.send.is_none() || effects.acknowledgement.is_some());
        }
        if news == News::Other {
            let now = Instant::now();
            self.stall = None;
            self.nagle = Nagle::default();
            self.note_held(ground, now);
            self.route.send_anew(&mut self.pipe, ground, now);
        }
        self.route.number()
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
        match &self.stall {
            Some(stall) if !stall.is_over(now) => Err(Some(stall.until())),
            _ => self.route.room(&self.pipe, ground, now),
        }
    }

    /// Takes some of the data in.
    pub fn write(&mut self, ground: &Ground, talk: &Talk, settings: &Settings, data: &[u8]) -> Result<usize> {
        let now = Instant::now();
        if self.stall.is_none() && talk.turn.load(Ordering::Relaxed) {
            self.draw_stall(ground, now);
        }
        let room = self.admits(ground).map_err(|_| Error::WouldBlock)?;
        self.stall = None;
        let count = room.min(data.len());
        self.pipe.take_in(&data[..count]);
        let leaves = if self.shaped {
            let terms = self.nagle_terms(ground, settings, now);
            self.nagle.write(ground.core.since(now), count as u64, &terms)
        } else {
            count as u64
        };
        self.release(ground, now, leaves);
        Ok(count)
    }

    fn draw_stall(&mut self, ground: &Ground, now: Instant) {
        let core = &ground.core;
        let time = self.route.stall(core.since(now), |stalls| &stalls.send);
        let stall = |time| Showing::new(core, |quirks| &mut quirks.send_stalls, now, core.after(now, time));
        self.stall = time.map(stall);
    }

    fn nagle_terms(&self, ground: &Ground, settings: &Settings, now: Instant) -> nagle::Terms {
        let time = ground.core.since(now);
        let acknowledgement = self.route.effects(time).and_then(|effects| effects.acknowledgement);
        nagle::Terms {
            round_trip: self.route.round_trip(time),
            acknowledgement: acknowledgement.unwrap_or(DELAYED_ACKNOWLEDGEMENT),
            no_delay: settings.no_delay(),
        }
    }

    /// Sends what Nagle's algorithm lets go, and keeps account of how long small sends are held back.
    fn release(&mut self, ground: &Ground, now: Instant, leaves: u64) {
        let count = usize::try_from(leaves).unwrap_or(usize::MAX);
        let departs = self.route.send(&mut self.pipe, ground, now, count, Duration::ZERO);
        // Where Nagle's algorithm lets it go, a segment ends.
        self.route.cut();
        if !leaves.is_multiple_of(SEGMENT) {
            self.nagle.departs(departs);
        }
        self.note_held(ground, now);
    }

    fn note_held(&mut self, ground: &Ground, now: Instant) {
        if self.nagle.held() == 0 {
            self.held = None;
        } else if self.held.is_none() {
            let never = ground.core.at(Duration::MAX);
            self.held = Some(Showing::new(&ground.core, |quirks| &mut quirks.held_sends, now, never));
        }
    }

    /// Something has arrived from the peer. Answers whether that lets something go.
    pub fn heard(&mut self, ground: &Ground, settings: &Settings) -> bool {
        if !self.shaped {
            return false;
        }
        let now = Instant::now();
        let leaves = self.nagle.heard(ground.core.since(now), &self.nagle_terms(ground, settings, now));
        self.release(ground, now, leaves);
        leaves > 0
    }

    /// Lets go what has been held back for long enough.
    fn let_go(&mut self, ground: &Ground, settings: &Settings, now: Instant) {
        if self.nagle.held() > 0 {
            let leaves = self.nagle.due(ground.core.since(now), &self.nagle_terms(ground, settings, now));
            self.release(ground, now, leaves);
        }
    }

    /// Sends the end behind what is in hand. Answers whether there was none before.
    pub fn finish(&mut self, ground: &Ground, wakes: &mut Wakes) -> bool {
        if self.stage != Stage::Open {
            return false;
        }
        wakes.add(&mut self.writer);
        self.stall = None;
        if !self.is_piped() || self.failure.is_some() {
            self.stage = Stage::Finished;
            return self.failure.is_none();
        }
        self.stage = Stage::Finishing;
        let now = Instant::now();
        let leaves = self.nagle.finish();
        self.release(ground, now, leaves);
        self.route.end(&mut self.pipe, ground, now, Ending::Finished);
        true
    }

    /// Throws everything away.
    pub fn cut(&mut self, wakes: &mut Wakes) {
        self.stage = Stage::Cut;
        self.drop_all(wakes);
        wakes.add(&mut self.pump);
    }

    /// The connection inside has failed: nothing that is in hand arrives.
    fn fail(&mut self, error: Error, wakes: &mut Wakes) {
        self.failure = Some(error);
        self.drop_all(wakes);
    }

    fn drop_all(&mut self, wakes: &mut Wakes) {
        (self.stall, self.held) = (None, None);
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

    /// How long an acknowledgement takes to come back over the link.
    pub fn way_back(&self, ground: &Ground) -> Duration {
        self.route.opposite_delay(ground.core.since(Instant::now()))
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
