//! Values of arguments: times, sizes and addresses, with errors that say what would have been right.
//!
//! The arguments themselves are taken apart with [`lexopt`](crate::lexopt), and these are for its `parse_with`:
//!
//! ```
//! use wrun_guest::args;
//! use wrun_guest::lexopt::ValueExt;
//! # let value = std::ffi::OsString::from("200ms");
//! let timeout = value.parse_with(args::duration)?;
//! # assert_eq!(timeout, std::time::Duration::from_millis(200));
//! # Ok::<(), wrun_guest::lexopt::Error>(())
//! ```

use std::net::SocketAddr;
use std::time::Duration;

/// A time with its unit: `200ms`, `30s`, `1.5s`, `2m`, `10us`, `1h`. Zero needs none.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no time: give a number and ns, us, ms, s, m or h, such as 200ms or 30s");
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "" if number == "0" => return Ok(Duration::ZERO),
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| format!("{text:?} is more time than can be counted"))
}

/// A size in bytes: `1500`, `64K`, `16M`, `1G`, in powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is no size: give bytes, or a number and K, M or G, such as 1500 or 64K");
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let factor: u64 = match unit {
        "" => 1,
        "K" | "k" => 1 << 10,
        "M" | "m" => 1 << 20,
        "G" | "g" => 1 << 30,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(factor).ok_or_else(|| format!("{text:?} is more bytes than can be counted"))
}

/// An address with its port: `127.0.0.1:7`, `[::1]:7`.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("{text:?} is no address: give digits and a port, such as 127.0.0.1:7 or [::1]:7"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_their_unit() {
        for (text, nanoseconds) in [
            ("0", 0),
            ("0s", 0),
            ("15ns", 15),
            ("10us", 10_000),
            ("200ms", 200_000_000),
            ("30s", 30_000_000_000),
            ("1.5s", 1_500_000_000),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000),
        ] {
            assert_eq!(duration(text).map(|time| time.as_nanos()), Ok(nanoseconds), "{text}");
        }
    }

    #[test]
    fn a_time_without_a_number_or_a_known_unit_is_refused_with_an_example() {
        for text in ["", "30", "s", "-1s", "1.2.3s", "30 s", "30sec", "inf", "NaNs"] {
            assert!(duration(text).is_err_and(|error| error.contains("200ms")), "{text}");
        }
        assert!(duration("99999999999999999999h").is_err());
    }

    #[test]
    fn sizes_are_in_powers_of_1024() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("1500"), Ok(1500));
        assert_eq!(size("64K"), Ok(65_536));
        assert_eq!(size("16m"), Ok(16 << 20));
        assert_eq!(size("1G"), Ok(1 << 30));
        for text in ["", "K", "64KB", "1.5K", "-1", "1 K"] {
            assert!(size(text).is_err_and(|error| error.contains("64K")), "{text}");
        }
        assert!(size("99999999999G").is_err());
    }

    #[test]
    fn an_address_needs_digits_and_a_port() {
        assert!(address("[::1]:7").is_ok());
        assert!(address("localhost:7").is_err());
        assert!(address("127.0.0.1").is_err());
    }
}
