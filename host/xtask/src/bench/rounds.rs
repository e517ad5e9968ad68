//! Interleaved rounds: whatever else the machine does meanwhile hits every contestant alike, and so does what one
//! contestant leaves behind for the next, since every second round goes the other way round.

use anyhow::Result;

/// Runs each contestant once to warm up, and then `count` rounds of one run each, in turn forwards and backwards; gives
/// the figures by contestant.
pub fn rounds<const N: usize>(
    count: usize,
    contestants: [&mut dyn FnMut() -> Result<f64>; N],
) -> Result<[Vec<f64>; N]> {
    let mut figures = [const { Vec::new() }; N];
    for round in 0..=count {
        for turn in 0..N {
            let place = if round % 2 == 0 { turn } else { N - 1 - turn };
            let figure = contestants[place]()?;
            if round > 0 {
                figures[place].push(figure);
            }
        }
    }
    Ok(figures)
}

/// The middle of some figures, and how far apart they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub lowest: f64,
    pub highest: f64,
}

impl Spread {
    /// `None` without figures.
    pub fn of(figures: &[f64]) -> Option<Self> {
        let mut sorted = figures.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (lowest, highest) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median =
            if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) };
        Some(Self { median, lowest, highest })
    }

    /// Of the ratios within each round, which a slow minute of the machine does not move.
    pub fn of_ratios(figures: &[f64], base: &[f64]) -> Option<Self> {
        let ratios: Vec<f64> = figures.iter().zip(base).map(|(figure, base)| figure / base).collect();
        Self::of(&ratios)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contestants_take_turns_in_both_orders_and_the_warm_up_does_not_count() {
        let order = std::cell::RefCell::new(String::new());
        let mut runs = 0.0;
        let mut first = || {
            order.borrow_mut().push('a');
            runs += 1.0;
            Ok(runs)
        };
        let mut second = || {
            order.borrow_mut().push('b');
            Ok(0.0)
        };
        let [figures, _] = rounds(2, [&mut first, &mut second]).unwrap();
        assert_eq!(figures, [2.0, 3.0]);
        assert_eq!(order.into_inner(), "abbaab");
    }

    #[test]
    fn a_median_is_in_the_middle_whatever_the_order() {
        let spread = Spread::of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!(spread, Spread { median: 2.0, lowest: 1.0, highest: 3.0 });
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 3.0]).unwrap().median, 2.5);
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        let spread = Spread::of_ratios(&[11.0, 110.0, 1.1], &[10.0, 100.0, 1.0]).unwrap();
        assert!((spread.lowest - 1.1).abs() < 1e-9 && (spread.highest - 1.1).abs() < 1e-9);
    }
}
