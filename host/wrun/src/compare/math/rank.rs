//! Mann and Whitney's test: whether one sample tends to be above another, whatever the distribution.

use super::special::normal_above;
use crate::compare::series::Series;

/// Samples that each side needs: with three against three no order is rare enough to mean anything.
pub const NEEDS: u64 = 4;

/// Below so many on each side, and without ties, the distribution is counted out; as R does.
const EXACT: u64 = 50;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// Pairs of which `b`'s is the larger; half of those that are alike.
    pub u: f64,
    /// Two-sided.
    pub p: f64,
    /// Whether `p` was counted out, or is of the normal limit with corrections for ties and continuity.
    pub exact: bool,
}

/// `None` where either side has fewer than [`NEEDS`].
pub fn mann_whitney(a: &Series, b: &Series) -> Option<MannWhitney> {
    let (n, m) = (a.n(), b.n());
    if n < NEEDS || m < NEEDS {
        return None;
    }
    let Sums { u, ties } = sums(a, b);
    if ties == 0.0 && n < EXACT && m < EXACT {
        return Some(MannWhitney { u, p: exact(n as usize, m as usize, u as usize), exact: true });
    }
    let (n, m) = (n as f64, m as f64);
    let all = n + m;
    let variance = n * m / 12.0 * ((all + 1.0) - ties / (all * (all - 1.0)));
    let distance = ((u - n * m / 2.0).abs() - 0.5).max(0.0);
    // All of them alike: nothing speaks for a difference.
    let p = if variance > 0.0 { (2.0 * normal_above(distance / variance.sqrt())).min(1.0) } else { 1.0 };
    Some(MannWhitney { u, p, exact: false })
}

struct Sums {
    u: f64,
    /// The sum of `t³ - t` over groups of `t` that are alike.
    ties: f64,
}

/// One pass over both in order.
fn sums(a: &Series, b: &Series) -> Sums {
    let (mut a, mut b) = (a.counts().peekable(), b.counts().peekable());
    let (mut u, mut ties, mut below) = (0.0, 0.0, 0.0);
    while let Some(value) = [a.peek(), b.peek()].into_iter().flatten().map(|(value, _)| *value).min() {
        let (mut of_a, mut of_b) = (0.0, 0.0);
        while let Some((_, count)) = a.next_if(|(next, _)| *next == value) {
            of_a += count as f64;
        }
        while let Some((_, count)) = b.next_if(|(next, _)| *next == value) {
            of_b += count as f64;
        }
        u += of_b * (below + of_a / 2.0);
        below += of_a;
        let group: f64 = of_a + of_b;
        ties += group * (group * group - 1.0);
    }
    Sums { u, ties }
}

/// Two-sided p by counting the orders of `n` and `m` that have each `u`.
///
/// Their generating function is Gauss's binomial coefficient, built up factor by factor; its coefficients are at most 98
/// over 49, which is below 2¹⁰⁰.
fn exact(n: usize, m: usize, u: usize) -> f64 {
    let most = n * m;
    let mut orders = vec![0u128; most + 1];
    orders[0] = 1;
    for step in 1..=n {
        for at in (m + step..=most).rev() {
            // Coefficients above the degree of the part that is built so far wrap, and are brought back by the next line.
            orders[at] = orders[at].wrapping_sub(orders[at - m - step]);
        }
        for at in step..=most {
            orders[at] = orders[at].wrapping_add(orders[at - step]);
        }
    }
    let all: u128 = orders.iter().sum();
    let tail: u128 = orders[..=u.min(most - u)].iter().sum();
    (2.0 * tail as f64 / all as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(a: &[u64], b: &[u64]) -> MannWhitney {
        mann_whitney(&Series::of(a.to_vec()), &Series::of(b.to_vec())).unwrap()
    }

    #[test]
    fn it_agrees_with_the_published_example() {
        // Hollander and Wolfe's permeability constants, as in R's documentation of wilcox.test: W = 35, p = 0.2544.
        let found = test(&[115, 88, 90, 74, 121], &[80, 83, 189, 104, 145, 138, 191, 164, 73, 146]);
        assert_eq!((found.u, found.exact), (35.0, true));
        assert!((found.p - 0.254_412_254_412_254_4).abs() < 1e-12, "{}", found.p);
    }

    #[test]
    fn four_against_four_apart_is_two_in_seventy() {
        assert!((test(&[1, 2, 3, 4], &[5, 6, 7, 8]).p - 2.0 / 70.0).abs() < 1e-12);
        assert_eq!(mann_whitney(&Series::of(vec![1, 2, 3]), &Series::of(vec![4, 5, 6, 7])), None);
    }

    #[test]
    fn ties_are_corrected_for() {
        // scipy.stats.mannwhitneyu(method="asymptotic"), which counts the pairs the other way around.
        let found = test(&[1, 2, 2, 3, 5, 5], &[2, 4, 5, 6, 7, 7, 8]);
        assert_eq!((found.u, found.exact), (TIED.0, false));
        assert!((found.p - TIED.1).abs() < 1e-9, "{}", found.p);
        assert_eq!(test(&[3; 20], &[3; 20]).p, 1.0);
    }

    /// `u` and p of the sample above.
    const TIED: (f64, f64) = (35.0, 0.050_835_582_280_956_3);

    #[test]
    fn the_limit_for_many_joins_the_counted() {
        let a: Vec<u64> = (0..49).map(|i| i * 20).collect();
        let b: Vec<u64> = (0..49).map(|i| i * 20 + 151).collect();
        let counted = test(&a, &b);
        let limit = test(&[a, vec![1001]].concat(), &[b, vec![1003]].concat());
        assert!(counted.exact && !limit.exact && (counted.p - limit.p).abs() < 0.02, "{counted:?} {limit:?}");
    }

    #[test]
    fn apart_as_far_as_can_be_is_still_a_probability() {
        let (a, b): (Vec<u64>, Vec<u64>) = ((0..5000).collect(), (5000..10_000).collect());
        let found = test(&a, &b);
        assert!(found.p >= 0.0 && found.p < 1e-300);
    }
}
