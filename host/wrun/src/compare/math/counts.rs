//! Whether one share of many is above another, when both are counts.

use super::special::{ln_choose, normal_above};

/// From so many on, the exact sum is given up for its normal limit.
const LARGE: f64 = 1e6;

/// The one-sided p of Fisher's exact test: how likely at least `hits` of `n` are, when `others` of `m` and they are
/// alike and only chance decided whose they became. 1 of nothing.
pub fn fisher_above(hits: u64, n: u64, others: u64, m: u64) -> f64 {
    let (hits, n, others, m) = (hits.min(n) as f64, n as f64, others.min(m) as f64, m as f64);
    let (all, marked) = (n + m, hits + others);
    if n == 0.0 || m == 0.0 || marked == 0.0 {
        return 1.0;
    }
    if all > LARGE {
        let share = marked / all;
        let spread = (share * (1.0 - share) * (1.0 / n + 1.0 / m)).sqrt();
        return if spread > 0.0 { normal_above((hits / n - others / m) / spread) } else { 1.0 };
    }
    let whole = ln_choose(all, marked);
    let term = |k: f64| (ln_choose(n, k) + ln_choose(m, marked - k) - whole).exp();
    let (mut sum, mut k) = (0.0, hits);
    while k <= n.min(marked) {
        sum += term(k);
        k += 1.0;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fishers_tea_is_told_apart_as_he_said() {
        // Three of four against one of four: 17/70.
        assert!((fisher_above(3, 4, 1, 4) - 17.0 / 70.0).abs() < 1e-12);
        assert!((fisher_above(4, 4, 0, 4) - 1.0 / 70.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_and_everything_are_no_evidence() {
        for p in [fisher_above(0, 0, 0, 0), fisher_above(0, 5, 0, 5), fisher_above(5, 5, 5, 5)] {
            assert_eq!(p, 1.0);
        }
        assert!(fisher_above(u64::MAX, u64::MAX, 0, u64::MAX) < 1e-9);
        assert!(fisher_above(0, u64::MAX, u64::MAX, u64::MAX) > 0.99);
    }

    #[test]
    fn the_limit_for_many_joins_the_exact_sum() {
        let (exact, limit) =
            (fisher_above(5_100, 499_999, 4_900, 499_999), fisher_above(5_100, 500_001, 4_900, 500_001));
        assert!((exact - limit).abs() < 0.002, "{exact} {limit}");
    }
}
