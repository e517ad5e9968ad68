//! Whether one share of many is above another, when both are counts.

use super::special::{ln_choose, normal_above};

/// From so many on, in the smallest of the four groups that a sample is parted into, the exact sum is given up for its
/// normal limit.
const LARGE: f64 = 1e5;

/// The one-sided p of Fisher's exact test: how likely at least `hits` of `n` are, when `others` of `m` and they are
/// alike and only chance decided whose they became. 1 of nothing.
pub fn fisher_above(hits: u64, n: u64, others: u64, m: u64) -> f64 {
    let (hits, n, others, m) = (hits.min(n) as f64, n as f64, others.min(m) as f64, m as f64);
    let marked = hits + others;
    let plain = n + m - marked;
    let smallest = n.min(m).min(marked).min(plain);
    if smallest <= 0.0 {
        return 1.0;
    }
    if smallest > LARGE {
        let share = marked / (n + m);
        let spread = (share * (1.0 - share) * (1.0 / n + 1.0 / m)).sqrt();
        return if spread > 0.0 { normal_above((hits / n - others / m) / spread) } else { 1.0 };
    }
    // The four sums are alike: whichever group is the smallest can be the one that was drawn.
    let rest = m - others;
    if smallest == marked {
        drawn_above(hits, marked, n, m)
    } else if smallest == n {
        drawn_above(hits, n, marked, plain)
    } else if smallest == m {
        drawn_above(rest, m, plain, marked)
    } else {
        drawn_above(rest, plain, m, n)
    }
}

/// The probability of at least `hits` of `n` in a draw of `drawn` from `n + m`. The draw is the smallest of the groups.
fn drawn_above(hits: f64, drawn: f64, n: f64, m: f64) -> f64 {
    // Only the terms on the smaller side of the mean are summed, from the largest outwards: what is too small for a double there
    // is nothing indeed.
    if hits > drawn * n / (n + m) {
        let next = |k: f64| (n - k) * (drawn - k) / ((k + 1.0) * (m - drawn + k + 1.0));
        tail(hits, drawn, n, m, (0..=(drawn - hits) as u64).map(|step| next(hits + step as f64)))
    } else {
        let next = |k: f64| k * (m - drawn + k) / ((n - k + 1.0) * (drawn - k + 1.0));
        let first = hits - 1.0;
        1.0 - if first < 0.0 {
            0.0
        } else {
            tail(first, drawn, n, m, (0..=first as u64).map(|step| next(first - step as f64)))
        }
    }
}

/// The sum of terms from the one of `first` on; `factors` lead from each to the next, the last to zero.
fn tail(first: f64, drawn: f64, n: f64, m: f64, factors: impl Iterator<Item = f64>) -> f64 {
    // Of falling factorials, since the logarithm of the factorial of a large number is not exact enough.
    let falling = |from: f64, of: f64, count: f64| -> f64 {
        (0..count as u64).map(|i| ((from - i as f64) / (of - i as f64)).ln()).sum()
    };
    let ln_term = ln_choose(drawn, first) + falling(n, n + m, first) + falling(m, n + m - first, drawn - first);
    let (mut term, mut sum) = (ln_term.exp(), 0.0);
    for factor in factors {
        sum += term;
        term *= factor;
        if term <= sum * f64::EPSILON {
            break;
        }
    }
    sum.clamp(0.0, 1.0)
}

/// How likely at least `beyond` of `n` are above all of `m`, when both are alike: the exceedance test of Rosenbaum (1954). 1
/// of nothing.
pub fn exceeding(beyond: u64, n: u64, m: u64) -> f64 {
    let (n, all) = (n as f64, n as f64 + m as f64);
    let mut p = 1.0;
    for i in 0..beyond {
        p *= ((n - i as f64) / (all - i as f64)).max(0.0);
        if p < f64::EPSILON || p.is_nan() {
            break;
        }
    }
    p
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
    fn a_few_of_very_many_are_counted_out() {
        // Three of 600,003 against none of 600,000: all three are whose they are by one chance in eight.
        let p = fisher_above(3, 600_003, 0, 600_000);
        assert!((p - 0.125).abs() < 1e-5, "{p}");
        let p = fisher_above(1, 10, 0, u64::MAX);
        assert!(p > 0.0 && p < 1e-17, "{p}");
    }

    #[test]
    fn whichever_group_is_the_smallest_the_sum_is_that_of_the_terms() {
        let sum = |hits: u64, n: u64, others: u64, m: u64| -> f64 {
            let marked = hits + others;
            let ln = |n: u64, k: u64| ln_choose(n as f64, k as f64);
            let terms = (hits..=n.min(marked)).filter(|k| marked - k <= m);
            terms.map(|k| (ln(n, k) + ln(m, marked - k) - ln(n + m, marked)).exp()).sum()
        };
        for (n, m) in [(4, 30), (30, 4), (17, 19), (200, 12)] {
            for hits in 0..=n {
                for others in 0..=m {
                    let (found, known) = (fisher_above(hits, n, others, m), sum(hits, n, others, m));
                    assert!((found - known).abs() < 1e-9, "{hits} of {n}, {others} of {m}: {found}, not {known}");
                }
            }
        }
    }

    #[test]
    fn the_limit_for_many_joins_the_exact_sum() {
        let of = |n: u64| fisher_above(n / 2 + 500, n, n / 2 - 500, n);
        let (exact, limit) = (of(100_000), of(100_002));
        assert!((exact - limit).abs() < 1e-4, "{exact} {limit}");
    }

    #[test]
    fn so_many_beyond_all_others_are_seldom_chance() {
        assert!((exceeding(3, 6, 6) - 20.0 / 220.0).abs() < 1e-12);
        assert!((exceeding(6, 6, 6) - 1.0 / 924.0).abs() < 1e-12);
        assert_eq!([exceeding(0, 6, 6), exceeding(0, 0, 0)], [1.0, 1.0]);
        assert!(exceeding(u64::MAX, u64::MAX, u64::MAX) < 1e-9);
    }
}
