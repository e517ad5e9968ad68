//! Stalls: durations that lie apart from the rest, and which of two runs has more of them.
//!
//! Where a third of the requests stall, the median is that of the others and says "same". So both samples are laid together
//! and cut in two if they fall apart (as in [`modes`]); who has more above the cut is then a matter of Fisher's exact test,
//! which holds its level, since the cut does not depend on whose the samples are. What is left then is whether it
//! matters: how far the additional stalls move the mean.

use super::gather::Named;
use super::math::counts::fisher_above;
use super::math::split;
use super::modes::{self, weight};
use super::series::Series;

/// One-sided, for either side. The test is exact, so of two runs that stall alike it is wrong less often than that; of two
/// that do not stall it is hardly ever asked.
const LEVEL: f64 = 0.025;

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
    /// How likely chance would, two-sided.
    pub p: f64,
}

/// Stalls of which one run has more, so many more that they change the mean by the share `threshold` of what the others
/// take, and are longer than them by more than `resolution_ns`.
pub fn stalls(base: &Named, other: &Named, threshold: f64, resolution_ns: u64) -> Option<Stalls> {
    let (base, other) = (&base.times, &other.times);
    let points = merged(base, other);
    let cut = split::best(&points, LEAST)?;
    if cut.left() > modes::strict(weight(&points)) {
        return None;
    }
    // Half way on the scale of the cut, so that rounding the logarithm does not move a sample to the other side.
    let limit = (0.5 * (points[cut.index - 1].0 + points[cut.index].0)).exp() as u64;
    let (of_base, of_other) = (base.above(limit), other.above(limit));
    let above = fisher_above(of_other, other.n(), of_base, base.n());
    let below = fisher_above(of_base, base.n(), of_other, other.n());
    if above.min(below) > LEVEL {
        return None;
    }
    let (shorter, longer) = points.split_at(cut.index);
    let change = (of_other as f64 / other.n() as f64 - of_base as f64 / base.n() as f64).abs();
    let (longer, shorter) = (middle(longer), middle(shorter));
    let matters = change * (longer / shorter - 1.0) > threshold && longer - shorter > resolution_ns as f64;
    let (more, p) = (above < below, 2.0 * above.min(below));
    matters.then_some(Stalls { limit_ns: limit, base: of_base, other: of_other, more, p })
}

/// The geometric mean of durations given as logarithms.
fn middle(points: &[(f64, f64)]) -> f64 {
    (points.iter().map(|(value, weight)| value * weight).sum::<f64>() / weight(points)).exp()
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
