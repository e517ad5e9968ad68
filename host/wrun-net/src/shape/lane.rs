//! What one socket keeps of its own on a line that it shares: its dice, and the order of what it sends.

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
        }
    }

    /// When something is due that would be at `due` and may not overtake what was sent before it.
    pub(super) fn in_order(&mut self, due: Duration) -> Duration {
        self.last = self.last.max(due);
        self.last
    }
}
