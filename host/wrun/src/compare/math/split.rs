//! Where a sample falls apart into two: the cut that leaves least variance in its parts.

/// A cut of a sorted sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// Points below the cut.
    pub index: usize,
    /// Squares of distances that are left around the two means.
    pub within: f64,
    /// The same around one mean.
    pub total: f64,
}

impl Split {
    /// The share of the variance that the cut leaves, from 0 to 1; 1 where there is none to take away.
    pub fn left(&self) -> f64 {
        if self.total > 0.0 { (self.within / self.total).clamp(0.0, 1.0) } else { 1.0 }
    }
}

/// The best cut of points in ascending order, each with its weight, that leaves at least `least` of weight on either side.
pub fn best(points: &[(f64, f64)], least: f64) -> Option<Split> {
    let weight: f64 = points.iter().map(|(_, weight)| weight).sum();
    if points.len() < 2 || weight < 2.0 * least {
        return None;
    }
    // Around the mean, so that squares of small distances are not lost beside those of large values.
    let mean = points.iter().map(|(value, weight)| value * weight).sum::<f64>() / weight;
    let total: f64 = points.iter().map(|(value, weight)| (value - mean).powi(2) * weight).sum();
    let (mut below, mut sum) = (0.0, 0.0);
    let mut best: Option<Split> = None;
    for (index, (value, count)) in points.iter().enumerate().take(points.len() - 1) {
        below += count;
        sum += (value - mean) * count;
        let above = weight - below;
        if below < least || above < least || points[index + 1].0 <= *value {
            continue;
        }
        // What the two parts' means take away; the sum above is the negative of the one below.
        let within = (total - sum * sum * (1.0 / below + 1.0 / above)).max(0.0);
        if best.is_none_or(|best| within < best.within) {
            best = Some(Split { index: index + 1, within, total });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_is_between_the_groups() {
        let points: Vec<(f64, f64)> = [1.0, 1.1, 1.2, 5.0, 5.1].map(|value| (value, 1.0)).into();
        let split = best(&points, 1.0).unwrap();
        assert_eq!(split.index, 3);
        assert!(split.left() < 0.01);
        // 0.02 around 1.1, and 0.005 around 5.05.
        assert!((split.within - 0.025).abs() < 1e-9);
    }

    #[test]
    fn equal_points_are_not_cut_apart_and_weights_count() {
        assert_eq!(best(&[(1.0, 1.0); 9], 1.0), None);
        let split = best(&[(1.0, 5.0), (2.0, 1.0), (9.0, 4.0)], 3.0).unwrap();
        assert_eq!(split.index, 2);
        assert_eq!(best(&[(1.0, 5.0), (9.0, 2.0)], 3.0), None);
    }
}
