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
    /// How long after it has left that is.
    takes: Duration,
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

    /// The last small segment waits for the rate until `departs`, and so does its acknowledgement.
    pub fn departs(&mut self, departs: Duration) {
        self.acknowledged = self.acknowledged.map(|_| departs.saturating_add(self.takes));
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
        self.takes = terms.round_trip.saturating_add(terms.acknowledgement);
        self.acknowledged = Some(now.saturating_add(self.takes));
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    const TERMS: Terms =
        Terms { round_trip: Duration::from_millis(2), acknowledgement: Duration::from_millis(40), no_delay: false };

    #[test]
    fn the_second_of_two_small_writes_waits_for_the_delayed_acknowledgement() {
        let mut nagle = Nagle::default();
        assert_eq!(nagle.write(ms(0), 200, &TERMS), 200);
        assert_eq!(nagle.until(), None);
        assert_eq!(nagle.write(ms(1), 100, &TERMS), 0);
        assert_eq!((nagle.held(), nagle.until()), (100, Some(ms(42))));
        assert_eq!(nagle.due(ms(41), &TERMS), 0);
        assert_eq!(nagle.due(ms(42), &TERMS), 100);
        assert_eq!((nagle.held(), nagle.until()), (0, None));
        // It is small and unacknowledged itself.
        assert_eq!(nagle.write(ms(43), 1, &TERMS), 0);
        assert_eq!(nagle.until(), Some(ms(84)));
    }

    #[test]
    fn with_no_delay_nothing_waits_also_when_it_is_set_while_something_does() {
        let no_delay = Terms { no_delay: true, ..TERMS };
        let mut nagle = Nagle::default();
        assert_eq!([nagle.write(ms(0), 1, &no_delay), nagle.write(ms(0), 1, &no_delay)], [1, 1]);
        assert_eq!(nagle.write(ms(0), 5, &TERMS), 0);
        assert_eq!(nagle.due(ms(0), &no_delay), 5);
    }

    #[test]
    fn a_small_segment_that_waits_for_the_rate_is_acknowledged_that_much_later() {
        let mut nagle = Nagle::default();
        nagle.departs(ms(1000));
        assert_eq!(nagle.write(ms(0), 10, &TERMS), 10);
        nagle.departs(ms(300));
        assert_eq!(nagle.write(ms(50), 10, &TERMS), 0);
        assert_eq!(nagle.until(), Some(ms(342)));
    }

    #[test]
    fn what_the_peer_sends_carries_the_acknowledgement() {
        let mut nagle = Nagle::default();
        nagle.write(ms(0), 10, &TERMS);
        nagle.write(ms(0), 10, &TERMS);
        assert_eq!(nagle.heard(ms(3), &TERMS), 10);
        // And a client that is answered before it writes again never waits.
        assert_eq!(nagle.heard(ms(6), &TERMS), 0);
        assert_eq!(nagle.write(ms(6), 10, &TERMS), 10);
    }

    #[test]
    fn a_lone_small_write_leaves_at_once_when_the_last_is_acknowledged() {
        let mut nagle = Nagle::default();
        assert_eq!([nagle.write(ms(0), 10, &TERMS), nagle.write(ms(42), 10, &TERMS)], [10, 10]);
    }

    #[test]
    fn what_is_held_leaves_as_soon_as_it_fills_a_segment() {
        let mut nagle = Nagle::default();
        nagle.write(ms(0), 1, &TERMS);
        assert_eq!(nagle.write(ms(1), 1000, &TERMS), 0);
        assert_eq!(nagle.write(ms(2), 1000, &TERMS), SEGMENT);
        assert_eq!(nagle.held(), 2000 - SEGMENT);
        assert_eq!(nagle.finish(), 2000 - SEGMENT);
        assert_eq!(nagle.until(), None);
    }

    #[test]
    fn large_writes_never_wait_but_for_a_small_one_before_them() {
        let mut nagle = Nagle::default();
        for at in 0..10 {
            assert_eq!(nagle.write(ms(at), 10 * SEGMENT, &TERMS), 10 * SEGMENT);
        }
        // The rest of the first is the small segment that the rest of the second waits for.
        assert_eq!(nagle.write(ms(10), 64 << 10, &TERMS), 64 << 10);
        assert_eq!(nagle.write(ms(11), 64 << 10, &TERMS), (64 << 10) / SEGMENT * SEGMENT);
    }
}
