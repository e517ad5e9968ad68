//! Durations and sizes as people write them on a command line, and times, sizes, rates and shares as they write them in
//! profiles, where every unit is written out.

use std::time::Duration;

use crate::near;

/// A duration such as `30s`, `200ms` or `1m30s`. Zero is refused: it would end before it began.
pub fn duration(text: &str) -> Result<Duration, String> {
    let help = "write a number with its unit, such as 200ms, 30s, 1m30s or 2h";
    if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Err(format!("a duration has a unit: {help}"));
    }
    let duration: jiff::SignedDuration = text.parse().map_err(|_| format!("no duration: {help}"))?;
    match Duration::try_from(duration) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("a duration here is more than zero".to_owned()),
    }
}

/// A duration that may be zero.
pub fn delay(text: &str) -> Result<Duration, String> {
    if matches!(text, "0" | "0s" | "0ms") { Ok(Duration::ZERO) } else { duration(text) }
}

/// A size in bytes, such as `4096`, `64K`, `16M` or `1G`, in powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match &text[digits.len()..] {
        "" | "B" => 0,
        "K" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        _ => return Err("no size: write bytes, or a number with K, M or G (powers of 1024), such as 64M".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| "no size: write a whole number, such as 4096 or 64M".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "too large a size".to_owned())
}

/// A percentage from 0 to 1000, such as `5%` or `2.5%`, as a share.
pub fn percentage(text: &str) -> Result<f64, String> {
    let digits = text.strip_suffix('%').unwrap_or(text).trim();
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match digits.parse::<f64>() {
        Ok(percent) if plain && percent <= 1000.0 => Ok(percent / 100.0),
        _ => Err("no percentage from 0% to 1000%: write one such as 5%".to_owned()),
    }
}

/// A unit, and how many of the smallest are in it.
type Unit = (&'static str, u64);

/// Something that is measured in units.
struct Measure {
    units: &'static [Unit],
    example: &'static str,
    /// The units that somebody may have meant by another.
    meant: fn(&str) -> Vec<&'static str>,
}

const TIME: Measure = Measure { units: &TIMES, example: "50 ms", meant: meant_time };
const SIZE: Measure = Measure { units: &SIZES, example: "64 KiB", meant: meant_size };
const RATE: Measure = Measure { units: &RATES, example: "256 kbit/s", meant: meant_rate };

/// In nanoseconds.
const TIMES: [Unit; 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// In bytes.
const SIZES: [Unit; 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// In bits a second, so that all are whole.
const RATES: [Unit; 11] = [
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
    ("B/s", 8),
    ("kB/s", 8_000),
    ("MB/s", 8_000_000),
    ("GB/s", 8_000_000_000),
    ("KiB/s", 8 << 10),
    ("MiB/s", 8 << 20),
    ("GiB/s", 8 << 30),
];

/// A time of a profile, such as `50 ms`, to the nanosecond.
pub fn time(text: &str) -> Result<Duration, String> {
    quantity(text, &TIME).map(Duration::from_nanos)
}

/// A size of a profile in bytes, such as `64 KiB` or `8 kB`.
pub fn bytes(text: &str) -> Result<u64, String> {
    quantity(text, &SIZE)
}

/// A rate of a profile in bytes a second, such as `256 kbit/s` or `8 kB/s`, to the byte.
pub fn rate(text: &str) -> Result<u64, String> {
    quantity(text, &RATE).map(|bits| bits / 8 + u64::from(bits % 8 >= 4))
}

/// A share from 0 to 1, written as `1 %`.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = split(text);
    if unit != "%" {
        return Err(format!("`{text}` is no share: write one such as \"1 %\", or 0.01 without quotes"));
    }
    match decimal(number, text, "1 %")? / 100.0 {
        share if share <= 1.0 => Ok(share),
        _ => Err(format!("`{text}` is more than everything: a share is from 0 to 100 %")),
    }
}

/// A time as [`time`] reads it again.
pub fn time_text(time: Duration) -> String {
    // What is longer than `u64` nanoseconds, 584 years, is in no profile.
    let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    match nanoseconds {
        0 => "0 ms".to_owned(),
        _ => in_units(nanoseconds, &TIMES[..4], 1000),
    }
}

/// A size as [`bytes`] reads it again.
pub fn bytes_text(bytes: u64) -> String {
    let binary = bytes > 0 && bytes.is_multiple_of(1 << 10);
    let units =
        if binary { [SIZES[0], SIZES[4], SIZES[5], SIZES[6]] } else { [SIZES[0], SIZES[1], SIZES[2], SIZES[3]] };
    in_units(bytes, &units, 1)
}

/// A rate as [`rate`] reads it again.
pub fn rate_text(bytes: u64) -> String {
    match bytes.checked_mul(8) {
        Some(bits) if bits.is_multiple_of(1000) => in_units(bits, &RATES[..4], 1000),
        _ => format!("{bytes} B/s"),
    }
}

/// A share as [`share`] reads it again, or as a number where percents are not exact.
pub fn share_text(value: f64) -> String {
    let percents = format!("{} %", (value * 1e8).round() / 1e6);
    if share(&percents) == Ok(value) { format!("\"{percents}\"") } else { value.to_string() }
}

/// In the largest unit of which it is at least one, and which shows it whole in `parts` of it.
fn in_units(value: u64, units: &[Unit], parts: u64) -> String {
    let fits = |(_, scale): &&Unit| value >= *scale && value.is_multiple_of((scale / parts).max(1));
    let (unit, scale) = units.iter().rev().find(fits).unwrap_or(&units[0]);
    let thousandths = (value % scale) * 1000 / scale;
    let fraction = format!(".{thousandths:03}");
    format!("{}{} {unit}", value / scale, fraction.trim_end_matches('0').trim_end_matches('.'))
}

/// A number and its unit, in the smallest unit.
fn quantity(text: &str, measure: &Measure) -> Result<u64, String> {
    let Measure { units, example, meant } = measure;
    let (number, unit) = split(text);
    let value = decimal(number, text, example)?;
    let all = || names(units).collect::<Vec<_>>().join(", ");
    if unit.is_empty() {
        return Err(format!("`{text}` has no unit: write one of {} behind it, as in \"{example}\"", all()));
    }
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        let meant = match meant(unit).join(" or ") {
            none if none.is_empty() => none,
            some => format!("did you mean {some}? "),
        };
        return Err(format!("`{unit}` in `{text}` is no unit here: {meant}there are {}", all()));
    };
    // Rounds to the smallest unit; what is too large for it becomes the largest there is, which no profile allows.
    Ok((value * *scale as f64).round() as u64)
}

fn names(units: &'static [Unit]) -> impl Iterator<Item = &'static str> {
    units.iter().map(|(name, _)| *name)
}

fn meant_time(unit: &str) -> Vec<&'static str> {
    match unit {
        "µs" | "μs" | "usec" => vec!["us"],
        "msec" | "millis" => vec!["ms"],
        "sec" | "secs" | "second" | "seconds" => vec!["s"],
        _ => near::nearest(unit, names(&TIMES)).into_iter().collect(),
    }
}

/// Of thousands and 1024s both: tools disagree about which of them a K is.
fn meant_size(unit: &str) -> Vec<&'static str> {
    match unit {
        "K" | "k" | "KB" | "kb" => vec!["kB", "KiB"],
        "M" | "m" | "mb" => vec!["MB", "MiB"],
        "G" | "g" | "gb" => vec!["GB", "GiB"],
        _ => near::nearest(unit, names(&SIZES)).into_iter().collect(),
    }
}

/// Of bits and bytes both, unless the unit says which: a guess would be wrong by a factor of eight.
fn meant_rate(unit: &str) -> Vec<&'static str> {
    let prefix = unit.chars().next().unwrap_or_default().to_ascii_lowercase();
    let decimal = names(&RATES[..8]).filter(|name| name.to_ascii_lowercase().starts_with(prefix));
    let (bits, bytes) = (unit.contains("bit"), unit.contains('B'));
    let fits = |name: &&str| matches!(prefix, 'k' | 'm' | 'g') && if name.contains("bit") { !bytes } else { !bits };
    decimal.filter(fits).collect()
}

/// The number at the beginning, and the rest.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-'))).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

fn decimal(number: &str, text: &str, example: &str) -> Result<f64, String> {
    let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match number.parse::<f64>() {
        Ok(value) if plain && value.is_finite() => Ok(value),
        Ok(_) if number.starts_with('-') => Err(format!("`{text}` is negative: write a number from 0 on")),
        _ => Err(format!("`{text}` begins with no number: write one with its unit, as in \"{example}\"")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_size_counts_in_powers_of_1024() {
        for (text, bytes) in [("0", 0), ("4096", 4096), ("64K", 65_536), ("3M", 3 << 20), ("2GiB", 2 << 30), ("7B", 7)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "-1", "1.5M", "1KB", "1k", "99999999999G", "M64", "½M"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_percentage_is_a_share_of_a_hundred() {
        for (text, share) in [("5%", 0.05), ("5", 0.05), ("0%", 0.0), ("2.5 %", 0.025)] {
            assert_eq!(percentage(text), Ok(share), "{text}");
        }
        for text in ["", "%", "-5%", "NaN", "inf%", "1e400", "1001%", "five"] {
            assert!(percentage(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_duration_has_a_unit_and_is_more_than_zero() {
        for (text, ms) in [("200ms", 200), ("30s", 30_000), ("1m30s", 90_000), ("1.5s", 1500)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "5", "0s", "-1s", "abc", "1.5"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
    #[test]
    fn bits_and_bytes_and_the_powers_of_ten_and_two_are_told_apart() {
        let rates =
            [("256 kbit/s", 32_000), ("8 kB/s", 8_000), ("8KiB/s", 8_192), ("1.5 Mbit/s", 187_500), ("7 bit/s", 1)];
        for (text, bytes) in rates {
            assert_eq!(rate(text), Ok(bytes), "{text}");
        }
        for (text, size) in [("64 KiB", 65_536), ("64 kB", 64_000), ("0.5 KiB", 512), ("3B", 3)] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for (text, ns) in
            [("50 ms", 50_000_000), ("250us", 250_000), ("1.5 s", 1_500_000_000), ("2 min", 120_000_000_000)]
        {
            assert_eq!(time(text), Ok(Duration::from_nanos(ns)), "{text}");
        }
        assert_eq!((share("1 %"), share("0%"), share("100 %")), (Ok(0.01), Ok(0.0), Ok(1.0)));
    }

    #[test]
    fn a_slip_in_a_unit_is_refused_with_what_may_have_been_meant() {
        let mut said = Vec::new();
        said.extend(
            ["50", "50 msec", "50 µs", "-5 ms", "ms", "", "1e3 ms", "nan ms", "1.2.3 s"].map(|text| time(text).err()),
        );
        said.extend(
            ["12", "12 kbps", "12 Kb/s", "12 mb/s", "12 mbit/s", "12 KB/s", "12 foo"].map(|text| rate(text).err()),
        );
        said.extend(["64", "64 KB", "64 K", "-1 kB"].map(|text| bytes(text).err()));
        said.extend(["0.01", "101 %", "-1 %", "nan %", "%"].map(|text| share(text).err()));
        let said = said.into_iter().map(|said| said.unwrap_or_else(|| "(read)".to_owned()));
        insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(ns in 0u64..86_400_000_000_000, size: u32, rates in 0u64..1_000_000_000_000, part in 0.0..=1.0) {
            prop_assert_eq!(time(&time_text(Duration::from_nanos(ns))), Ok(Duration::from_nanos(ns)));
            prop_assert_eq!(bytes(&bytes_text(size.into())), Ok(size.into()));
            prop_assert_eq!(rate(&rate_text(rates)), Ok(rates));
            let text = share_text(part);
            let read = match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                Some(percents) => share(percents),
                None => text.parse().map_err(|_| text),
            };
            prop_assert_eq!(read, Ok(part));
        }

        #[test]
        fn no_text_breaks_the_reading_of_a_quantity(text in "[-+.0-9]{0,400} ?\\PC{0,6}") {
            _ = (time(&text), bytes(&text), rate(&text), share(&text));
        }
    }
}
