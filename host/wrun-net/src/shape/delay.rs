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

#[cfg(test)]
mod tests {
    use super::super::dice::{Effect, Owner, Seed};
    use super::super::profile::Way;
    use super::*;

    const BASE: Duration = Duration::from_millis(100);
    const JITTER: Duration = Duration::from_millis(20);

    /// In milliseconds, in order.
    fn draws(distribution: Distribution) -> Vec<f64> {
        let delay = Delay { base: BASE, jitter: JITTER, distribution };
        let mut dice = Seed(1).dice(Owner { socket: 0, rule: 0, way: Way::Up, effect: Effect::Delay });
        let mut draws: Vec<f64> = (0..50_000).map(|_| delay.draw(&mut dice).as_secs_f64() * 1e3).collect();
        draws.sort_by(f64::total_cmp);
        draws
    }

    fn quantile(draws: &[f64], share: f64) -> f64 {
        draws[(share * draws.len() as f64) as usize]
    }

    #[test]
    fn each_distribution_has_its_quartiles_and_its_ends() {
        // Of the quartiles: where theory has them.
        for (distribution, quartiles, ends) in [
            (Distribution::Uniform, [90.0, 100.0, 110.0], 80.0..=120.0),
            (Distribution::Normal, [86.51, 100.0, 113.49], 20.0..=180.0),
            (Distribution::Pareto, [104.026, 110.397, 123.496], 100.0..=2100.0),
            (Distribution::Table(vec![-1.0, 0.0, 0.0, 2.0]), [100.0, 100.0, 140.0], 80.0..=140.0),
        ] {
            let is_table = matches!(distribution, Distribution::Table(_));
            let draws = draws(distribution);
            assert!(ends.contains(&draws[0]) && ends.contains(&draws[draws.len() - 1]), "{ends:?}");
            // A table steps exactly at these quartiles.
            let shares = if is_table { [0.4, 0.6, 0.9] } else { [0.25, 0.5, 0.75] };
            for (share, wanted) in shares.into_iter().zip(quartiles) {
                let found = quantile(&draws, share);
                assert!((found - wanted).abs() < 0.6, "{found} where {wanted} was expected");
            }
        }
    }

    #[test]
    fn absurd_delays_are_drawn_without_a_panic() {
        let distribution = Distribution::Table(vec![100.0, -1.0, f64::NAN, f64::INFINITY]);
        let mut dice = Seed(1).dice(Owner { socket: 0, rule: 0, way: Way::Up, effect: Effect::Delay });
        for distribution in [distribution, Distribution::Pareto, Distribution::Table(vec![])] {
            let delay = Delay { base: Duration::MAX, jitter: Duration::MAX, distribution };
            assert!((0..100).all(|_| delay.draw(&mut dice) <= Duration::from_nanos(u64::MAX)));
        }
    }
}
