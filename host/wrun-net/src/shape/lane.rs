//! What one socket keeps of its own on a line that it shares: its dice, the order of what it sends, and the segment of a
//! stream that is under way.

use std::time::Duration;

use super::dice::{Dice, Effect, Owner, Seed};
use super::profile::Way;

/// One socket's use of one line. A TCP connection needs one for each way, and so does a UDP socket.
#[derive(Debug, Clone)]
pub struct Lane {
    pub(super) delay: Dice,
    pub(super) loss: Dice,
    pub(super) duplicate: Dice,
    pub(super) reorder: Dice,
    /// When the last in order is due.
    last: Duration,
    /// The segment of a stream that what comes next goes on with.
    pub(super) segment: Option<Segment>,
}

/// A stream that was quiet for this long begins a new segment, as its sender's stack does. Longer than a busy peer takes
/// for the next part of what it sends: in whatever parts that comes, its segments are the same.
pub const QUIET: Duration = Duration::from_millis(10);

/// A segment of a stream of which a part was handed over. What it meets was drawn at its beginning, so that it is the
/// same in whatever parts it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    /// Bytes that it has room for yet.
    pub left: u64,
    /// How long it is on its way.
    pub takes: Duration,
    /// When the turn of the regime began that it is of.
    pub turn: Duration,
}

impl Lane {
    pub fn new(seed: Seed, socket: u64, rule: u32, way: Way) -> Self {
        let dice = |effect| seed.dice(Owner { socket, rule, way, effect });
        Self {
            delay: dice(Effect::Delay),
            loss: dice(Effect::Loss),
            duplicate: dice(Effect::Duplicate),
            reorder: dice(Effect::Reorder),
            last: Duration::ZERO,
            segment: None,
        }
    }

    /// What comes next begins a segment of its own, however small the last one is.
    pub fn cut(&mut self) {
        self.segment = None;
    }

    /// Bytes that the segment has room for that what comes next goes on with. `None`: it begins one.
    pub fn left(&self) -> Option<u64> {
        self.segment.map(|segment| segment.left)
    }

    /// When something is due that would be at `due` and may not overtake what was sent before it.
    pub(super) fn in_order(&mut self, due: Duration) -> Duration {
        self.last = self.last.max(due);
        self.last
    }
}
