//! Which key an operation is for.

use crate::random::Random;

/// How often each key is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// All as often.
    Uniform,
    /// The first most often, the one at place n as often as 1/n^0.99 of that.
    Zipf,
}

/// As the benchmarks of caches have it since YCSB.
const EXPONENT: f64 = 0.99;

/// Draws keys, by number.
#[derive(Debug)]
pub enum Keys {
    Uniform { count: u32 },
    Zipf(Zipf),
}

impl Keys {
    /// At least one.
    pub fn new(count: u32, distribution: Distribution) -> Self {
        match distribution {
            Distribution::Uniform => Self::Uniform { count },
            Distribution::Zipf => Self::Zipf(Zipf::new(count)),
        }
    }

    pub fn draw(&self, random: &mut Random) -> u32 {
        match self {
            Self::Uniform { count } => random.below((*count).into()) as u32,
            Self::Zipf(zipf) => zipf.draw(random),
        }
    }
}

/// Writes a key's name over what was in `name`.
pub fn name(key: u32, name: &mut Vec<u8>) {
    name.clear();
    name.extend_from_slice(b"key-");
    // Not the standard library's formatting: this is done for every operation.
    let digits = key.checked_ilog10().unwrap_or(0);
    name.extend((0..=digits).rev().map(|place| b'0' + (key / 10_u32.pow(place) % 10) as u8));
}

/// Numbers by Zipf's law, drawn by inverting an integral above their sum and rejecting what lies between the two: W.
/// Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", 1996. So no
/// table of all keys is needed.
#[derive(Debug)]
pub struct Zipf {
    count: f64,
    /// The integral from the first key's lower end, and to the last key's upper end.
    area: (f64, f64),
    /// So near below a whole number nothing needs to be rejected.
    near: f64,
}

impl Zipf {
    fn new(count: u32) -> Self {
        let count = f64::from(count);
        let near = 2.0 - place(area(2.5) - height(2.0));
        Self { count, area: (area(1.5) - 1.0, area(count + 0.5)), near }
    }

    fn draw(&self, random: &mut Random) -> u32 {
        let (from, to) = self.area;
        loop {
            let drawn = to + random.unit() * (from - to);
            let exact = place(drawn);
            let key = exact.round().clamp(1.0, self.count);
            if key - exact <= self.near || drawn >= area(key + 0.5) - height(key) {
                return key as u32 - 1;
            }
        }
    }
}

/// How likely the key at a place is, as a multiple of the first.
fn height(place: f64) -> f64 {
    place.powf(-EXPONENT)
}

/// The integral of [`height`] from 1 to a place.
fn area(place: f64) -> f64 {
    (place.powf(1.0 - EXPONENT) - 1.0) / (1.0 - EXPONENT)
}

/// The inverse of [`area`].
fn place(area: f64) -> f64 {
    (1.0 + area * (1.0 - EXPONENT)).powf(1.0 / (1.0 - EXPONENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 200_000;

    /// How often each of `count` keys comes.
    fn histogram(count: u32, distribution: Distribution) -> Vec<u32> {
        let keys = Keys::new(count, distribution);
        let mut random = Random::new(4);
        let mut seen = vec![0; count as usize];
        (0..DRAWS).for_each(|_| seen[keys.draw(&mut random) as usize] += 1);
        seen
    }

    #[test]
    fn the_key_at_place_n_comes_as_often_as_zipf_says() {
        let seen = histogram(100, Distribution::Zipf);
        let sum: f64 = (1..=100).map(|place| height(f64::from(place))).sum();
        for (key, seen) in seen.into_iter().enumerate() {
            let expected = f64::from(DRAWS) * height(key as f64 + 1.0) / sum;
            // Five standard deviations.
            assert!((f64::from(seen) - expected).abs() < 5.0 * expected.sqrt(), "key {key}: {seen} and not {expected}");
        }
    }

    #[test]
    fn a_key_is_called_by_its_number() {
        for key in [0, 9, 10, 1_234_567_890, u32::MAX] {
            let mut named = b"before".to_vec();
            name(key, &mut named);
            assert_eq!(named, format!("key-{key}").as_bytes());
        }
    }

    #[test]
    fn uniform_keys_come_equally_often_and_one_key_comes_always() {
        let seen = histogram(10, Distribution::Uniform);
        assert!(seen.iter().all(|seen| seen.abs_diff(DRAWS / 10) < 1000), "{seen:?}");
        assert_eq!(histogram(1, Distribution::Uniform), [DRAWS]);
        assert_eq!(histogram(1, Distribution::Zipf), [DRAWS]);
    }
}
