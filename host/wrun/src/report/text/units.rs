//! Numbers in the units people use.

/// Three significant digits of a duration: `412 µs`, `1.02 ms`, `7.61 s`, `16.7 min`.
pub fn duration(nanoseconds: u64) -> String {
    const UNITS: [(f64, &str); 6] =
        [(1e3, "µs"), (1e6, "ms"), (1e9, "s"), (60e9, "min"), (3600e9, "h"), (86400e9, "d")];
    if nanoseconds < 1000 {
        return format!("{nanoseconds} ns");
    }
    let value = nanoseconds as f64;
    // The next unit begins where this one's figure would be rounded to four digits, or be more than people say.
    let fits = |(scale, unit): (f64, &str)| value / scale < if matches!(unit, "min" | "h") { 120.0 } else { 999.5 };
    let (scale, unit) = UNITS.into_iter().find(|unit| fits(*unit)).unwrap_or(UNITS[UNITS.len() - 1]);
    format!("{} {unit}", three_digits(value / scale))
}

/// Three significant digits of a size, in powers of a thousand: `180 B`, `1.21 kB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [(f64, &str); 6] = [(1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"), (1e15, "PB"), (1e18, "EB")];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let value = bytes as f64;
    let (scale, unit) = UNITS.into_iter().find(|(scale, _)| value / scale < 999.5).unwrap_or(UNITS[UNITS.len() - 1]);
    format!("{} {unit}", three_digits(value / scale))
}

/// A rate in bits, as links have it, and in bytes, as files have it: `1.00 Mbit/s (125 kB/s)`.
pub fn rate(bytes_a_second: u64) -> String {
    const UNITS: [(f64, &str); 6] =
        [(1e3, "kbit"), (1e6, "Mbit"), (1e9, "Gbit"), (1e12, "Tbit"), (1e15, "Pbit"), (1e18, "Ebit")];
    let bits = bytes_a_second as f64 * 8.0;
    let unit = UNITS.into_iter().find(|(scale, _)| bits / scale < 999.5).unwrap_or(UNITS[UNITS.len() - 1]);
    let bits =
        if bits < 1000.0 { format!("{bits} bit") } else { format!("{} {}", three_digits(bits / unit.0), unit.1) };
    format!("{bits}/s ({}/s)", bytes(bytes_a_second))
}

/// A share of all, from 0 to 1, in percent: `0.5 %`.
pub fn share(share: f64) -> String {
    // Three decimals are as fine as anybody sets one; no trailing zeros.
    format!("{} %", (share.clamp(0.0, 1.0) * 100_000.0).round() / 1000.0)
}

/// A count, its thousands apart: `1,234,567`; from a thousand million on, three digits of it: `1.84e19`.
pub fn count(count: u64) -> String {
    if count >= 1_000_000_000 {
        return format!("{:.2e}", count as f64);
    }
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn three_digits(value: f64) -> String {
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_share_is_in_percent_without_needless_digits() {
        assert_eq!([0.0, 0.01, 0.0005, 1.0, 1.0 / 3.0].map(share), ["0 %", "1 %", "0.05 %", "100 %", "33.333 %"]);
    }

    #[test]
    fn a_rate_is_told_in_bits_and_in_bytes() {
        let rates = [0, 124, 125, 97_500, 125_000, 124_940_000].map(rate);
        let told = [
            "0 bit/s (0 B/s)",
            "992 bit/s (124 B/s)",
            "1.00 kbit/s (125 B/s)",
            "780 kbit/s (97.5 kB/s)",
            "1.00 Mbit/s (125 kB/s)",
            "1.00 Gbit/s (125 MB/s)",
        ];
        assert_eq!(rates, told);
    }

    #[test]
    fn durations_have_three_digits_at_every_border() {
        let shown = [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (9_994, "9.99 µs"),
            (9_996, "10.0 µs"),
            (99_960, "100 µs"),
            (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (7_612_345_678, "7.61 s"),
            (100_000_000_000, "100 s"),
            (1_000_000_000_000, "16.7 min"),
            (86_400_000_000_000, "24.0 h"),
            (864_000_000_000_000, "10.0 d"),
        ];
        for (nanoseconds, text) in shown {
            assert_eq!(duration(nanoseconds), text, "{nanoseconds}");
        }
    }

    #[test]
    fn sizes_and_counts_are_grouped_in_thousands() {
        assert_eq!([bytes(999), bytes(1_210), bytes(999_600)], ["999 B", "1.21 kB", "1.00 MB"]);
        assert_eq!([count(0), count(999), count(1_000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([count(999_999_999), count(u64::MAX)], ["999,999,999", "1.84e19"]);
    }

    proptest! {
        #[test]
        fn no_duration_below_a_century_is_wider_than_its_column(nanoseconds in 0u64..3_000_000_000_000_000_000) {
            prop_assert!(duration(nanoseconds).chars().count() <= 8);
        }
    }
}
