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

#[cfg(test)]
mod tests {
    use super::super::dice::{Effect, Owner, Seed};
    use super::super::profile::{Mode, Way};
    use super::*;

    fn dice() -> Dice {
        Seed(1).dice(Owner { socket: 0, rule: 0, way: Way::Up, effect: Effect::StallAnswer })
    }

    fn mode(weight: f64, from: u64, to: u64) -> Mode {
        Mode { weight, from: Duration::from_millis(from), to: Duration::from_millis(to) }
    }

    #[test]
    fn modes_are_drawn_by_their_weights_and_keep_their_ends() {
        let (mixture, mut dice) = (Mixture(vec![mode(1.0, 200, 900), mode(3.0, 1000, 8000)]), dice());
        let draws: Vec<Duration> = (0..40_000).map(|_| mixture.draw(&mut dice).unwrap()).collect();
        let (quick, slow): (Vec<_>, Vec<_>) = draws.into_iter().partition(|draw| draw.as_millis() < 950);
        // 10,000 ± five standard deviations.
        assert!((9567..=10_433).contains(&quick.len()), "{}", quick.len());
        for (draws, from, to) in [(quick, 200, 900), (slow, 1000, 8000)] {
            let [from, to] = [from, to].map(Duration::from_millis);
            assert!(draws.iter().all(|draw| (from..=to).contains(draw)));
            let mean = draws.iter().sum::<Duration>() / draws.len() as u32;
            let middle = (from + to) / 2;
            assert!(mean.abs_diff(middle) < (to - from) / 50, "{mean:?}");
        }
    }

    #[test]
    fn no_modes_draw_nothing_and_a_mode_without_width_draws_itself() {
        assert_eq!(Mixture::default().draw(&mut dice()), None);
        assert_eq!(Mixture(vec![mode(0.1, 5, 5)]).draw(&mut dice()), Some(Duration::from_millis(5)));
    }
}
