//! The figures of durations, alone and beside those of the base.

use super::data::{Figures, Interval, Number, Range, Times, ToBase};
use super::math::interval::{self, Ends, MEDIAN_NEEDS};
use super::math::random::Random;
use super::math::rank;
use super::math::ratio::{self, Figure};
use super::modes;
use super::series::Series;
use crate::report::stats::{P95_NEEDS, P99_NEEDS};

pub fn figures(series: &Series) -> Figures {
    Figures {
        n: series.n(),
        counted: series.is_counted(),
        times: times(series),
        modes: modes::modes(series),
        to_base: None,
    }
}

fn times(series: &Series) -> Option<Times> {
    let ends = interval::quantile(series, 0.5);
    let interval = ends.low.zip(ends.high).filter(|_| series.n() >= MEDIAN_NEEDS);
    Some(Times {
        min_ns: series.min(),
        median_ns: series.median()?,
        // Whole numbers: the ends are samples.
        median_interval_ns: interval.map(|(low, high)| Range { low_ns: low as u64, high_ns: high as u64 }),
        p95_ns: series.quantile(950).filter(|_| series.n() >= P95_NEEDS as u64),
        p99_ns: series.quantile(990).filter(|_| series.n() >= P99_NEEDS as u64),
        max_ns: series.max(),
        mean_ns: series.mean(),
    })
}

/// `random` is for this pair alone.
pub fn to_base(base: &Series, other: &Series, random: &mut Random) -> Option<ToBase> {
    let (base_median, median) = (base.median()?, other.median()?);
    let enough = base.n() >= MEDIAN_NEEDS && other.n() >= MEDIAN_NEEDS;
    let number = |ends: Ends| Some(Interval { low: Number::new(ends.low?)?, high: Number::new(ends.high?)? });
    let ratio = Number::new(median as f64 / base_median as f64);
    let interval = if enough && ratio.is_some() {
        ratio::interval(base, other, Figure::Quantile(0.5), random).and_then(number)
    } else {
        None
    };
    Some(ToBase { ratio, interval, p: rank::mann_whitney(base, other).and_then(|test| Number::new(test.p)) })
}
