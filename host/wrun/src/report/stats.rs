//! Order statistics, exact and without floating point.
//!
//! A quantile is what R calls type 7 and NumPy its default: the value at position `(n - 1) * q` of the sorted sample,
//! on a straight line between its neighbours, rounded to the nearest integer. Shares are in thousandths, so that
//! 0.95 is a number too.

/// Samples that a 95th percentile needs: with fewer it is the largest value under another name.
pub const P95_NEEDS: usize = 20;

/// Samples that a 99th percentile needs.
pub const P99_NEEDS: usize = 100;

/// The value below which `permille` thousandths of a sorted sample lie. `None` of an empty one; a share above 1000 is 1000.
pub fn quantile(sorted: &[u64], permille: u16) -> Option<u64> {
    let last = sorted.len().checked_sub(1)?;
    let position = last as u128 * u128::from(permille.min(1000));
    let (index, rest) = ((position / 1000) as usize, position % 1000);
    let low = sorted[index];
    let high = sorted.get(index + 1).copied().unwrap_or(low);
    // Of an unsorted slice the difference could be negative; the answer is then of no use, but there is one.
    let part = (u128::from(high.saturating_sub(low)) * rest + 500) / 1000;
    Some(low.saturating_add(part as u64))
}

/// The middle of a sorted sample.
pub fn median(sorted: &[u64]) -> Option<u64> {
    quantile(sorted, 500)
}

/// The arithmetic mean, rounded to the nearest integer.
pub fn mean(values: &[u64]) -> Option<u64> {
    mean_of(values.iter().map(|value| u128::from(*value)).sum(), values.len() as u64)
}

/// The mean of `count` values that add up to `sum`.
pub fn mean_of(sum: u128, count: u64) -> Option<u64> {
    let count = u128::from(count);
    (count > 0).then(|| u64::try_from((sum + count / 2) / count).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_has_no_statistic() {
        assert_eq!((quantile(&[], 500), median(&[]), mean(&[])), (None, None, None));
    }

    #[test]
    fn quantiles_lie_on_the_line_between_neighbours() {
        let sorted = [10, 20, 30, 40];
        let at = |permille| quantile(&sorted, permille);
        assert_eq!([at(0), at(250), at(500), at(750), at(1000)], [Some(10), Some(18), Some(25), Some(33), Some(40)]);
    }

    #[test]
    fn the_largest_values_do_not_overflow() {
        let sorted = [u64::MAX - 1, u64::MAX];
        assert_eq!(quantile(&sorted, 999), Some(u64::MAX));
        assert_eq!(mean(&sorted), Some(u64::MAX));
    }

    proptest! {
        #[test]
        fn a_quantile_is_the_naive_one_to_the_nearest_integer(
            mut values in vec(0u64..1 << 40, 1..60),
            permille in 0u16..=1000,
        ) {
            values.sort_unstable();
            let position = (values.len() - 1) as f64 * f64::from(permille) / 1000.0;
            let (low, high) = (values[position.floor() as usize] as f64, values[position.ceil() as usize] as f64);
            let naive = low + (high - low) * position.fract();
            let exact = quantile(&values, permille).unwrap() as f64;
            prop_assert!((exact - naive).abs() <= 0.51, "{exact} is not {naive}");
        }

        #[test]
        fn quantiles_grow_with_their_share_and_stay_within_the_sample(
            mut values in vec(any::<u64>(), 1..60),
            a in 0u16..=1000,
            b in 0u16..=1000,
        ) {
            values.sort_unstable();
            let (low, high) = (quantile(&values, a.min(b)).unwrap(), quantile(&values, a.max(b)).unwrap());
            prop_assert!(values[0] <= low && low <= high && high <= values[values.len() - 1]);
        }

        #[test]
        fn a_mean_is_the_naive_one(values in vec(0u64..1 << 40, 1..60)) {
            let naive = values.iter().map(|value| *value as f64).sum::<f64>() / values.len() as f64;
            prop_assert!((mean(&values).unwrap() as f64 - naive).abs() <= 0.51);
        }
    }
}
