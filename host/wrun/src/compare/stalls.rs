//! Stalls: durations that lie apart from the rest, and which of two runs has more of them.
//!
//! Where a third of the requests stall, the median is that of the others and says "same". So both samples are laid together
//! and cut in two where they fall apart ([`split`]); who has more above the cut is then a matter of Fisher's exact test,
//! which holds its level, since the cut does not depend on whose the samples are.

use super::gather::Named;
use super::math::counts::fisher_above;
use super::math::split;
use super::series::Series;

/// One-sided. Beside the interval of the medians this is a second look at the same samples: it is to add little to the
/// share of false verdicts.
const LEVEL: f64 = 0.005;

/// Samples that a group has at least.
const LEAST: f64 = 3.0;

/// Durations above a cut, in two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// The longest duration that is none.
    pub limit_ns: u64,
    pub base: u64,
    pub other: u64,
    /// Whether `other` has more of them than chance would give it; else `base` has.
    pub more: bool,
}

/// Stalls that are longer than the rest by at least a factor, where one run has more of them.
pub fn stalls(base: &Named, other: &Named, factor: f64) -> Option<Stalls> {
    let (base, other) = (&base.times, &other.times);
    let points = merged(base, other);
    let cut = split::best(&points, LEAST)?;
    let middle = |points: &[(f64, f64)]| {
        let weight: f64 = points.iter().map(|(_, weight)| weight).sum();
        points.iter().map(|(value, weight)| value * weight).sum::<f64>() / weight
    };
    if middle(&points[cut.index..]) - middle(&points[..cut.index]) <= factor.ln() {
        return None;
    }
    // Half way on the scale of the cut, so that rounding the logarithm does not move a sample to the other side.
    let limit = (0.5 * (points[cut.index - 1].0 + points[cut.index].0)).exp() as u64;
    let (of_base, of_other) = (base.above(limit), other.above(limit));
    let found = |more| Stalls { limit_ns: limit, base: of_base, other: of_other, more };
    if fisher_above(of_other, other.n(), of_base, base.n()) <= LEVEL {
        Some(found(true))
    } else if fisher_above(of_base, base.n(), of_other, other.n()) <= LEVEL {
        Some(found(false))
    } else {
        None
    }
}

/// The logarithms of both in one order, with their counts.
fn merged(a: &Series, b: &Series) -> Vec<(f64, f64)> {
    let (mut a, mut b) = (a.counts().peekable(), b.counts().peekable());
    let mut merged = Vec::new();
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some((x, _)), Some((y, _))) if x <= y => a.next(),
            (Some(_), None) => a.next(),
            _ => b.next(),
        };
        let Some((value, count)) = next else { return merged };
        merged.push(((value as f64).max(1.0).ln(), count as f64));
    }
}
