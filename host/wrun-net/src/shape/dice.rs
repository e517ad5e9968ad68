//! Chance: everything random comes from a seed.
//!
//! Each socket and effect has dice of its own, keyed by who it is, so that what one throws never depends on what another
//! does meanwhile: the same seed and the same calls give the same decisions, call for call. What sockets share is beside
//! the dice: the queue of a line, and whether it is in a [burst](super::loss::Weather) of losses, are up to all who
//! send on it. A throw takes a fixed count of numbers whatever the odds, so that one changed probability leaves all other
//! decisions as they were.
//!
//! The numbers are ChaCha8's, and what is made of them is spelt out here, so that no update of a library changes what a
//! seed means.

use std::f64::consts::TAU;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::profile::Way;

/// What all dice of a run come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

/// Whose dice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Counted by whoever opens sockets; name lookups count as sockets, and connections that a listener accepts are
    /// counted by it.
    pub socket: u64,
    /// The place of the rule in its profile.
    pub rule: u32,
    pub way: Way,
    pub effect: Effect,
}

/// What is decided. The numbers are part of what a seed means: they stay, and new ones are added behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Effect {
    Delay = 0,
    Loss = 1,
    Duplicate = 2,
    Reorder = 3,
    ConnectDelay = 4,
    ConnectFailure = 5,
    ResolveDelay = 6,
    ResolveFailure = 7,
    StallConnect = 8,
    StallAnswer = 9,
    StallSend = 10,
}

impl Seed {
    pub fn dice(self, owner: Owner) -> Dice {
        // The parts stand side by side in the key, so that no two owners share one.
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.0.to_le_bytes());
        key[8..16].copy_from_slice(&owner.socket.to_le_bytes());
        key[16..20].copy_from_slice(&owner.rule.to_le_bytes());
        key[20] = match owner.way {
            Way::Up => 0,
            Way::Down => 1,
        };
        key[21] = owner.effect as u8;
        Dice { numbers: ChaCha8Rng::from_seed(key) }
    }
}

/// The dice of one owner.
#[derive(Debug, Clone)]
pub struct Dice {
    numbers: ChaCha8Rng,
}

impl Dice {
    /// From 0 up to, but not including, 1.
    pub fn uniform(&mut self) -> f64 {
        // As many bits as an f64 holds exactly.
        const BITS: u32 = f64::MANTISSA_DIGITS;
        (self.numbers.next_u64() >> (u64::BITS - BITS)) as f64 / (1_u64 << BITS) as f64
    }

    /// Whether something of this probability happens: never at 0, always at 1.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// From 0 to `limit`, both included.
    pub fn up_to(&mut self, limit: u64) -> u64 {
        // The high half of a product: the bias is below one in 2^64 / limit, and no draw is ever repeated.
        let span = u128::from(limit) + 1;
        ((u128::from(self.numbers.next_u64()) * span) >> u64::BITS) as u64
    }

    /// Normal, of mean 0 and standard deviation 1 (Box and Muller's; its second value is not used, so that a draw always
    /// takes two numbers).
    pub fn normal(&mut self) -> f64 {
        // Mirrored, because the logarithm of 0 is none.
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }

    /// Pareto, from 0 upwards, of this shape (above 1) and of mean 1.
    pub fn pareto(&mut self, shape: f64) -> f64 {
        let excess = (1.0 - self.uniform()).powf(-1.0 / shape) - 1.0;
        excess * (shape - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u32 = 100_000;

    fn dice() -> Dice {
        Seed(5).dice(Owner { socket: 0, rule: 0, way: Way::Up, effect: Effect::Delay })
    }

    fn mean(mut draw: impl FnMut() -> f64) -> f64 {
        (0..COUNT).map(|_| draw()).sum::<f64>() / f64::from(COUNT)
    }

    #[test]
    fn each_kind_of_number_has_its_moments() {
        let mut dice = dice();
        // Five standard errors each.
        assert!((mean(|| dice.uniform()) - 0.5).abs() < 0.005);
        assert!(mean(|| dice.normal()).abs() < 0.016);
        assert!((mean(|| dice.normal().powi(2)) - 1.0).abs() < 0.023);
        assert!((mean(|| dice.pareto(3.0)) - 1.0).abs() < 0.03);
        assert!((mean(|| dice.up_to(9) as f64) - 4.5).abs() < 0.046);
    }

    #[test]
    fn up_to_reaches_both_ends_and_goes_no_further() {
        let mut dice = dice();
        let mut thrown: Vec<u64> = (0..1000).map(|_| dice.up_to(3)).collect();
        thrown.sort_unstable();
        thrown.dedup();
        assert_eq!(thrown, [0, 1, 2, 3]);
        assert_eq!(dice.up_to(0), 0);
    }

    #[test]
    fn a_chance_takes_as_many_numbers_whatever_the_odds() {
        let (mut one, mut other) = (dice(), dice());
        for (odds, others) in [(0.0, 1.0), (0.5, 0.0), (f64::NAN, 0.2)] {
            one.chance(odds);
            other.chance(others);
        }
        assert_eq!(one.up_to(u64::MAX), other.up_to(u64::MAX));
    }
}
