//! Where the difference lies: the part that each phase has in it.
//!
//! A phase that changed the other way has a negative part, and others then may have more than all of it.
//!
//! By means, since only those add up: the difference of two means is the sum of the differences of their phases. A phase that
//! a sample does not have took it no time.

use super::data::{Number, Place};
use super::gather::Named;
use super::series::Series;
use crate::report::words::Words;

/// Parts smaller than this, in percent, are not worth a line.
const LEAST: f64 = 10.0;

/// The phases that carry the difference, the greatest part first. Empty where the means are alike, or where they differ in
/// the other direction than `slower` says: then a median tells more than they can.
pub fn places(base: &Named, other: &Named, slower: bool) -> Vec<Place> {
    let whole = other.times.mean() as f64 - base.times.mean() as f64;
    if whole == 0.0 || (whole > 0.0) != slower || base.times.is_empty() || other.times.is_empty() {
        return Vec::new();
    }
    let mut names: Vec<&Words> = base.phases.iter().map(|(name, _)| name).collect();
    names.extend(other.phases.iter().map(|(name, _)| name).filter(|name| base.phase(name).is_none()));
    let spent = |of: &Named, name: &str| {
        let sum = |series: &Series| series.mean() as f64 * series.n() as f64;
        of.phase(name).map_or(0.0, sum) / of.times.n() as f64
    };
    let place = |phase: Option<Words>, before: f64, after: f64| {
        let percent = Number::new(100.0 * (after - before) / whole)?;
        Some(Place { phase, percent, base_mean_ns: before.max(0.0) as u64, mean_ns: after.max(0.0) as u64 })
    };
    let mut rest = (base.times.mean() as f64, other.times.mean() as f64);
    let mut places = Vec::new();
    for name in names {
        let (before, after) = (spent(base, name), spent(other, name));
        rest = (rest.0 - before, rest.1 - after);
        places.extend(place(Some(name.clone()), before, after));
    }
    if !places.is_empty() {
        places.extend(place(None, rest.0, rest.1));
    }
    places.retain(|place| place.percent.get().abs() >= LEAST);
    places.sort_by(|a, b| b.percent.get().abs().total_cmp(&a.percent.get().abs()));
    places
}
