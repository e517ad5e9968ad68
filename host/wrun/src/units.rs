//! Durations and sizes as people write them on a command line.

use std::time::Duration;

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

#[cfg(test)]
mod tests {
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
}
