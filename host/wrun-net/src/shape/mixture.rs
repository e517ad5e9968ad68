//! A duration of several modes, such as half 0.2 to 0.9 s and half 1 to 8 s.

use std::time::Duration;

use super::dice::Dice;
use super::nanos::nanos;
use super::profile::Mixture;

impl Mixture {
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// One duration; `None` where there are no modes.
    pub fn draw(&self, dice: &mut Dice) -> Option<Duration> {
        let total: f64 = self.0.iter().map(|mode| mode.weight).sum();
        let mut at = dice.uniform() * total;
        let chosen = self.0.iter().find(|mode| {
            at -= mode.weight;
            at < 0.0
        });
        // Sums of floats may fall short of their total by a hair: that hair is the last mode's.
        let mode = chosen.or(self.0.last())?;
        let from = nanos(mode.from);
        let width = nanos(mode.to).saturating_sub(from);
        Some(Duration::from_nanos(from.saturating_add(dice.up_to(width))))
    }
}
