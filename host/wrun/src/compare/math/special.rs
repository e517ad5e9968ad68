//! Functions of probability theory. All of them answer with a finite number for finite arguments.

/// The standard normal deviate that 97.5 % lie below.
pub const Z_975: f64 = 1.959_963_984_540_054;

/// The probability that a standard normal variable is above `z`; exact far into the tail.
pub fn normal_above(z: f64) -> f64 {
    0.5 * libm::erfc(z / std::f64::consts::SQRT_2)
}

/// The logarithm of the number of ways to choose `k` of `n`.
pub fn ln_choose(n: f64, k: f64) -> f64 {
    libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
}

/// The probability of at most `k` successes in `n` trials of probability `p`, by the incomplete beta function.
pub fn binomial_below(k: f64, n: f64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    if k < 0.0 {
        return 0.0;
    }
    beta_below(1.0 - p, n - k, k + 1.0)
}

/// The probability that a variable of the beta distribution is below `x`.
///
/// Lentz's evaluation of the continued fraction, as in Abramowitz and Stegun 26.5.8.
pub fn beta_below(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side of the mean only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_below(1.0 - x, b, a);
    }
    let ln_front = a * x.ln() + b * (-x).ln_1p() + libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) - a.ln();
    (ln_front.exp() * fraction(x, a, b)).clamp(0.0, 1.0)
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    // About the square root of the larger parameter is needed; the bound keeps absurd counts from taking long.
    const MOST: u32 = 5_000;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut result = d;
    for step in 1..MOST {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        result *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        result *= d * c;
        if (d * c - 1.0).abs() < 1e-13 {
            break;
        }
    }
    result
}

/// The value that a probability `p` lies below in the beta distribution, by halving.
pub fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // Each step gains a bit; the result is good to the last of a double near 1.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if beta_below(middle, a, b) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, known: f64, part: f64) {
        assert!((found - known).abs() <= known.abs() * part, "{found} is not {known}");
    }

    #[test]
    fn the_normal_tail_is_right_far_out() {
        near(normal_above(0.0), 0.5, 1e-12);
        near(normal_above(Z_975), 0.025, 1e-9);
        near(normal_above(10.0), 7.619_853_024_160_5e-24, 1e-9);
    }

    #[test]
    fn the_binomial_is_the_sum_of_its_terms() {
        for (n, p) in [(6u32, 0.5), (20, 0.95), (15, 0.1), (300, 0.5)] {
            let mut sum = 0.0;
            for k in 0..n {
                let (n, k) = (f64::from(n), f64::from(k));
                sum += (ln_choose(n, k) + k * f64::ln(p) + (n - k) * f64::ln(1.0 - p)).exp();
                assert!((binomial_below(k, n, p) - sum).abs() < 1e-9, "{k} of {n}");
            }
        }
        assert_eq!((binomial_below(-1.0, 5.0, 0.5), binomial_below(5.0, 5.0, 0.5)), (0.0, 1.0));
    }

    #[test]
    fn a_beta_quantile_is_where_its_probability_lies_below() {
        // Clopper and Pearson's interval for 3 of 15.
        near(beta_quantile(0.025, 3.0, 13.0), 0.043_312_0, 1e-4);
        near(beta_quantile(0.975, 4.0, 12.0), 0.480_891_1, 1e-4);
        assert!((beta_below(beta_quantile(0.3, 1e6, 2e6), 1e6, 2e6) - 0.3).abs() < 1e-6);
    }
}
