//! Numbers as the sentences of a comparison have them.

use super::data::{Interval, Mode, Place};
use crate::report::text::units::{count, duration};

/// A ratio with three significant digits: `1.53×`, `0.042×`, `21,250×`.
pub fn times(ratio: f64) -> String {
    format!("{}×", significant(ratio))
}

/// `9.80 to 14.1`.
pub fn interval(interval: &Interval) -> String {
    format!("{} to {}", significant(interval.low.get()), significant(interval.high.get()))
}

/// Two durations as one, the unit once where it is the same: `880–912 µs`, `880 µs–1.02 ms`.
pub fn range(from_ns: u64, to_ns: u64) -> String {
    let (from, to) = (duration(from_ns), duration(to_ns));
    match (from.split_once(' '), to.split_once(' ')) {
        (Some((value, unit)), Some((_, same))) if unit == same => format!("{value}–{to}"),
        _ => format!("{from}–{to}"),
    }
}

pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A probability, as far as anybody looks at it.
pub fn probability(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

/// `600 ms ×8, 5.90 s ×7: two modes`.
pub fn modes(modes: &[Mode]) -> String {
    several(modes, |_| String::new())
}

/// The same with how far each reaches: `600 ms ×8 (204–889 ms), 5.90 s ×7 (1.05–7.91 s): two modes`.
pub fn modes_with_ranges(modes: &[Mode]) -> String {
    several(modes, |mode| format!(" ({})", range(mode.min_ns, mode.max_ns)))
}

fn several(modes: &[Mode], behind: impl Fn(&Mode) -> String) -> String {
    const NUMBERS: [&str; 4] = ["two", "three", "four", "five"];
    let one = |mode: &Mode| format!("{} ×{}{}", duration(mode.median_ns), count(mode.count), behind(mode));
    let each: Vec<String> = modes.iter().map(one).collect();
    let number = modes.len().checked_sub(2).and_then(|index| NUMBERS.get(index)).unwrap_or(&"several");
    format!("{}: {number} modes", each.join(", "))
}

/// Where a difference lies, a line each: `wait carries 98 % of the difference (mean 174 ms → 2.86 s)`. Where phases
/// cancel one another out a part of the difference says nothing, and their changes are told in one line instead: `wait +9.00 ms,
/// receive −8.00 ms`.
pub fn places(places: &[Place]) -> Vec<String> {
    let phase = |place: &Place| place.phase.as_ref().map_or_else(|| "no phase".to_owned(), ToString::to_string);
    // As a percentage is rounded.
    let cancel = places.iter().any(|place| place.percent.get() < 0.0 || place.percent.get() >= 100.5);
    if cancel {
        let change = |place: &Place| {
            let (before, after) = (place.base_mean_ns, place.mean_ns);
            let sign = if after < before { '−' } else { '+' };
            format!("{} {sign}{}", phase(place), duration(after.abs_diff(before)))
        };
        return vec![format!("{} (means)", places.iter().map(change).collect::<Vec<_>>().join(", "))];
    }
    let part = |place: &Place| {
        let (before, after) = (duration(place.base_mean_ns), duration(place.mean_ns));
        let percent = place.percent.get();
        format!("{} carries {percent:.0} % of the difference (mean {before} → {after})", phase(place))
    };
    places.iter().map(part).collect()
}

/// `1 sample`, `15 samples`.
pub fn samples(n: u64) -> String {
    if n == 1 { "1 sample".to_owned() } else { format!("{} samples", count(n)) }
}

/// Three significant digits of what is not negative; what is too small for six decimals is zero.
fn significant(value: f64) -> String {
    let decimals = match value {
        1000.0.. => return count(value.round().min(u64::MAX as f64) as u64),
        99.95.. => 0,
        9.995.. => 1,
        0.9995.. => 2,
        0.09995.. => 3,
        0.009_995.. => 4,
        _ => 6,
    };
    let text = format!("{value:.decimals$}");
    // Of the smallest ones only the digits that say something.
    if decimals == 6 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_three_digits_at_every_border() {
        let shown = [
            (0.0, "0×"),
            (0.000_1, "0.0001×"),
            (0.042, "0.0420×"),
            (0.5, "0.500×"),
            (0.9999, "1.00×"),
            (1.534, "1.53×"),
            (9.996, "10.0×"),
            (99.96, "100×"),
            (21_250.4, "21,250×"),
        ];
        for (ratio, text) in shown {
            assert_eq!(times(ratio), text);
        }
        assert_eq!(times(f64::MAX), "1.84e19×");
    }

    #[test]
    fn a_share_and_a_probability_are_not_rounded_to_nothing() {
        assert_eq!([percent(0.0), percent(0.002), percent(0.5)], ["0 %", "0.2 %", "50 %"]);
        assert_eq!([probability(0.0004), probability(0.0496)], ["<0.001", "0.050"]);
    }
}
