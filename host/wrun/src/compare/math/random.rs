//! Numbers from a seed: the same on every machine, for ever. Not for secrets.

/// A generator: SplitMix64 (Steele, Lea, Flood 2014), whose every seed is a good one.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    #[cfg(test)]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of its own for each use of a seed, so that what is compared first does not change what comes after.
    pub fn for_use(seed: u64, of: &[&str]) -> Self {
        // Fowler, Noll and Vo's hash, with a mark between the parts.
        let bytes = of.iter().flat_map(|part| part.bytes().chain([0xff]));
        let hash =
            bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        Self(seed ^ hash)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number below `below`, which is at least 1.
    pub fn below(&mut self, below: usize) -> usize {
        ((u128::from(self.next()) * below as u128) >> 64) as usize
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Of the beta distribution; both parameters at least 1/2.
    pub fn beta(&mut self, a: f64, b: f64) -> f64 {
        let (x, y) = (self.gamma(a), self.gamma(b));
        x / (x + y)
    }

    /// Of the gamma distribution of that shape, by Marsaglia and Tsang (2000).
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * self.uniform().powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut random = Random::new(0);
        assert_eq!([random.next(), random.next()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn a_beta_variable_has_its_mean_and_variance() {
        let mut random = Random::new(7);
        for (a, b) in [(0.5, 0.5), (3.5, 3.5), (20.0, 1.0), (5e4, 5e4)] {
            let draws: Vec<f64> = (0..20_000).map(|_| random.beta(a, b)).collect();
            let mean = draws.iter().sum::<f64>() / 20_000.0;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
            let (known, spread) = (a / (a + b), a * b / ((a + b).powi(2) * (a + b + 1.0)));
            assert!((mean - known).abs() < 4.0 * (spread / 20_000.0).sqrt(), "{mean} is not {known}");
            assert!((variance / spread - 1.0).abs() < 0.05, "{variance} is not {spread}");
        }
    }

    #[test]
    fn each_use_has_numbers_of_its_own() {
        let first = |of: &[&str]| Random::for_use(1, of).next();
        assert_ne!(first(&["ab", "c"]), first(&["a", "bc"]));
    }
}
