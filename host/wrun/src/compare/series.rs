//! Durations in order: each one, or the buckets of a histogram. Everything else asks through this and need not know which.

use crate::report::histogram::Buckets;
use crate::report::stats;

/// Some durations in nanoseconds, in ascending order. It may be empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Of a histogram: the middles of its buckets.
    values: Vec<u64>,
    /// Of a histogram: how many durations there are up to each of `values`.
    ends: Option<Vec<u64>>,
    n: u64,
    min: u64,
    max: u64,
    mean: u64,
}

impl Series {
    /// Sorts, once; nothing below does so again.
    pub fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        let (min, max) = (values.first().copied().unwrap_or(0), values.last().copied().unwrap_or(0));
        let mean = stats::mean(&values).unwrap_or(0);
        Self { n: values.len() as u64, ends: None, min, max, mean, values }
    }

    /// A bucket counts as so many durations of its middle. What a file contradicts itself in is made consistent.
    pub fn counted(buckets: &Buckets) -> Self {
        let (low, high) = (buckets.min_ns.min(buckets.max_ns), buckets.max_ns.max(buckets.min_ns));
        let middle = |from: u64, to: u64| from.midpoint(to).clamp(low, high);
        let mut pairs: Vec<(u64, u64)> = buckets
            .buckets
            .iter()
            .filter(|bucket| bucket.count > 0)
            .map(|bucket| (middle(bucket.from_ns, bucket.to_ns), bucket.count))
            .collect();
        pairs.sort_unstable();
        let mut n = 0u64;
        let mut ends = Vec::with_capacity(pairs.len());
        for (_, count) in &pairs {
            n = n.saturating_add(*count);
            ends.push(n);
        }
        let values = pairs.into_iter().map(|(value, _)| value).collect();
        Self { values, ends: Some(ends), n, min: low, max: high, mean: buckets.mean_ns.clamp(low, high) }
    }

    /// These and some more: each duration with how often it comes to them.
    pub fn with(&self, more: &[(u64, u64)]) -> Self {
        let more = more.iter().filter(|(_, count)| *count > 0);
        if !self.is_counted() {
            let more = more.flat_map(|(value, count)| std::iter::repeat_n(*value, *count as usize));
            return Self::of(self.values.iter().copied().chain(more).collect());
        }
        let mut pairs: Vec<(u64, u64)> = self.counts().chain(more.copied()).collect();
        pairs.sort_unstable();
        let (first, last) = (pairs.first().map_or(0, |pair| pair.0), pairs.last().map_or(0, |pair| pair.0));
        // Sums of products of whole numbers of 64 bits, divided again before they are told.
        let product = |value: u64, count: u64| u128::from(value).saturating_mul(u128::from(count));
        let sum = pairs.iter().fold(0u128, |sum, (value, count)| sum.saturating_add(product(*value, *count)));
        let n = pairs.iter().fold(0u64, |n, (_, count)| n.saturating_add(*count));
        let mean = u64::try_from(sum / u128::from(n.max(1))).unwrap_or(u64::MAX);
        let mut end = 0u64;
        let ends = pairs.iter().map(|(_, count)| {
            end = end.saturating_add(*count);
            end
        });
        let ends = Some(ends.collect());
        let (min, max) = if self.is_empty() { (first, last) } else { (self.min.min(first), self.max.max(last)) };
        Self { values: pairs.into_iter().map(|(value, _)| value).collect(), ends, n, min, max, mean }
    }

    pub fn n(&self) -> u64 {
        self.n
    }

    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Whether it is from a histogram.
    pub fn is_counted(&self) -> bool {
        self.ends.is_some()
    }

    /// Exact of a histogram too, as is [`Self::max`]; 0 of nothing, as are the others.
    pub fn min(&self) -> u64 {
        self.min
    }

    pub fn max(&self) -> u64 {
        self.max
    }

    pub fn mean(&self) -> u64 {
        self.mean
    }

    /// The duration of that place in order, from 0; the last one of any place beyond. 0 of nothing.
    pub fn at(&self, place: u64) -> u64 {
        let index = match &self.ends {
            None => usize::try_from(place).unwrap_or(usize::MAX),
            Some(ends) => ends.partition_point(|end| *end <= place),
        };
        self.values.get(index).or(self.values.last()).copied().unwrap_or(0)
    }

    /// The same between two places, on the straight line.
    pub fn between(&self, place: f64) -> f64 {
        let place = place.max(0.0);
        let low = self.at(place as u64) as f64;
        let part = place.fract();
        if part == 0.0 { low } else { low + part * (self.at(place as u64 + 1) as f64 - low) }
    }

    /// The quantile as reports have it.
    pub fn quantile(&self, permille: u16) -> Option<u64> {
        if self.is_counted() {
            let last = self.n.checked_sub(1)?;
            let place = (u128::from(last) * u128::from(permille.min(1000)) + 500) / 1000;
            return Some(self.at(place as u64));
        }
        stats::quantile(&self.values, permille)
    }

    pub fn median(&self) -> Option<u64> {
        self.quantile(500)
    }

    /// How many are above a duration.
    pub fn above(&self, limit: u64) -> u64 {
        let index = self.values.partition_point(|value| *value <= limit);
        let not = match &self.ends {
            None => index as u64,
            Some(ends) => index.checked_sub(1).map_or(0, |last| ends[last]),
        };
        self.n - not
    }

    /// Each value in ascending order with how often it occurs there; a value may occur again right after.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> + Clone + '_ {
        let mut before = 0;
        let ends = self.ends.as_deref();
        self.values.iter().enumerate().map(move |(index, value)| match ends {
            None => (*value, 1),
            Some(ends) => {
                let count = ends[index] - before;
                before = ends[index];
                (*value, count)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::histogram::Bucket;

    fn counted(of: &[(u64, u64)]) -> Series {
        let buckets =
            of.iter().map(|(value, count)| Bucket { from_ns: *value, to_ns: *value, count: *count }).collect();
        let max_ns = of.iter().map(|(value, _)| *value).max().unwrap_or(0);
        Series::counted(&Buckets { count: 0, min_ns: 0, max_ns, mean_ns: 1, buckets })
    }

    #[test]
    fn a_histogram_answers_as_the_durations_it_counted() {
        let (each, counts) = (Series::of(vec![5, 3, 3, 9, 9, 9]), counted(&[(3, 2), (5, 1), (9, 3)]));
        for place in 0..8 {
            assert_eq!(each.at(place), counts.at(place), "{place}");
        }
        for limit in 0..11 {
            assert_eq!(each.above(limit), counts.above(limit), "{limit}");
        }
        assert_eq!((each.n(), each.max()), (counts.n(), counts.max()));
        assert_eq!(counts.counts().collect::<Vec<_>>(), [(3, 2), (5, 1), (9, 3)]);
        assert_eq!((each.between(1.5), each.median()), (4.0, Some(7)));
    }

    #[test]
    fn what_is_added_to_a_histogram_is_as_if_it_had_been_counted() {
        let (each, counts) = (Series::of(vec![3, 3, 5]), counted(&[(3, 2), (5, 1)]));
        for more in [&[][..], &[(9, 2), (1, 1)], &[(4, 0)], &[(u64::MAX, 3)]] {
            let (each, counts) = (each.with(more), counts.with(more));
            assert_eq!((each.n(), each.max()), (counts.n(), counts.max()), "{more:?}");
            assert!((0..each.n()).all(|place| each.at(place) == counts.at(place)), "{more:?}");
            assert!(each.mean().abs_diff(counts.mean()) <= 1, "{more:?}: {} {}", each.mean(), counts.mean());
        }
        let full = counted(&[(3, u64::MAX)]).with(&[(u64::MAX, u64::MAX)]);
        assert_eq!((full.n(), full.above(3)), (u64::MAX, 0));
    }

    #[test]
    fn nothing_has_no_median_and_asks_for_no_index() {
        for nothing in [Series::of(Vec::new()), counted(&[]), counted(&[(7, 0)])] {
            assert_eq!((nothing.n(), nothing.median(), nothing.at(3), nothing.above(0)), (0, None, 0, 0));
            assert_eq!(nothing.between(2.5), 0.0);
        }
    }

    #[test]
    fn contradictions_in_a_file_are_made_consistent() {
        let bucket = Bucket { from_ns: 9, to_ns: 3, count: u64::MAX };
        let buckets = Buckets { count: 1, min_ns: 7, max_ns: 2, mean_ns: 99, buckets: vec![bucket, bucket] };
        let series = Series::counted(&buckets);
        assert_eq!((series.n(), series.min(), series.max(), series.mean()), (u64::MAX, 2, 7, 7));
        assert_eq!(series.at(u64::MAX - 1), 6);
        assert_eq!(series.counts().map(|(_, count)| count).sum::<u64>(), u64::MAX);
    }
}
