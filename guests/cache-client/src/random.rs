//! Random numbers that a seed decides. Good enough to spread a load; not for secrets.

/// A sequence of random numbers: SplitMix64, by Steele, Lea and Flood.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Of things that are told apart by several numbers, each its own sequence.
    pub fn of(parts: [u64; 3]) -> Self {
        Self(parts.into_iter().fold(0, |seed, part| Self(seed ^ part).number()))
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `bound`, and 0 where that is. A bias is left, of at most `bound` in 2^32 where that is below it.
    pub fn below(&mut self, bound: u64) -> u64 {
        let number = self.number();
        match u32::try_from(bound) {
            // Without the 128 bits that WebAssembly has no instruction for.
            Ok(bound) => ((number >> 32) * u64::from(bound)) >> 32,
            Err(_) => ((u128::from(number) * u128::from(bound)) >> 64) as u64,
        }
    }

    /// From 0 to just below 1.
    pub fn unit(&mut self) -> f64 {
        // As many bits as a float holds exactly.
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A seed that nobody chose, from the runtime's own random numbers.
pub fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // Short enough to be typed again.
    u64::from(RandomState::new().hash_one(()) as u32)
}

/// A number that nobody can guess and no other run has, from the same; no seed that was chosen is in it.
pub fn secret() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let keys = RandomState::new();
    u128::from(keys.hash_one(0)) << 64 | u128::from(keys.hash_one(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        let mut random = Random::new(1_234_567);
        let first = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431];
        assert_eq!(first.map(|_| random.number()), first);
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all_of_it() {
        let mut random = Random::new(7);
        let mut seen = [0_u32; 5];
        for _ in 0..1000 {
            seen[random.below(5) as usize] += 1;
            assert!((0.0..1.0).contains(&random.unit()));
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
        assert_eq!((random.below(0), random.below(1)), (0, 0));
        assert!((0..1000).any(|_| random.below(u64::MAX) > u64::MAX / 2));
    }
}
