//! One socket's way over a line that it may share with others.
//!
//! [`crate::shape`] says when things arrive. Here is what is about several sockets on one line: of the room that the
//! queue has for streams, each that wants to send gets an equal share, so that nobody who came first keeps it all.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::account::Way;
use super::tally::{Handed, LineTally, PathTally};
use crate::shape::dice::{Dice, Effect, Owner, Seed};
use crate::shape::handshake::{self, Leg, Segments};
use crate::shape::lane::{Lane, QUIET};
use crate::shape::line::{Line, Piece, SEGMENT, Verdict};
use crate::shape::profile::{Mixture, Rule};
use crate::sync::lock;

/// A line, and who wants to send on it. All times are since the beginning.
pub struct Link {
    line: Line,
    /// Sockets whose bytes wait in the queue, or that wait for room in it, each with until when.
    senders: BTreeSet<(Duration, u64)>,
    tally: Arc<LineTally>,
    /// Bytes that were lost after the rate had let them go, without anything that has passed since.
    lost: usize,
}

/// How long who was told that there is room counts as one who wants it.
const PATIENCE: Duration = Duration::from_millis(2);

impl Link {
    /// A line of its own, whose account is the path's.
    pub fn new(rule: &Rule, way: Way, path: Arc<PathTally>) -> Self {
        Self { line: Line::new(rule, way), senders: BTreeSet::new(), tally: LineTally::new(path), lost: 0 }
    }
}

/// One socket's way over one line.
pub struct Course {
    /// As in [`CourseId`].
    pub terms: u64,
    pub rule: usize,
    pub tally: Arc<LineTally>,
    socket: u64,
    link: Arc<Mutex<Link>>,
    lane: Lane,
    /// For the waits of its operations.
    stalls: Dice,
    /// When what this socket has in the queue leaves it, and its bytes.
    waiting: VecDeque<(Duration, u64)>,
    backlog: u64,
    /// Until when it stands among the senders.
    stands: Option<Duration>,
    /// Since when there is room that it has been waiting for, or will be.
    room_since: Option<Duration>,
    /// Since when there has been nothing to be handed over.
    quiet_since: Option<Duration>,
}

/// How late somebody may be who was waiting for room and still be taken for in time: the lateness of a timer and of a
/// busy machine is not to make the line slower than its rate.
const GRACE: Duration = Duration::from_millis(20);

/// Whose course, and over which line.
#[derive(Debug, Clone, Copy)]
pub struct CourseId {
    /// The number of the terms.
    pub terms: u64,
    /// The place of the rule in their profile.
    pub rule: usize,
    pub way: Way,
    pub socket: u64,
}

/// A piece of a stream on its way.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// When it was handed over, or there was room that it has been waiting for.
    pub handed: Duration,
    pub departs: Duration,
    pub due: Duration,
    /// It has to wait for others.
    pub queued: bool,
}

impl Course {
    pub fn new(id: CourseId, link: Arc<Mutex<Link>>, seed: Seed) -> Self {
        let CourseId { terms, rule, way, socket } = id;
        // A profile has not nearly so many rules; those beyond would share their dice.
        let number = u32::try_from(rule).unwrap_or(u32::MAX);
        let effect = match way {
            Way::Up => Effect::StallSend,
            Way::Down => Effect::StallAnswer,
        };
        let tally = lock(&link).tally.clone();
        Self {
            terms,
            rule,
            tally,
            socket,
            link,
            lane: Lane::new(seed, socket, number, way),
            stalls: seed.dice(Owner { socket, rule: number, way, effect }),
            waiting: VecDeque::new(),
            backlog: 0,
            stands: None,
            room_since: None,
            quiet_since: None,
        }
    }

    /// Whether the line changes nothing, ever.
    pub fn is_clear(&self) -> bool {
        lock(&self.link).line.is_clear()
    }

    /// How long an operation of this way stalls, if it does.
    pub fn stall(&mut self, mixture: &Mixture) -> Option<Duration> {
        mixture.draw(&mut self.stalls)
    }

    /// How much of a stream is best sent at once.
    pub fn piece_size(&self, now: Duration) -> usize {
        let line = &lock(&self.link).line;
        let size = if line.is_uneven(now) { self.lane.left().unwrap_or(SEGMENT) } else { line.piece_size(now) };
        usize::try_from(size).unwrap_or(usize::MAX)
    }

    /// What is sent next begins a segment of its own.
    pub fn cut(&mut self) {
        self.lane.cut();
    }

    /// Sends a piece of a stream, which the line takes whatever room it has. `None`: it never arrives.
    ///
    /// It counts as handed over when there was room for it, if that is what it has been waiting for.
    pub fn piece(&mut self, now: Duration, bytes: usize, round_trip: Duration) -> Option<Sent> {
        let link = self.link.clone();
        let mut link = lock(&link);
        let since = self.room_since.take().filter(|since| *since < now && now - *since <= GRACE);
        let queued = since.is_some() || link.line.backlog(now) > 0;
        let handed = since.unwrap_or(now);
        if self.quiet_since.take().is_some_and(|since| now.saturating_sub(since) >= QUIET) {
            self.lane.cut();
        }
        let sent = link.line.piece(handed, bytes as u64, round_trip, &mut self.lane);
        let departs = sent.map_or(Duration::MAX, |piece| piece.departs);
        // Until it has caught up, what comes next has waited too.
        self.room_since = since.and(Some(departs)).filter(|departs| *departs < now);
        if bytes > 0 {
            // What never arrives is told of as if it stood alone, lost once.
            let alone = (bytes as u64).div_ceil(SEGMENT);
            let (count, lost) = sent.map_or((alone, alone), |piece| (piece.segments + piece.lost, piece.lost));
            self.tally.handed(Handed { count, bytes, lost, ..Handed::default() });
            if departs > now {
                self.waiting.push_back((departs, bytes as u64));
                self.backlog += bytes as u64;
                self.stand(&mut link, departs);
            }
        }
        sent.map(|Piece { departs, due, .. }| Sent { handed, departs, due, queued })
    }

    /// There is room, and nothing to be handed over.
    pub fn idle(&mut self, now: Duration) {
        self.room_since = None;
        self.quiet_since.get_or_insert(now);
    }

    /// Bytes of a stream that there is room for; or when to ask again, `None` for when the profile has changed.
    pub fn room(&mut self, now: Duration) -> Result<usize, Option<Duration>> {
        let link = self.link.clone();
        let mut link = lock(&link);
        let room = link.line.room(now);
        if room == u64::MAX {
            return Ok(usize::MAX);
        }
        while let Some(&(departs, bytes)) = self.waiting.front()
            && departs <= now
        {
            self.waiting.pop_front();
            self.backlog -= bytes;
        }
        link.senders = link.senders.split_off(&(now, u64::MAX));
        let piece = link.line.piece_size(now);
        let others = link.senders.iter().filter(|(_, socket)| *socket != self.socket).count() as u64;
        let limit = room.saturating_add(link.line.backlog(now));
        // Two pieces, so that one is under way while the next comes.
        let share = (limit / (others + 1)).max(2 * piece).min(limit);
        let own = share.saturating_sub(self.backlog);
        let when = match link.line.room_at(now, piece) {
            Some(when) if when <= now && (own >= piece.min(share) || self.backlog == 0) => {
                return Ok(usize::try_from(room.min(own)).unwrap_or(usize::MAX).max(1));
            }
            Some(when) if when > now => Some(when),
            // There is room, but it is for others.
            Some(_) => self.leaves(piece.min(share), share),
            None => None,
        };
        let when = when.filter(|when| *when < Duration::MAX);
        self.room_since = when;
        if let Some(when) = when {
            self.stand(&mut link, when.saturating_add(PATIENCE));
        }
        Err(when)
    }

    /// When so much of its own has left that this many bytes find room in its share.
    fn leaves(&self, bytes: u64, share: u64) -> Option<Duration> {
        let mut backlog = self.backlog;
        let left = self.waiting.iter().find(|(_, left)| {
            backlog -= left;
            share.saturating_sub(backlog) >= bytes
        });
        left.map(|(departs, _)| *departs)
    }

    fn stand(&mut self, link: &mut Link, until: Duration) {
        if self.stands.is_some_and(|stands| stands >= until) {
            return;
        }
        if let Some(stands) = self.stands.replace(until) {
            link.senders.remove(&(stands, self.socket));
        }
        link.senders.insert((until, self.socket));
    }

    /// When the first segment of a peer arrives that sends it now. One that is lost is sent again.
    pub fn opening(&mut self, now: Duration) -> Duration {
        let link = self.link.clone();
        let mut link = lock(&link);
        let mut segments = Segments::default();
        let leg = Leg { line: &mut link.line, lane: &mut self.lane, segments: &mut segments };
        let arrives = handshake::arrival(now, leg);
        self.shook(&link, segments);
        arrives
    }

    /// Tells of the segments of a handshake.
    fn shook(&self, link: &Link, segments: Segments) {
        // What changes nothing has nothing to tell.
        if segments.sent > 0 && !link.line.is_clear() {
            self.tally.handed(Handed { count: segments.sent, lost: segments.lost, ..Handed::default() });
        }
    }

    /// What becomes of a datagram, and what it has to wait for: nothing is `None`, otherwise the bytes that are let go
    /// with it, those of the lost before it included.
    pub fn datagram(&mut self, now: Duration, bytes: usize) -> (Verdict, Option<usize>) {
        let mut link = lock(&self.link);
        let backlog = link.line.backlog(now);
        let verdict = link.line.datagram(now, bytes as u64, &mut self.lane);
        // A line that was idle begins anew with its account.
        let before = if backlog > 0 { std::mem::take(&mut link.lost) } else { 0 };
        // Of the lost, those that never got into the queue take nothing of the rate.
        let is_carried = link.line.backlog(now) > backlog;
        link.lost = match verdict {
            Verdict::Passes(_) => 0,
            Verdict::Lost if is_carried => before + bytes,
            Verdict::Lost | Verdict::Overflowed => before,
        };
        let queued = (backlog > 0).then_some(before + bytes);
        let passage = match verdict {
            Verdict::Passes(passage) => Some(passage),
            Verdict::Lost | Verdict::Overflowed => None,
        };
        self.tally.handed(Handed {
            count: 1,
            bytes,
            lost: u64::from(verdict == Verdict::Lost),
            overflowed: u64::from(verdict == Verdict::Overflowed),
            duplicated: u64::from(passage.is_some_and(|passage| passage.duplicate.is_some())),
            reordered: u64::from(passage.is_some_and(|passage| passage.reordered)),
        });
        (verdict, queued)
    }

    /// Both ways at once, for what goes there and comes back.
    pub fn legs<T>(up: &mut Self, down: &mut Self, act: impl FnOnce(Leg<'_>, Leg<'_>) -> T) -> T {
        // Always in this order: up, then down.
        let mut up_link = lock(&up.link);
        let mut down_link = lock(&down.link);
        let mut segments = [Segments::default(); 2];
        let [up_segments, down_segments] = &mut segments;
        let acted = act(
            Leg { line: &mut up_link.line, lane: &mut up.lane, segments: up_segments },
            Leg { line: &mut down_link.line, lane: &mut down.lane, segments: down_segments },
        );
        up.shook(&up_link, segments[0]);
        down.shook(&down_link, segments[1]);
        acted
    }
}

impl Drop for Course {
    fn drop(&mut self) {
        if let Some(stands) = self.stands {
            lock(&self.link).senders.remove(&(stands, self.socket));
        }
    }
}
