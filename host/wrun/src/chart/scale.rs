//! Where a duration stands on an axis, and which durations the axis names.
//!
//! An axis begins at zero and has equal steps, or equal ratios where the longest duration is many times the shortest:
//! there a run of milliseconds beside one of seconds would be a line on the floor. Its words say which.

use crate::report::text::units::duration;

/// From this ratio of the longest to the shortest on, equal steps would hide the short ones.
const WIDE: u64 = 30;

/// Units in which [`duration`] shows its figures, in nanoseconds, and where each begins and ends as a multiple of itself.
const UNITS: [Unit; 7] = [
    Unit { name: "ns", ns: 1, from: 1, until: 1000 },
    Unit { name: "µs", ns: 1_000, from: 1, until: 1000 },
    Unit { name: "ms", ns: 1_000_000, from: 1, until: 1000 },
    Unit { name: "s", ns: 1_000_000_000, from: 1, until: 1000 },
    Unit { name: "min", ns: 60_000_000_000, from: 20, until: 100 },
    Unit { name: "h", ns: 3_600_000_000_000, from: 2, until: 100 },
    Unit { name: "d", ns: 86_400_000_000_000, from: 5, until: u64::MAX },
];

struct Unit {
    name: &'static str,
    ns: u64,
    /// The first and the last multiple that a tick has in this unit; the neighbouring ones are too close to it.
    from: u64,
    until: u64,
}

/// Which round multiples of a unit have a tick.
type Set = fn(&Unit, u64) -> bool;

/// From the finest on: all of them, 1, 2 and 5 times the powers of ten; one for each power of ten; one for each unit.
const SETS: [Set; 3] =
    [|_, _| true, |unit, factor| leading(factor) == leading(unit.from).min(2), |unit, factor| factor == unit.from];

/// One axis of durations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// From zero to this many nanoseconds.
    Linear { high: f64 },
    /// The natural logarithms of the lowest and the highest duration in nanoseconds.
    Log { low: f64, high: f64 },
}

/// A named place on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// The share of the axis below it, 0 to 1.
    pub place: f64,
    pub words: String,
}

impl Scale {
    /// The axis for durations from `shortest` above zero to `longest`, both in nanoseconds, with some room.
    pub fn of(shortest: u64, longest: u64) -> Self {
        if longest / shortest.max(1) < WIDE {
            return Self::Linear { high: (longest.max(1) as f64) * 1.08 };
        }
        let (low, high) = ((shortest.max(1) as f64).ln(), (longest as f64).ln());
        let room = (high - low) * 0.04;
        Self::Log { low: low - room, high: high + room }
    }

    /// For a caption.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Linear { .. } => "linear scale from zero",
            Self::Log { .. } => "log scale",
        }
    }

    /// The share of the axis below a duration, 0 to 1. What lies outside stands at the end.
    pub fn place(&self, ns: u64) -> f64 {
        let share = match self {
            Self::Linear { high } => ns as f64 / high,
            Self::Log { low, high } => ((ns.max(1) as f64).ln() - low) / (high - low),
        };
        share.clamp(0.0, 1.0)
    }

    /// How many ticks an axis of this length has room for, whose words need `each`. Between equal ratios the eye needs
    /// more of them than between equal steps.
    pub fn room(&self, length: f64, each: f64) -> usize {
        match self {
            Self::Linear { .. } => (length / each / 1.7) as usize,
            Self::Log { .. } => (length / each) as usize,
        }
    }

    /// At most `most` ticks, ascending.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        match self {
            Self::Linear { high } => self.steps(*high, most),
            Self::Log { low, high } => self.ratios(low.exp(), high.exp(), most),
        }
    }

    /// Equal steps, in the unit of the highest.
    fn steps(&self, high: f64, most: usize) -> Vec<Tick> {
        let shown = duration(high as u64);
        let unit = UNITS.iter().find(|unit| shown.ends_with(&format!(" {}", unit.name))).unwrap_or(&UNITS[0]);
        // In thousandths of the unit, so that a step can be a fraction; of a nanosecond there is none.
        let thousandth = (unit.ns as f64 / 1000.0).max(1.0);
        let reach = (high / thousandth) as u64;
        let step = rounds().find(|step| reach / step < most as u64).unwrap_or(reach.max(1));
        let tick = |index: u64| {
            let value = (index * step) as f64 * thousandth;
            let words = if index == 0 { "0".to_owned() } else { format!("{} {}", value / unit.ns as f64, unit.name) };
            Tick { place: value / high, words }
        };
        (0..=reach / step).map(tick).collect()
    }

    /// Round durations between two: the finest set that is not too many.
    fn ratios(&self, low: f64, high: f64, most: usize) -> Vec<Tick> {
        for set in SETS {
            let ticks: Vec<u64> = rounds_of_units()
                .filter(|(unit, factor)| set(unit, *factor))
                .filter_map(|(unit, factor)| unit.ns.checked_mul(factor))
                .filter(|ns| (low..=high).contains(&(*ns as f64)))
                .collect();
            if ticks.len() <= most {
                return ticks
                    .into_iter()
                    .map(|ns| Tick { place: self.place(ns), words: short(&duration(ns)) })
                    .collect();
            }
        }
        Vec::new()
    }
}

/// 1, 2 and 5 times the powers of ten.
pub fn rounds() -> impl Iterator<Item = u64> {
    (0..19).flat_map(|power| [1, 2, 5].map(|factor| factor * 10u64.pow(power)))
}

fn rounds_of_units() -> impl Iterator<Item = (&'static Unit, u64)> {
    UNITS.iter().flat_map(|unit| {
        rounds().filter(|factor| (unit.from..unit.until).contains(factor)).map(move |factor| (unit, factor))
    })
}

/// The first digit.
fn leading(mut number: u64) -> u64 {
    while number >= 10 {
        number /= 10;
    }
    number
}

/// A figure without the zeros behind its point: `2.00 ms` is `2 ms`.
fn short(figure: &str) -> String {
    match figure.split_once(' ') {
        Some((value, unit)) if value.contains('.') => {
            format!("{} {unit}", value.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => figure.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(shortest: u64, longest: u64) -> String {
        let ticks = Scale::of(shortest, longest).ticks(12);
        ticks.into_iter().map(|tick| tick.words).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn durations_close_together_have_equal_steps_from_zero() {
        insta::assert_snapshot!(words(900_000, 1_200_000), @"0, 0.2 ms, 0.4 ms, 0.6 ms, 0.8 ms, 1 ms, 1.2 ms");
        insta::assert_snapshot!(words(1, 7), @"0, 1 ns, 2 ns, 3 ns, 4 ns, 5 ns, 6 ns, 7 ns");
        insta::assert_snapshot!(words(900_000_000_000, 3_000_000_000_000), @"0, 5 min, 10 min, 15 min, 20 min, 25 min, 30 min, 35 min, 40 min, 45 min, 50 min");
    }

    #[test]
    fn durations_far_apart_have_equal_ratios_in_the_units_of_the_report() {
        insta::assert_snapshot!(words(264_000, 7_600_000_000), @"1 ms, 10 ms, 100 ms, 1 s, 10 s");
        insta::assert_snapshot!(words(1_200_000, 3_000_000_000), @"1 ms, 2 ms, 5 ms, 10 ms, 20 ms, 50 ms, 100 ms, 200 ms, 500 ms, 1 s, 2 s");
        insta::assert_snapshot!(words(1_000_000_000, 900_000_000_000_000), @"1 s, 10 s, 100 s, 20 min, 2 h, 20 h");
        insta::assert_snapshot!(words(1, u64::MAX), @"1 ns, 1 µs, 1 ms, 1 s, 20 min, 2 h, 5 d");
    }

    proptest! {
        #[test]
        fn every_axis_has_a_few_ticks_in_order_and_every_duration_a_place(a in any::<u64>(), b in any::<u64>()) {
            let (shortest, longest) = (a.min(b).max(1), a.max(b).max(1));
            let scale = Scale::of(shortest, longest);
            for most in [6, 12] {
                let ticks = scale.ticks(most);
                prop_assert!((2..=most).contains(&ticks.len()), "{scale:?} {ticks:?}");
                prop_assert!(ticks.is_sorted_by(|a, b| a.place < b.place), "{ticks:?}");
            }
            let (low, high) = (scale.place(shortest), scale.place(longest));
            prop_assert!(0.0 < low && low <= high && high < 1.0, "{scale:?}");
        }
    }
}
