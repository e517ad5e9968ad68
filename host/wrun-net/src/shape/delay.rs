//! How long something is on its way.

use std::time::Duration;

use super::dice::Dice;
use super::nanos::nanos;
use super::profile::{Delay, Distribution};

/// Deviations at which [`Distribution::Normal`] is cut.
const NORMAL_CUT: f64 = 4.0;

/// The shape of [`Distribution::Pareto`], and the multiple of its mean excess at which it is cut.
const PARETO_SHAPE: f64 = 3.0;
const PARETO_CUT: f64 = 100.0;

impl Delay {
    /// Whether every draw is zero.
    pub fn is_none(&self) -> bool {
        self.base.is_zero() && self.jitter.is_zero()
    }

    /// One delay. Never negative: what would be is zero.
    pub fn draw(&self, dice: &mut Dice) -> Duration {
        let away = match &self.distribution {
            Distribution::Uniform => 2.0 * dice.uniform() - 1.0,
            Distribution::Normal => dice.normal().clamp(-NORMAL_CUT, NORMAL_CUT),
            Distribution::Pareto => dice.pareto(PARETO_SHAPE).min(PARETO_CUT),
            Distribution::Table(values) => {
                // An empty table is a broken promise of the profile's, and is read as no jitter.
                let row = dice.up_to(values.len().saturating_sub(1) as u64);
                values.get(row as usize).copied().unwrap_or_default()
            }
        };
        // A cast of a float saturates, so that no jitter, however absurd, panics.
        let away = (away * nanos(self.jitter) as f64).round() as i64;
        Duration::from_nanos(nanos(self.base).saturating_add_signed(away))
    }
}
