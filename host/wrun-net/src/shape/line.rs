//! One direction of one link: rate, queue, loss, delay, duplication and reordering, put together.
//!
//! What is handed over waits in the queue until the rate lets it go. Then it is lost, or it is on its way for the delay:
//! that is on top, however much is on its way already, so that no delay limits what passes. A line is for one rule with
//! all its regimes. How an arrival is met is up to the regime of its time, what happens on the way to the regime of its
//! departure.
//!
//! Bytes are those of the guest: headers are not counted. What is left out: the account of what was done, which is kept
//! by who carries it out.

use std::collections::VecDeque;
use std::time::Duration;

use super::dice::Dice;
use super::lane::{Lane, Segment};
use super::loss::{Attempt, Weather};
use super::profile::{Effects, Loss, Path, QUEUE, Rule, Way};
use super::rate::Wire;
use super::retransmission;
use super::schedule::Schedule;

/// What a full TCP segment carries over Ethernet, with the time stamps that all stacks send.
pub const SEGMENT: u64 = 1448;

/// The most that is handed over as one piece of a stream.
pub const MAX_PIECE: u64 = 64 << 10;

/// One direction of a link. Calls come in the order of their times; one that comes late is as if it came at the time of
/// the one before.
#[derive(Debug, Clone)]
pub struct Line {
    schedule: Schedule,
    /// One for each regime.
    paths: Vec<Path>,
    wire: Wire,
    /// When what waits for the wire goes (`None`: never), and its bytes. In order, empty datagrams left out.
    waiting: VecDeque<(Option<Duration>, u64)>,
    /// The sum of their bytes.
    backlog: u64,
    weather: Weather,
}

/// What becomes of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// By chance, or because the link is offline.
    Lost,
    /// Dropped for want of room in the queue.
    Overflowed,
    Passes(Passage),
}

/// When a datagram arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// When the rate lets it go, which is when it was handed over if nothing limits the rate.
    pub departs: Duration,
    /// When it arrives.
    pub due: Duration,
    /// When it arrives once more.
    pub duplicate: Option<Duration>,
    /// It was chosen to skip the delay.
    pub reordered: bool,
}

/// When a piece of a stream arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// When the rate lets the last of it go, which is when it was handed over if nothing limits the rate.
    pub departs: Duration,
    /// When it arrives, never before what was sent earlier.
    pub due: Duration,
    /// Segments that it begins.
    pub segments: u64,
    /// Segments that were lost, each time one was.
    pub lost: u64,
}

impl Line {
    /// # Panics
    ///
    /// For a rule without regimes, which no checked profile has: [`Rule::regimes`] promises one.
    pub fn new(rule: &Rule, way: Way) -> Self {
        let schedule = Schedule::new(&rule.regimes);
        let path = |effects: &Effects| match way {
            Way::Up => effects.up.clone(),
            Way::Down => effects.down.clone(),
        };
        let paths: Vec<Path> = rule.regimes.iter().map(|regime| path(&regime.effects)).collect();
        assert!(!paths.is_empty(), "a rule has a regime, or there is nothing to be in effect");
        let wire = Wire::new(schedule.clone(), &paths);
        Self { schedule, paths, wire, waiting: VecDeque::new(), backlog: 0, weather: Weather::default() }
    }

    /// Whether it changes nothing, at no time.
    pub fn is_clear(&self) -> bool {
        self.paths.iter().all(Path::is_clear)
    }

    /// The way of a datagram that is handed over now.
    ///
    /// One that is larger than the whole queue passes when the queue is empty.
    pub fn datagram(&mut self, now: Duration, bytes: u64, lane: &mut Lane) -> Verdict {
        if self.path(now).offline {
            return Verdict::Lost;
        }
        let backlog = self.backlog(now);
        if backlog > 0 && backlog.saturating_add(bytes) > self.limit(now) {
            return Verdict::Overflowed;
        }
        let Some(departs) = self.wire.carry(now, bytes) else { return Verdict::Lost };
        self.wait(now, Some(departs), bytes);
        let path = &self.paths[self.schedule.turn(departs).regime];
        let lost = self.weather.loses(&path.loss, Attempt::First, &mut lane.loss);
        let duplicated = lane.duplicate.chance(path.duplicate);
        let reordered = lane.reorder.chance(path.reorder);
        let delay = path.delay.draw(&mut lane.delay);
        if lost {
            return Verdict::Lost;
        }
        let due = if reordered { departs } else { lane.in_order(departs.saturating_add(delay)) };
        let duplicate = duplicated.then(|| {
            // From the dice of duplication, so that the delays of all others stay what they are without it.
            let again = departs.saturating_add(path.delay.draw(&mut lane.duplicate));
            lane.in_order(again.max(due))
        });
        Verdict::Passes(Passage { departs, due, duplicate, reordered })
    }

    /// The way of a piece of a TCP stream that is handed over now, on a connection of this round trip. It is taken
    /// whatever [`Self::room`] says, and best no larger than [`MAX_PIECE`]. Where the link is offline it waits for the
    /// next regime that is not; `None`: there is none, it never arrives.
    ///
    /// What is drawn is drawn for each segment as it begins: the piece before may have begun one that this one goes on
    /// with, unless the lane was [cut](Lane::cut) between.
    pub fn piece(&mut self, now: Duration, bytes: u64, round_trip: Duration, lane: &mut Lane) -> Option<Piece> {
        let departs = self.wire.carry(now, bytes);
        self.wait(now, departs, bytes);
        let departs = departs?;
        let turn = self.schedule.turn(departs);
        let path = &self.paths[turn.regime];
        let (mut segments, mut lost, mut takes) = (0, 0, Duration::ZERO);
        let mut rest = bytes;
        loop {
            let mut segment = match lane.segment.filter(|segment| segment.turn == turn.begins) {
                Some(begun) => begun,
                None => {
                    let times = times_lost(&mut self.weather, &path.loss, &mut lane.loss);
                    let delay = path.delay.draw(&mut lane.delay);
                    let takes = delay.saturating_add(retransmission::wait(times, round_trip));
                    (segments, lost) = (segments + 1, lost + u64::from(times));
                    Segment { left: SEGMENT, takes, turn: turn.begins }
                }
            };
            let part = rest.min(segment.left);
            (rest, segment.left) = (rest - part, segment.left - part);
            takes = takes.max(segment.takes);
            lane.segment = Some(segment).filter(|segment| segment.left > 0);
            if rest == 0 {
                break;
            }
        }
        Some(Piece { departs, due: lane.in_order(departs.saturating_add(takes)), segments, lost })
    }

    /// When a segment without bytes arrives that is sent at `at`, which may be in the future: it takes nothing of the
    /// rate, but stands behind what waits for it by now. `None`: it is lost.
    pub fn bare(&mut self, at: Duration, attempt: Attempt, lane: &mut Lane) -> Option<Duration> {
        if self.path(at).offline {
            return None;
        }
        let departs = self.wire.free(at);
        let path = &self.paths[self.schedule.turn(departs).regime];
        let delay = path.delay.draw(&mut lane.delay);
        let lost = self.weather.loses(&path.loss, attempt, &mut lane.loss);
        (!lost).then(|| departs.saturating_add(delay))
    }

    /// Bytes that wait for the rate.
    pub fn backlog(&mut self, now: Duration) -> u64 {
        while let Some(&(Some(departs), bytes)) = self.waiting.front()
            && departs <= now
        {
            self.waiting.pop_front();
            self.backlog = self.backlog.saturating_sub(bytes);
        }
        self.backlog
    }

    /// Bytes that the queue has room for. Where nothing has to wait there is no end of it.
    pub fn room(&mut self, now: Duration) -> u64 {
        if self.wire.rate(now).is_none() {
            return u64::MAX;
        }
        self.limit(now).saturating_sub(self.backlog(now))
    }

    /// When the queue has room for this many bytes, or is empty if it is smaller than that. `None`: never.
    pub fn room_at(&mut self, now: Duration, bytes: u64) -> Option<Duration> {
        let mut backlog = self.backlog(now);
        let most = self.limit(now).saturating_sub(bytes);
        let mut when = now;
        for &(departs, bytes) in &self.waiting {
            if backlog <= most {
                break;
            }
            when = departs?;
            backlog = backlog.saturating_sub(bytes);
        }
        Some(when)
    }

    /// How much of a stream is best handed over at once: what a millisecond carries, but whole segments of it.
    pub fn piece_size(&self, now: Duration) -> u64 {
        let a_millisecond = self.wire.rate(now).map_or(MAX_PIECE, |rate| (rate / 1e3) as u64);
        a_millisecond.clamp(SEGMENT, MAX_PIECE)
    }

    /// Whether one segment may be on its way for longer than the next, so that they are best handed over one by one.
    pub fn is_uneven(&self, now: Duration) -> bool {
        let path = self.path(now);
        !path.loss.is_none() || !path.delay.jitter.is_zero()
    }

    fn path(&self, now: Duration) -> &Path {
        &self.paths[self.schedule.turn(now).regime]
    }

    fn limit(&self, now: Duration) -> u64 {
        self.path(now).queue.unwrap_or(QUEUE)
    }

    fn wait(&mut self, now: Duration, departs: Option<Duration>, bytes: u64) {
        if bytes > 0 && departs.is_none_or(|departs| departs > now) {
            self.waiting.push_back((departs, bytes));
            self.backlog = self.backlog.saturating_add(bytes);
        }
    }
}

/// How often in a row a segment is lost. It is sent again until it is not.
fn times_lost(weather: &mut Weather, loss: &Loss, dice: &mut Dice) -> u32 {
    let mut attempt = Attempt::First;
    let mut times = 0;
    while times < retransmission::MOST && weather.loses(loss, attempt, dice) {
        attempt = Attempt::Again;
        times += 1;
    }
    times
}

impl Path {
    /// Whether it changes nothing.
    pub fn is_clear(&self) -> bool {
        self.delay.is_none()
            && self.rate.is_none()
            && self.loss.is_none()
            && self.duplicate <= 0.0
            && self.reorder <= 0.0
            && !self.offline
    }
}
