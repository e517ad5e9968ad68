//! The lines of the throttled backend and of comparing: how far what it does is from what it was told to do.
//!
//! Each stands by itself: an error against what was set, not a ratio. An error of several cases is that of the worst.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};

use super::figures::{Figures, Limit, Unit};
use super::lines::Line;
use super::programs::{Programs, figure};
use super::rounds::{Spread, rounds};
use crate::command::{run as execute, stdout};

/// How far apart 99 % of what is drawn lies from its mean, in standard deviations of a normal distribution.
const OF_99_PERCENT: f64 = 2.576;

const MS: f64 = 1e6;

pub const LINES: &[Line] = &[
    Line {
        name: "empty-profile",
        what: "an empty profile against the sockets inside it, TCP echo, p50",
        unit: Unit::Microseconds,
        limit: Limit::Ratio(1.05),
        measure: empty,
    },
    Line {
        name: "delay",
        what: "50 ms of delay, error of the median",
        unit: Unit::Microseconds,
        limit: within(0.3 * MS),
        measure: |programs| delayed(programs, "[up]\ndelay = \"50 ms\"\n", "p50_ns", 50.0 * MS),
    },
    Line {
        name: "delay-p99",
        what: "50 ms of delay, error of the 99th percentile",
        unit: Unit::Microseconds,
        limit: within(1.5 * MS),
        measure: |programs| delayed(programs, "[up]\ndelay = \"50 ms\"\n", "p99_ns", 50.0 * MS),
    },
    Line {
        name: "two-stages",
        what: "two stages of 50 ms, one around the other, error of the median",
        unit: Unit::Microseconds,
        limit: within(MS),
        measure: stages,
    },
    Line {
        name: "both-ways",
        what: "50 ms there and 50 ms back, error of the median",
        unit: Unit::Microseconds,
        limit: within(MS),
        measure: |programs| delayed(programs, "[both]\ndelay = \"50 ms\"\n", "p50_ns", 100.0 * MS),
    },
    Line {
        name: "short-delay",
        what: "250 us of delay, what a round trip takes",
        unit: Unit::Microseconds,
        limit: within(0.6 * MS),
        measure: |programs| delayed(programs, "[up]\ndelay = \"250 us\"\n", "p50_ns", 0.0),
    },
    Line {
        name: "rate",
        what: "8 kB/s to 100 MB/s, small writes and large, error over 2 s",
        unit: Unit::Percent,
        limit: within(0.02),
        measure: |programs| rate(programs, RATES, 1),
    },
    Line {
        name: "first-second",
        what: "the same, what passes in the first second above the rate and a burst",
        unit: Unit::Percent,
        limit: within(0.0),
        measure: first_second,
    },
    Line {
        name: "shared-rate",
        what: "1 MB/s shared by six sockets, error of all together",
        unit: Unit::Percent,
        limit: within(0.02),
        measure: |programs| rate(programs, &[1_000_000], 6),
    },
    Line {
        name: "many-datagrams",
        what: "10,000 datagrams sent at once, at 100 ms of delay: the longest, received on another core",
        unit: Unit::Milliseconds,
        limit: within(105.0 * MS),
        measure: datagrams,
    },
    Line {
        name: "loss",
        what: "100,000 datagrams, 2 % lost, distance from that",
        unit: Unit::Deviations,
        limit: within(OF_99_PERCENT),
        measure: |programs| counted(programs, "[up]\nloss = \"2 %\"\n", "lost", 0.02),
    },
    Line {
        name: "duplication",
        what: "100,000 datagrams, 2 % doubled, distance from that",
        unit: Unit::Deviations,
        limit: within(OF_99_PERCENT),
        measure: |programs| counted(programs, "[up]\nduplicate = \"2 %\"\n", "doubled", 0.02),
    },
    Line {
        name: "bursts",
        what: "100,000 datagrams, bursts of 5 lost on average, distance from that",
        unit: Unit::Deviations,
        limit: within(OF_99_PERCENT),
        measure: bursts,
    },
    Line {
        name: "compare",
        what: "comparing two reports of 100,000 samples, time",
        unit: Unit::Milliseconds,
        limit: within(1000.0 * MS),
        measure: |programs| comparing(programs, |(time, _)| time),
    },
    Line {
        name: "compare-memory",
        what: "the same, most memory that was resident",
        unit: Unit::Megabytes,
        limit: within(200e6),
        measure: |programs| comparing(programs, |(_, memory)| memory),
    },
];

/// Bytes a second.
const RATES: &[u64] = &[8_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
/// Bytes of a large write.
const LARGE: u64 = 65_536;

/// Bytes of a small write: a hundred, and at the high rates ten microseconds' worth, since no program, native or not,
/// writes more than some hundred thousand times a second.
fn small(rate: u64) -> u64 {
    (rate / 100_000).max(100)
}

/// Bytes that may pass at once: a millisecond's worth, but at least a segment, and at most 64 KiB.
fn burst(rate: u64) -> u64 {
    (rate / 1000).clamp(1448, 64 << 10)
}

const ROUNDS: usize = 3;
const CLOSE_ROUNDS: usize = 21;
const DATAGRAMS: u32 = 100_000;

const fn within(most: f64) -> Limit {
    Limit::AtMost { most, below_stock: false }
}

fn alone(figures: Vec<f64>) -> Figures {
    Figures { guest: figures, native: Vec::new(), stock: Vec::new() }
}

fn empty(programs: &Programs) -> Result<Figures> {
    let (_server, address) = programs.server(&["echo-server", "tcp"])?;
    let arguments = ["tcp", &address, "10000"];
    let mut inner = || figure(&stdout(&mut programs.guest("echo", &arguments))?, "p50_ns");
    let mut empty = || figure(&stdout(&mut programs.impaired("none", "echo", &arguments)?)?, "p50_ns");
    let [native, guest] = rounds(CLOSE_ROUNDS, [&mut inner, &mut empty])?;
    Ok(Figures { guest, native, stock: Vec::new() })
}

/// How far a round trip is from that of the plain sockets and `expected` nanoseconds.
fn delayed(programs: &Programs, profile: &str, said: &str, expected: f64) -> Result<Figures> {
    let (_server, address) = programs.server(&["echo-server", "tcp"])?;
    let plain = figure(&stdout(&mut programs.guest("echo", &["tcp", &address, "1000"]))?, "p50_ns")?;
    let mut run = || {
        let impaired = figure(&stdout(&mut programs.impaired(profile, "echo", &["tcp", &address, "200"])?)?, said)?;
        Ok(if expected > 0.0 { (impaired - plain - expected).abs() } else { impaired })
    };
    let [figures] = rounds(ROUNDS, [&mut run])?;
    Ok(alone(figures))
}

/// The worst error of any of the rates.
fn rate(programs: &Programs, rates: &[u64], sockets: u64) -> Result<Figures> {
    let (_server, address) = programs.server(&["sink"])?;
    let mut worst: f64 = 0.0;
    for rate in rates {
        for piece in [small(*rate), LARGE] {
            let bytes = 2 * rate;
            let profile = format!("[up]\nrate = \"{rate} B/s\"\n");
            let [bytes_text, piece, sockets] = [bytes, piece, sockets].map(|number| number.to_string());
            let arguments = [address.as_str(), &bytes_text, &piece, &sockets];
            let total = figure(&stdout(&mut programs.impaired(&profile, "rate", &arguments)?)?, "total_ns")?;
            let achieved = bytes as f64 / total * 1e9;
            let error = (achieved / *rate as f64 - 1.0).abs();
            if error > 0.02 {
                println!("    {rate} B/s in writes of {piece}: {achieved:.0} B/s");
            }
            worst = worst.max(error);
        }
    }
    Ok(alone(vec![worst]))
}

/// The most that passed in a first second beyond the rate and a burst, as a share of the rate.
fn first_second(programs: &Programs) -> Result<Figures> {
    let (mut server, address) = programs.server(&["meter"])?;
    let mut worst: f64 = 0.0;
    for rate in RATES {
        let profile = format!("[up]\nrate = \"{rate} B/s\"\n");
        // More than may pass, at every rate.
        let bytes = (2 * rate + burst(*rate)).to_string();
        execute(programs.impaired(&profile, "bulk", &[&address, &bytes])?.stdout(Stdio::null()))?;
        let passed = figure(&server.line()?, "first_second")?;
        worst = worst.max((passed - (rate + burst(*rate)) as f64) / *rate as f64);
    }
    Ok(alone(vec![worst.max(0.0)]))
}

/// How far a round trip through two stages is from that of the plain sockets and 100 ms.
fn stages(programs: &Programs) -> Result<Figures> {
    let (_server, address) = programs.server(&["echo-server", "tcp"])?;
    let mut run = || {
        let said = stdout(&mut programs.stages(&[&address, "50", "100"]))?;
        Ok((figure(&said, "stages_ns")? - figure(&said, "plain_ns")? - 100.0 * MS).abs())
    };
    let [figures] = rounds(ROUNDS, [&mut run])?;
    Ok(alone(figures))
}

fn datagrams(programs: &Programs) -> Result<Figures> {
    let (_server, addresses) = programs.on_other_core(|| programs.server(&["stopwatch"]))?;
    let (datagrams, control) = addresses.split_once(' ').context("the stopwatch said no two addresses")?;
    let profile = only_datagrams("[up]\ndelay = \"100 ms\"\n");
    let mut run = || {
        let said = stdout(&mut programs.impaired(&profile, "salvo", &[datagrams, control, "10000"])?)?;
        let lost = figure(&said, "lost")?;
        ensure!(lost == 0.0, "{lost} of the datagrams never came: the receiving socket had no room for them");
        figure(&said, "max_ns")
    };
    let [figures] = rounds(ROUNDS, [&mut run])?;
    Ok(alone(figures))
}

/// A profile for UDP alone: the control connections of the servers are TCP.
fn only_datagrams(profile: &str) -> String {
    let effects = profile.replace("[up]", "[rule.up]");
    format!("[[rule]]\nname = \"datagrams\"\nmatch = {{ protocol = \"udp\" }}\n{effects}")
}

/// What a counting server said of numbered datagrams.
struct Counts {
    lost: f64,
    doubled: f64,
    gaps: f64,
}

fn count(programs: &Programs, profile: &str) -> Result<Counts> {
    let (_server, addresses) = programs.server(&["counter"])?;
    let (datagrams, control) = addresses.split_once(' ').context("the counter said no two addresses")?;
    let total = DATAGRAMS.to_string();
    let said = stdout(&mut programs.impaired(&only_datagrams(profile), "numbered", &[datagrams, control, &total])?)?;
    let received = figure(&said, "count")? - figure(&said, "lost")?;
    Ok(Counts {
        lost: f64::from(DATAGRAMS) - received,
        doubled: figure(&said, "doubled")?,
        gaps: figure(&said, "gaps")?,
    })
}

/// How far a count is from a share of all, in its standard deviations.
fn counted(programs: &Programs, profile: &str, what: &str, share: f64) -> Result<Figures> {
    let counts = count(programs, profile)?;
    let counted = if what == "lost" { counts.lost } else { counts.doubled };
    let all = f64::from(DATAGRAMS);
    Ok(alone(vec![(counted - all * share).abs() / (all * share * (1.0 - share)).sqrt()]))
}

/// How far the mean length of bursts is from 5, in its standard deviations: lengths are geometric.
fn bursts(programs: &Programs) -> Result<Figures> {
    let profile = "[up]\nloss = { good-to-bad = 0.005, bad-to-good = 0.2, loss-in-good = 0, loss-in-bad = 1 }\n";
    let counts = count(programs, profile)?;
    ensure!(counts.gaps > 0.0, "nothing was lost");
    let (mean, deviation) = (5.0, (0.8f64).sqrt() / 0.2);
    Ok(alone(vec![(counts.lost / counts.gaps - mean).abs() / (deviation / counts.gaps.sqrt())]))
}

fn comparing(programs: &Programs, take: fn((f64, f64)) -> f64) -> Result<Figures> {
    let reports = ["base", "other"].map(|name| programs.scratch().join(format!("{name}.json")));
    std::fs::create_dir_all(programs.scratch())?;
    for report in &reports {
        let mut command = programs.wrun();
        command.args(["--quiet", "--report"]).arg(report).arg(programs.probe("samples"));
        execute(command.args(["--", "--count", "100000", "call"]).stdout(Stdio::null()))?;
    }
    let mut command = programs.wrun();
    command.arg("compare").args(&reports).args(["--format", "json"]);
    let mut run = || programs.whole(&command).map(take);
    let [figures] = rounds(ROUNDS, [&mut run])?;
    ensure!(Spread::of(&figures).is_some(), "nothing was compared");
    Ok(alone(figures))
}
