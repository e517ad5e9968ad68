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
