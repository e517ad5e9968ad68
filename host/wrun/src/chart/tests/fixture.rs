//! Runs with fixed data.

use super::super::Run;
use crate::report::Report;
use crate::report::data::Sample;
use crate::report::fixture::{of, sample};

pub fn run<'a>(label: &'a str, report: &'a Report) -> Run<'a> {
    Run { label, report }
}

/// The same numbers every time, evenly spread below `below`.
pub fn spread(seed: u64, below: u64) -> u64 {
    // The finaliser of SplitMix64: neighbours have nothing in common.
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) % below
}

/// A request that waits for so many microseconds.
pub fn request(number: u64, wait_us: u64, error: Option<&str>) -> Sample {
    let phases = [("connect", 92 + spread(number, 20)), ("send", 26), ("wait", wait_us), ("receive", 5), ("close", 51)];
    sample("request", number * 8000, &phases, error)
}

/// Flat in milliseconds.
pub fn native() -> Report {
    of((0..15).map(|number| request(number, 900 + spread(number, 500), None)).collect())
}

/// Half under a second, half up to eight.
pub fn board() -> Report {
    let wait = |number| match spread(number + 100, 15) {
        0..7 => 200_000 + spread(number + 200, 700_000),
        _ => 3_000_000 + spread(number + 200, 5_000_000),
    };
    of((0..15).map(|number| request(number, wait(number), None)).collect())
}

/// The board on a bad day: some fail, one never ends.
pub fn failing() -> Report {
    let samples = (0..15).map(|number| {
        let mut sample = request(number, 150_000 + 9_000 * number, (number % 5 == 3).then_some("connection refused"));
        sample.finished = number != 14;
        sample
    });
    of(samples.collect())
}

/// Two modes, and one sample in all that is far from both.
pub fn crowd() -> Report {
    let wait = |number| match number {
        61_803 => 9_000_000,
        _ if spread(number, 3) == 0 => 90_000 + spread(number + 7, 40_000),
        _ => 300 + spread(number + 7, 300),
    };
    of((0..100_000).map(|number| request(number, wait(number), None)).collect())
}
