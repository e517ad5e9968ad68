//! Where a true figure lies with 95 % confidence, given a sample.
//!
//! Of quantiles by the order statistics, which is exact whatever the distribution; of shares by Clopper and Pearson.

use super::special::{Z_975, beta_quantile, binomial_below};
use crate::compare::series::Series;

/// Samples that an interval of the median needs: fewer do not hold it 95 times of 100, however wide.
pub const MEDIAN_NEEDS: u64 = 6;

/// What an interval may leave out on each side.
pub const SIDE: f64 = 0.025;

/// From so many samples on, the normal limit gives the same places.
const LARGE: u64 = 100_000;

/// Two ends; one that is `None` is not bounded by so small a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ends {
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// Of the quantile of that share, between 0 and 1, in nanoseconds.
pub fn quantile(series: &Series, share: f64) -> Ends {
    let n = series.n();
    // The true quantile has a binomial number of samples below it.
    let low = places_below(n, share);
    let high = places_below(n, 1.0 - share);
    Ends { low: low.map(|place| series.at(place) as f64), high: high.map(|place| series.at(n - 1 - place) as f64) }
}

/// Samples from which on a quantile is bounded on both sides.
pub fn bounded_from(share: f64) -> u64 {
    // The chance that all of n lie on one side of it is the larger share to the power of n.
    (SIDE.ln() / share.max(1.0 - share).ln()).ceil() as u64
}

/// The largest place, from 0, that is above the quantile with at most [`SIDE`].
fn places_below(n: u64, share: f64) -> Option<u64> {
    let trials = n as f64;
    if n > LARGE {
        let place = trials * share - Z_975 * (trials * share * (1.0 - share)).sqrt() - 0.5;
        return (place >= 0.0).then_some(place as u64);
    }
    // The place with `below` samples before it is above the quantile when at most `below` are not.
    let safe = |below: u64| binomial_below(below as f64, trials, share) <= SIDE;
    if n == 0 || !safe(0) {
        return None;
    }
    let (mut yes, mut no) = (0, n);
    while no - yes > 1 {
        let middle = yes.midpoint(no);
        if safe(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    Some(yes)
}

/// Of the true share, of which `hits` of `n` were seen. `None` of nothing.
pub fn share(hits: u64, n: u64) -> Option<(f64, f64)> {
    if n == 0 {
        return None;
    }
    let (hits, n) = (hits.min(n) as f64, n as f64);
    let low = if hits == 0.0 { 0.0 } else { beta_quantile(SIDE, hits, n - hits + 1.0) };
    let high = if hits == n { 1.0 } else { beta_quantile(1.0 - SIDE, hits + 1.0, n - hits) };
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn median(n: u64) -> (Option<f64>, Option<f64>) {
        let ends = quantile(&Series::of((1..=n).collect()), 0.5);
        (ends.low, ends.high)
    }

    #[test]
    fn the_median_lies_between_the_order_statistics_of_the_tables() {
        // As in the usual tables of 95 % limits for a median: n = 6 to 25.
        for (n, low) in [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (15, 4), (20, 6), (25, 8)] {
            assert_eq!(median(n), (Some(f64::from(low)), Some((n + 1) as f64 - f64::from(low))), "{n}");
        }
    }

    #[test]
    fn five_samples_do_not_bound_a_median_nor_twenty_a_p95_from_above() {
        for n in 0..MEDIAN_NEEDS {
            assert_eq!(median(n), (None, None));
        }
        let ends = quantile(&Series::of((1..=20).collect()), 0.95);
        assert_eq!((ends.low.is_some(), ends.high), (true, None));
        for share in [0.5, 0.95, 0.05, 0.99] {
            let n = bounded_from(share);
            let both = |n: u64| quantile(&Series::of((1..=n).collect()), share);
            let bounded = |ends: Ends| ends.low.is_some() && ends.high.is_some();
            assert!(bounded(both(n)) && !bounded(both(n - 1)), "{share}: {n}");
        }
    }

    #[test]
    fn the_limit_for_many_joins_the_exact_places() {
        let place = |n| places_below(n, 0.5).unwrap() as f64;
        assert!((place(LARGE + 1) - place(LARGE)).abs() <= 2.0, "{} {}", place(LARGE + 1), place(LARGE));
        assert!(place(u64::MAX) > 9e18);
    }

    #[test]
    fn a_share_is_bounded_as_clopper_and_pearson_say() {
        let (low, high) = share(3, 15).unwrap();
        assert!((low - 0.0433).abs() < 1e-4 && (high - 0.4809).abs() < 1e-4, "{low} {high}");
        assert_eq!(share(0, 10).unwrap().0, 0.0);
        assert_eq!(share(10, 10).unwrap().1, 1.0);
        assert_eq!(share(0, 0), None);
        let (low, high) = share(u64::MAX / 2, u64::MAX).unwrap();
        assert!(low <= high && low.is_finite());
    }
}
