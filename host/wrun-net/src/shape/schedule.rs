//! Which of a rule's regimes is in effect when.
//!
//! Regimes take turns from the start of the run, in their order, again and again.

use std::time::Duration;

use super::nanos::nanos;
use super::profile::Regime;

/// Turns of regimes, by how long each lasts.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// When the turn of each regime ends, in nanoseconds since the start of its cycle. Rising.
    ends: Vec<u64>,
}

/// A regime's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The place of the regime in its rule.
    pub regime: usize,
    pub begins: Duration,
    /// When another regime's turn begins. `None`: never.
    pub ends: Option<Duration>,
}

impl Schedule {
    pub fn new(regimes: &[Regime]) -> Self {
        let mut end = 0_u64;
        let ends = regimes.iter().map(|regime| {
            end = end.saturating_add(nanos(regime.lasts));
            end
        });
        Self { ends: ends.collect() }
    }

    /// The turn that `now` is in. A turn includes its beginning and not its end.
    pub fn turn(&self, now: Duration) -> Turn {
        let cycle = self.cycle();
        if self.ends.len() < 2 || cycle == 0 {
            return Turn { regime: 0, begins: Duration::ZERO, ends: None };
        }
        let now = nanos(now);
        let start = now - now % cycle;
        let regime = self.ends.partition_point(|&end| end <= now - start);
        let begins = match regime {
            0 => start,
            _ => start + self.ends[regime - 1],
        };
        let ends = start.checked_add(self.ends[regime]).map(Duration::from_nanos);
        Turn { regime, begins: Duration::from_nanos(begins), ends }
    }

    /// Nanoseconds after which it all begins again.
    pub(super) fn cycle(&self) -> u64 {
        self.ends.last().copied().unwrap_or_default()
    }

    /// How long a regime's turn lasts, in nanoseconds.
    pub(super) fn lasts(&self, regime: usize) -> u64 {
        self.ends[regime] - regime.checked_sub(1).map_or(0, |before| self.ends[before])
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::Effects;
    use super::*;

    fn schedule(lasts: &[Duration]) -> Schedule {
        let regime = |&lasts| Regime { lasts, effects: Effects::default() };
        Schedule::new(&lasts.iter().map(regime).collect::<Vec<_>>())
    }

    #[test]
    fn regimes_take_turns_and_begin_again() {
        let secs = Duration::from_secs;
        let schedule = schedule(&[secs(10), secs(3)]);
        for (now, regime, begins, ends) in [
            (0.0, 0, 0, 10),
            (9.999, 0, 0, 10),
            (10.0, 1, 10, 13),
            (12.9, 1, 10, 13),
            (13.0, 0, 13, 23),
            (1300.0, 0, 1300, 1310),
            (1312.0, 1, 1310, 1313),
        ] {
            let turn = Turn { regime, begins: secs(begins), ends: Some(secs(ends)) };
            assert_eq!(schedule.turn(Duration::from_secs_f64(now)), turn, "at {now} s");
        }
    }

    #[test]
    fn a_single_regime_lasts_for_ever_and_so_does_the_last_that_time_has_room_for() {
        let alone = schedule(&[Duration::from_secs(1)]);
        assert_eq!(alone.turn(Duration::from_secs(9)), Turn { regime: 0, begins: Duration::ZERO, ends: None });
        let endless = schedule(&[Duration::from_secs(1), Duration::MAX]);
        assert_eq!(endless.turn(Duration::from_secs(9)).regime, 1);
        assert_eq!(endless.turn(Duration::MAX).ends, None);
    }
}
