//! The beginning of something, beside what the link does: the delay and the failure of a connect or a name lookup.

use std::time::Duration;

use super::dice::{Dice, Effect, Owner, Seed};
use super::profile::{Failure, Opening, Way};

/// What one socket throws for its openings.
#[derive(Debug, Clone)]
pub struct OpeningDice {
    delay: Dice,
    failure: Dice,
}

/// How an opening goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// How long it takes until it has succeeded or failed.
    pub after: Duration,
    pub failure: Option<Failure>,
}

impl OpeningDice {
    pub fn connect(seed: Seed, socket: u64, rule: u32) -> Self {
        Self::new(seed, socket, rule, Effect::ConnectDelay, Effect::ConnectFailure)
    }

    pub fn resolve(seed: Seed, socket: u64, rule: u32) -> Self {
        Self::new(seed, socket, rule, Effect::ResolveDelay, Effect::ResolveFailure)
    }

    fn new(seed: Seed, socket: u64, rule: u32, delay: Effect, failure: Effect) -> Self {
        let dice = |effect| seed.dice(Owner { socket, rule, way: Way::Up, effect });
        Self { delay: dice(delay), failure: dice(failure) }
    }
}

impl Opening {
    pub fn is_none(&self) -> bool {
        self.delay.is_none() && self.failure <= 0.0
    }

    /// How it goes when the way there and back takes `link`.
    pub fn draw(&self, link: Duration, dice: &mut OpeningDice) -> Opened {
        let after = link.saturating_add(self.delay.draw(&mut dice.delay));
        let failure = dice.failure.chance(self.failure).then_some(self.how);
        match failure {
            Some(Failure::Timeout(limit)) => Opened { after: limit, failure },
            _ => Opened { after, failure },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::Delay;
    use super::*;

    const LINK: Duration = Duration::from_millis(30);

    fn opening(failure: f64, how: Failure) -> Opening {
        Opening { delay: Delay { base: Duration::from_millis(70), ..Delay::default() }, failure, how }
    }

    #[test]
    fn the_delay_is_on_top_of_the_way_and_before_the_failure() {
        let mut dice = OpeningDice::connect(Seed(1), 0, 0);
        let after = Duration::from_millis(100);
        let opened = opening(0.0, Failure::Refused).draw(LINK, &mut dice);
        assert_eq!(opened, Opened { after, failure: None });
        let refused = opening(1.0, Failure::Refused).draw(LINK, &mut dice);
        assert_eq!(refused, Opened { after, failure: Some(Failure::Refused) });
    }

    #[test]
    fn a_timeout_includes_the_delay() {
        let limit = Duration::from_secs(20);
        let timeout = Failure::Timeout(limit);
        let opened = opening(1.0, timeout).draw(LINK, &mut OpeningDice::resolve(Seed(1), 0, 0));
        assert_eq!(opened, Opened { after: limit, failure: Some(timeout) });
    }

    #[test]
    fn a_connect_and_a_lookup_fail_as_often_as_set_and_apart_from_each_other() {
        let fails = |mut dice: OpeningDice| -> Vec<bool> {
            let opening = opening(0.3, Failure::Unreachable);
            (0..10_000).map(|_| opening.draw(LINK, &mut dice).failure.is_some()).collect()
        };
        let connects = fails(OpeningDice::connect(Seed(1), 0, 0));
        // 3000 ± five standard deviations.
        let count = connects.iter().filter(|&&failed| failed).count();
        assert!((2771..=3229).contains(&count), "{count}");
        assert_ne!(connects, fails(OpeningDice::resolve(Seed(1), 0, 0)));
    }
}
