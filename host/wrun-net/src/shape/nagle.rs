//! Nagle's algorithm at the sender, against acknowledgements that the peer delays.
//!
//! Full segments leave at once. What is left of a write is small, and leaves only when no other small segment is
//! unacknowledged (Minshall's variant, which is Linux's); until then it is held, and what is written meanwhile joins it.
//! A peer that has nothing to say keeps the acknowledgement back for a time; whatever it sends carries it. That is how
//! two small writes without no-delay come to be 40 or 200 ms apart.
//!
//! What is left out: acknowledgements of full segments, which a peer does not delay for long.

use std::time::Duration;

use super::line::SEGMENT;

/// What decides how long an acknowledgement takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The way there and back.
    pub round_trip: Duration,
    /// How long the peer keeps an acknowledgement back.
    pub acknowledgement: Duration,
    /// Small segments are not held.
    pub no_delay: bool,
}

/// The sender's side of one connection. It counts bytes; the bytes themselves are with whoever asks.
#[derive(Debug, Clone, Default)]
pub struct Nagle {
    /// Bytes that wait, fewer than a segment.
    held: u64,
    /// When the last small segment is acknowledged if the peer sends nothing before.
    acknowledged: Option<Duration>,
}

impl Nagle {
    /// Takes a write, and says how many of the bytes that it has leave now; the rest is [`Self::held`].
    pub fn write(&mut self, now: Duration, bytes: u64, terms: &Terms) -> u64 {
        self.acknowledge(now);
        self.held = self.held.saturating_add(bytes);
        let full = self.held - self.held % SEGMENT;
        self.held -= full;
        full + self.release(now, terms)
    }

    /// Bytes that leave because it is now late enough. Worth asking at [`Self::until`], and when no-delay was set.
    pub fn due(&mut self, now: Duration, terms: &Terms) -> u64 {
        self.acknowledge(now);
        self.release(now, terms)
    }

    /// Bytes that leave because the peer has sent something, which acknowledges all before it.
    pub fn heard(&mut self, now: Duration, terms: &Terms) -> u64 {
        self.acknowledged = None;
        self.release(now, terms)
    }

    /// Bytes that leave because nothing will be written any more.
    pub fn finish(&mut self) -> u64 {
        std::mem::take(&mut self.held)
    }

    /// Bytes that wait for an acknowledgement.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// When those that wait leave at the latest. `None`: none waits.
    pub fn until(&self) -> Option<Duration> {
        self.acknowledged.filter(|_| self.held > 0)
    }

    fn acknowledge(&mut self, now: Duration) {
        self.acknowledged = self.acknowledged.filter(|&at| at > now);
    }

    fn release(&mut self, now: Duration, terms: &Terms) -> u64 {
        if self.held == 0 || (self.acknowledged.is_some() && !terms.no_delay) {
            return 0;
        }
        self.acknowledged = Some(now.saturating_add(terms.round_trip).saturating_add(terms.acknowledgement));
        std::mem::take(&mut self.held)
    }
}
