//! Reports with fixed data, for the tests of everything that shows or reads one.

use super::connections::{Connection, End, Lookup, Role};
use super::data::{
    Backend, Build, Calibration, Capabilities, Denial, Family, Guest, Header, Machine, Outcome, Phase, Profile, Report,
    Sample,
};
use super::histogram::{Histogram, PhaseBuckets, Tally};
use super::parts::Parts;
use super::throttle::{Achieved, Configured, PathFigures, Quirk, Throttle, Way};
use super::words::Words;
use crate::warning::Warning;

pub(crate) fn header() -> Header {
    Header {
        wrun: Build { version: "0.1.0".to_owned(), profile: Profile::Release },
        guest: Guest { name: "socket-client.wasm".to_owned(), sha256: "9f".repeat(32), bytes: 412_345 },
        arguments: ["http://localhost:8080/", "--requests", "15"].map(str::to_owned).into(),
        backend: Backend {
            name: "native".to_owned(),
            settings: [("no-delay".to_owned(), "false".to_owned())].into(),
            capabilities: Capabilities {
                ipv6: true,
                multicast: true,
                broadcast: true,
                options: vec!["linger".to_owned(), "no-delay".to_owned()],
            },
        },
        allowed: vec!["loopback".to_owned()],
        seed: None,
        machine: Machine {
            os: "linux".to_owned(),
            kernel: "6.1.0".to_owned(),
            arch: "x86_64".to_owned(),
            cores: 2,
            pinned: Some(vec![1]),
        },
        start: "2026-11-30T13:51:20Z".to_owned(),
    }
}

pub(crate) fn ended_well() -> Outcome {
    let words = "the guest ended well".to_owned();
    Outcome { family: Family::Ok, code: Some(0), words, backtrace: Vec::new() }
}

pub(crate) fn sample(name: &str, start_ms: u64, phases_us: &[(&str, u64)], error: Option<&str>) -> Sample {
    let phases = phases_us.iter().map(|(name, us)| Phase { name: (*name).into(), duration_ns: us * 1000 + 123 });
    let phases: Vec<Phase> = phases.collect();
    Sample {
        name: name.into(),
        start_ns: start_ms * 1_000_000,
        duration_ns: phases.iter().map(|phase| phase.duration_ns).sum::<u64>() + 2_500,
        phases,
        error: error.map(Words::from),
        finished: true,
    }
}

/// A report of these samples and nothing else.
pub(crate) fn of(samples: Vec<Sample>) -> Report {
    let mut parts = Parts::new(header());
    parts.samples = samples;
    parts.report(ended_well(), 1_000_000_000)
}

/// The story that wrun exists for: fifteen requests of which some stall, one fails and one never ends.
pub(crate) fn story() -> Report {
    let mut parts = Parts::new(header());
    for number in 0..15u64 {
        let stall = if number % 4 == 2 { 7_600_000 + number * 1_000 } else { 180_000 + number * 700 };
        let phases = [("resolve", 12), ("connect", 112 + number), ("send", 9), ("wait", stall), ("receive", 41)];
        let mut sample = match number {
            5 => sample("get", number * 8000, &phases[..2], Some("connection refused by the peer at 127.0.0.1:8080")),
            _ => sample("get", number * 8000, &phases, None),
        };
        sample.finished = number != 14;
        parts.samples.push(sample);
        parts.connections.push(connection(number + 1, number == 5));
    }
    parts.lookups.push(Lookup {
        name: "localhost".to_owned(),
        start_ns: 1_000,
        duration_ns: 81_400,
        addresses: vec!["127.0.0.1".to_owned(), "::1".to_owned()],
        error: None,
    });
    parts.denials.push(Denial { rule: "udp://10.0.0.1:53".to_owned(), count: 3 });
    parts.counters.insert("retries".to_owned(), 1_234);
    parts.notes.push("the server answered with HTTP/1.0".to_owned());
    parts.calibration = Some(Calibration { crossing_ns: 171, metering_ns: 58, rounds: 5_000 });
    parts.late_warnings.push(Warning::Announced { announced: 16, made: 15 });
    parts.report(ended_well(), 113_207_000_000)
}

fn connection(id: u64, refused: bool) -> Connection {
    let opened = id * 1_000_000_000;
    let reached = |after: u64| (!refused).then_some(opened + after);
    Connection {
        id,
        role: Role::Client,
        local: Some(format!("127.0.0.1:{}", 40_000 + id)),
        remote: Some("127.0.0.1:8080".to_owned()),
        opened_ns: opened,
        connect_start_ns: Some(opened + 1_000),
        connect_end_ns: Some(opened + 113_000),
        first_sent_ns: reached(122_000),
        last_sent_ns: reached(122_000),
        first_received_ns: reached(180_122_000 + id * 31),
        last_received_ns: reached(180_163_000),
        ended_ns: Some(opened + 180_200_000),
        close_took_ns: None,
        sent_bytes: if refused { 0 } else { 96 },
        received_bytes: if refused { 0 } else { 1_342 },
        sends: u64::from(!refused),
        receives: 2 * u64::from(!refused),
        accepts: 0,
        send_would_blocks: 0,
        receive_would_blocks: 1,
        end: if refused { End::Failed } else { End::PeerClosed },
        error: refused.then(|| "connection refused".to_owned()),
    }
}

/// A report of many samples of two names, one of them counted only.
pub(crate) fn many() -> Report {
    let mut parts = Parts::new(header());
    for number in 0..200u64 {
        // Spread by a multiplier, so that neighbours differ.
        let us = 20 + (number * 7_919) % 61;
        parts.samples.push(sample("echo", number, &[("send", 3), ("receive", us)], None));
    }
    let (mut times, mut receive) = (Tally::new(), Tally::new());
    for number in 0..50_000u64 {
        let ns = 14_000 + (number * 7_919) % 9_000 + if number % 1000 == 0 { 4_000_000 } else { 0 };
        times.add(ns);
        receive.add(ns / 2);
    }
    parts.histograms.push(Histogram {
        name: "bulk".into(),
        errors: 0,
        unfinished: 0,
        reasons: Vec::new(),
        times: times.buckets(),
        phases: vec![PhaseBuckets { name: "receive".into(), times: receive.buckets() }],
    });
    parts.late_warnings.push(Warning::HistogramKept { name: "bulk".to_owned(), kept: 1_000_000 });
    parts.report(ended_well(), 2_000_000_000)
}

/// The same run on impaired sockets, twice in a row.
pub(super) fn impaired() -> Report {
    let mut report = story();
    report.header.backend.name = "native+throttled".to_owned();
    report.header.backend.settings.insert("profile".to_owned(), "3g-lossy".to_owned());
    report.header.seed = Some(42);
    let configured = Configured {
        lasts_ns: None,
        delay_ns: 100_000_000,
        jitter_ns: 10_000_000,
        rate_bytes: Some(97_500),
        loss: 0.01,
        duplicate: 0.0,
        reorder: 0.0,
        offline: false,
    };
    let achieved = Achieved {
        count: 1_500,
        bytes: 1_210_000,
        lost: 14,
        overflowed: 3,
        duplicated: 0,
        reordered: 0,
        median_delay_ns: Some(100_120_000),
        p99_delay_ns: Some(121_000_000),
        median_late_ns: Some(71_000),
        p99_late_ns: Some(260_000),
        rate_bytes: Some(97_411),
    };
    let bad = Configured { offline: true, lasts_ns: Some(3_000_000_000), ..configured.clone() };
    let path = |way, configured| PathFigures { rule: "all".to_owned(), way, configured, achieved: achieved.clone() };
    report.throttle = Some(Throttle {
        profile: "[stall]\nanswer = [{ from = \"200 ms\", to = \"0.9 s\" }, { from = \"3 s\", to = \"3 s\" }]\n\
                  send = [{ from = \"1 s\", to = \"8 s\" }]\n"
            .to_owned(),
        paths: vec![path(Way::Up, vec![configured.clone()]), path(Way::Down, vec![configured, bad])],
        quirks: vec![Quirk { name: "answer-stalls".to_owned(), count: 15, total_ns: Some(41_200_000_000) }],
    });
    report.clone().followed_by(report)
}

/// A report in which everything that a stranger may name is hostile, and every number the largest.
pub(crate) fn hostile() -> Report {
    let evil = "\u{1b}[31m\r\nevil\u{202e}名前名前名前名前名前名前名前名前名前名前名前名前名前 and so on, and so on, and so on";
    let mut report = story();
    let most = u64::MAX;
    report.header.guest.name = evil.to_owned();
    report.header.arguments = vec![evil.to_owned(); 3];
    report.header.backend.settings.insert(evil.to_owned(), evil.to_owned());
    report.header.start = evil.to_owned();
    report.duration_ns = most;
    report.complete = false;
    report.outcome.words = evil.to_owned();
    report.outcome.backtrace = vec![evil.to_owned(); 2];
    for sample in &mut report.samples {
        (sample.start_ns, sample.duration_ns) = (most, most);
        sample.error = Some(evil.into());
        sample.phases[0].duration_ns = most;
    }
    for name in &mut report.statistics {
        (name.n, name.errors, name.unfinished) = (most, most, most);
        name.phases.iter_mut().for_each(|phase| phase.name = evil.into());
    }
    for socket in &mut report.connections {
        socket.remote = Some(evil.to_owned());
        (socket.connect_end_ns, socket.first_received_ns, socket.ended_ns) = (Some(0), Some(0), Some(most));
        (socket.sent_bytes, socket.received_bytes, socket.sends, socket.receives) = (most, most, most, most);
        socket.error = Some(evil.to_owned());
    }
    report.lookups[0].name = evil.to_owned();
    report.lookups[0].addresses = vec![evil.to_owned(); 4];
    report.denials = vec![Denial { rule: evil.to_owned(), count: most }; 21];
    report.counters.insert(evil.to_owned(), most);
    report.notes = vec![evil.to_owned(); 2];
    report.warnings[0].words = evil.to_owned();
    report.calibration = Some(Calibration { crossing_ns: most, metering_ns: most, rounds: most });
    report.omitted.connections = most;
    report.rounds = most;
    report.throttle = impaired().throttle;
    for path in report.throttle.iter_mut().flat_map(|throttle| &mut throttle.paths) {
        path.rule = evil.to_owned();
        path.configured.iter_mut().for_each(|set| (set.delay_ns, set.rate_bytes, set.loss) = (most, Some(most), 1e300));
        (path.achieved.count, path.achieved.lost, path.achieved.p99_late_ns) = (most, most, Some(most));
    }
    for quirk in report.throttle.iter_mut().flat_map(|throttle| &mut throttle.quirks) {
        (quirk.name, quirk.count, quirk.total_ns) = (evil.to_owned(), most, Some(most));
    }
    report
}
