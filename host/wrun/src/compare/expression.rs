//! What a `--fail-if` says: `NAME[.PHASE].METRIC OP VALUE`, as in `request.p95 > 1.5x`.
//!
//! Read here, without any report; which name and phase are meant, and whether it is so, is [`super::condition`]'s.

use std::cmp::Ordering;
use std::time::Duration;

use super::math::interval::MEDIAN_NEEDS;
use super::math::ratio::MEAN_NEEDS;
use crate::units;

/// A condition that fails a build.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// As it was written.
    pub text: String,
    /// The name, and perhaps behind a dot the phase. Names may have dots too.
    pub path: String,
    pub metric: Metric,
    pub operator: Operator,
    pub value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// From 1 to 99; the median is 50.
    Percentile(u8),
    Mean,
    Max,
    Min,
    Errors,
    /// Samples that ended well.
    N,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// So many times that of the base.
    Ratio(f64),
    /// Nanoseconds.
    Time(u64),
    Count(u64),
    /// From 0 to 1, written as a percentage.
    Share(f64),
}

/// The units that durations are printed in, in nanoseconds; those that end in another's letter stand before it. What has several
/// parts, such as 1m30s, is read as on the rest of the command line.
const SCALES: [(&str, f64); 9] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("μs", 1e3),
    ("ms", 1e6),
    ("min", 60e9),
    ("s", 1e9),
    ("h", 3600e9),
    ("d", 86400e9),
];

const GRAMMAR: &str = "write NAME[.PHASE].METRIC OP VALUE, such as 'request.p95 > 1.5x', 'request.wait.median > 300ms' or \
                       'request.errors > 0'";

impl Expression {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (left, operator, value) = halves(text).ok_or_else(|| format!("it has no >, >=, < or <=: {GRAMMAR}"))?;
        let (path, word) = left.rsplit_once('.').ok_or_else(|| format!("it has no metric behind a dot: {GRAMMAR}"))?;
        let (path, word) = (path.trim(), word.trim());
        if path.is_empty() {
            return Err(format!("it names no sample: {GRAMMAR}"));
        }
        let metric = Metric::parse(word).ok_or_else(|| {
            format!("{word:?} is no metric: they are median, mean, min, max, p1 to p99, errors and n")
        })?;
        let value = Value::parse(value)?;
        let fits = match metric {
            Metric::Errors => matches!(value, Value::Count(_) | Value::Share(_)),
            Metric::N => matches!(value, Value::Count(_)),
            _ => matches!(value, Value::Ratio(_) | Value::Time(_)),
        };
        if !fits {
            let allowed = match metric {
                Metric::Errors => "a count or a percentage, such as 0 or 5%",
                Metric::N => "a count, such as 20",
                _ => "a time or a multiple of the base's, such as 300ms or 1.5x",
            };
            return Err(format!("{word} is held against {allowed}"));
        }
        Ok(Self { text: text.trim().to_owned(), path: path.to_owned(), metric, operator, value })
    }
}

/// What is left and right of the operator. Names may have one in them; the last is meant.
fn halves(text: &str) -> Option<(&str, Operator, &str)> {
    let at = text.rfind(['<', '>'])?;
    let (left, rest) = text.split_at(at);
    let above = rest.starts_with('>');
    let (operator, value) = match rest[1..].strip_prefix('=') {
        Some(value) => (if above { Operator::AtLeast } else { Operator::AtMost }, value),
        None => (if above { Operator::Above } else { Operator::Below }, &rest[1..]),
    };
    Some((left.trim(), operator, value.trim()))
}

impl Metric {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "median" => Self::Percentile(50),
            "mean" => Self::Mean,
            "max" | "worst" => Self::Max,
            "min" => Self::Min,
            "errors" => Self::Errors,
            "n" => Self::N,
            _ => {
                let percent: u8 =
                    word.strip_prefix('p').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()?;
                Self::Percentile(Some(percent).filter(|percent| (1..=99).contains(percent))?)
            }
        })
    }

    /// Samples it takes: a percentile needs one at least beyond it, and all need a bound on what chance may do.
    pub fn needs(self) -> u64 {
        match self {
            Self::Percentile(percent) => {
                let beyond = u64::from(percent.min(100 - percent)).max(1);
                100u64.div_ceil(beyond).max(MEDIAN_NEEDS)
            }
            Self::Mean => MEAN_NEEDS,
            Self::Max | Self::Min | Self::N => 1,
            Self::Errors => 0,
        }
    }
}

impl Operator {
    pub fn holds(self, left: f64, right: f64) -> bool {
        match left.partial_cmp(&right) {
            Some(Ordering::Greater) => matches!(self, Self::Above | Self::AtLeast),
            Some(Ordering::Less) => matches!(self, Self::Below | Self::AtMost),
            Some(Ordering::Equal) => matches!(self, Self::AtLeast | Self::AtMost),
            None => false,
        }
    }

    /// Whether it is about what is too large.
    pub fn upwards(self) -> bool {
        matches!(self, Self::Above | Self::AtLeast)
    }
}

impl Value {
    fn parse(text: &str) -> Result<Self, String> {
        let help = "write a multiple of the base's (1.5x), a time (300ms), a count (0) or a percentage (5%)";
        let number = |digits: &str| {
            let digits = digits.trim_end();
            let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            digits.parse::<f64>().ok().filter(|number| plain && number.is_finite())
        };
        if let Some(digits) = text.strip_suffix(['x', '×']) {
            let ratio = number(digits).filter(|ratio| *ratio > 0.0);
            return ratio.map(Self::Ratio).ok_or_else(|| format!("{text:?} is no multiple: {help}"));
        }
        if let Some(digits) = text.strip_suffix('%') {
            let percent = number(digits).filter(|percent| *percent <= 100.0);
            let refusal = || format!("{text:?} is no percentage from 0% to 100%: {help}");
            return percent.map(|percent| Self::Share(percent / 100.0)).ok_or_else(refusal);
        }
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return text.parse().map(Self::Count).map_err(|_| format!("{text:?} is too large a count: {help}"));
        }
        let scaled = SCALES.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)));
        if let Some((digits, scale)) = scaled
            && let Some(number) = number(digits)
        {
            return Ok(Self::Time((number * scale).round() as u64));
        }
        let time = units::delay(text).map_err(|_| format!("{text:?} is no value: {help}"))?;
        Ok(Self::Time(u64::try_from(Duration::as_nanos(&time)).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_expression_is_a_path_a_metric_an_operator_and_a_value() {
        let parsed = |text: &str| {
            let Expression { path, metric, operator, value, .. } = Expression::parse(text).unwrap();
            (path, metric, operator, value)
        };
        let (above, below) = (Operator::Above, Operator::Below);
        let known = [
            ("request.p95 > 1.5x", "request", Metric::Percentile(95), above, Value::Ratio(1.5)),
            ("request.wait.median>300ms", "request.wait", Metric::Percentile(50), above, Value::Time(300_000_000)),
            ("get-large.errors > 0", "get-large", Metric::Errors, above, Value::Count(0)),
            ("a.errors>=5%", "a", Metric::Errors, Operator::AtLeast, Value::Share(0.05)),
            ("a.n < 20", "a", Metric::N, below, Value::Count(20)),
            ("v1.2.mean <= 0.5x", "v1.2", Metric::Mean, Operator::AtMost, Value::Ratio(0.5)),
            ("a > b.max > 2s", "a > b", Metric::Max, above, Value::Time(2_000_000_000)),
            (" two words . min < 0ms", "two words", Metric::Min, below, Value::Time(0)),
            ("a.max > 1m30s", "a", Metric::Max, above, Value::Time(90_000_000_000)),
            // As they are printed.
            ("a.errors > 5 %", "a", Metric::Errors, above, Value::Share(0.05)),
            ("a.p95 > 1.50×", "a", Metric::Percentile(95), above, Value::Ratio(1.5)),
            ("a.p95 > 1.5 x", "a", Metric::Percentile(95), above, Value::Ratio(1.5)),
            ("a.min < 0us", "a", Metric::Min, below, Value::Time(0)),
            ("a.min < 0 ms", "a", Metric::Min, below, Value::Time(0)),
            ("a.max > 90.1 µs", "a", Metric::Max, above, Value::Time(90_100)),
            ("a.max > 412 ns", "a", Metric::Max, above, Value::Time(412)),
            ("a.max > 16.7 min", "a", Metric::Max, above, Value::Time(1_002_000_000_000)),
        ];
        for (text, path, metric, operator, value) in known {
            assert_eq!(parsed(text), (path.to_owned(), metric, operator, value), "{text}");
        }
    }

    #[test]
    fn what_is_none_is_refused_in_words_that_help() {
        let wrong = [
            "",
            "request",
            "request.p95",
            "request.p95 = 3ms",
            "p95 > 1x",
            ".p95 > 1x",
            "request.p0 > 1x",
            "request.p100 > 1x",
            "request.p9.5 > 1x",
            "request.median >",
            "request.median > 300",
            "request.median > fast",
            "request.median > -1x",
            "request.median > 0x",
            "request.median > infx",
            "request.median > NaNx",
            "request.errors > 3ms",
            "request.errors > 101%",
            "request.errors > 1.5x",
            "request.n > 5%",
            "request.p+5 > 1x",
            "request.max > 1 .5ms",
            "request.max > ms",
        ];
        let said: Vec<String> =
            wrong.iter().map(|text| format!("{text:?}: {}", Expression::parse(text).unwrap_err())).collect();
        insta::assert_snapshot!(said.join("\n"));
    }

    #[test]
    fn a_percentile_needs_a_sample_beyond_it() {
        let needs = [50, 75, 90, 95, 99, 5].map(|percent| Metric::Percentile(percent).needs());
        assert_eq!(needs, [6, 6, 10, 20, 100, 20]);
        assert_eq!(Metric::Mean.needs(), 20);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>(), tail in "[a-z0-9.]{0,8}[<>=]{0,2}[ 0-9.x%ms]{0,6}") {
            let _ = Expression::parse(&text);
            let _ = Expression::parse(&format!("{text}.{tail}"));
        }
    }
}
