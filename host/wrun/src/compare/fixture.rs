//! Reports made for the tests: the story, plain runs, and what each shape looks like.

use super::Run;
use super::math::random::Random;
use crate::report::Report;
use crate::report::data::Sample;
use crate::report::fixture::{header, sample, story};

pub const MS: u64 = 1_000;

/// A run of requests, each with these phases in microseconds. It has no sockets and no lookups.
pub fn run(label: &str, requests: impl IntoIterator<Item = Vec<(&'static str, u64)>>) -> Run {
    let samples = requests.into_iter().zip(0..).map(|(phases, at)| sample("request", at * 10_000, &phases, None));
    of_samples(label, samples.collect())
}

pub fn of_samples(label: &str, samples: Vec<Sample>) -> Run {
    let mut report = story();
    report.header = header();
    report.samples = samples;
    report.statistics.clear();
    report.connections.clear();
    report.lookups.clear();
    report.warnings.clear();
    Run { label: label.to_owned(), report }
}

/// The baseline of the story: fifteen requests of under 200 ms.
pub fn emulator(n: usize) -> Run {
    let mut random = Random::new(1);
    run("native", (0..n).map(|_| request(150 * MS + jitter(&mut random, 40 * MS))))
}

/// The same client where half of the answers stall.
pub fn board(n: usize, seed: u64) -> Run {
    let mut random = Random::new(seed);
    let wait = |random: &mut Random| match random.uniform() {
        ..0.5 => 200 * MS + jitter(random, 700 * MS),
        _ => 1000 * MS + jitter(random, 7000 * MS),
    };
    let mut run = run("throttled netmf3-board", (0..n).map(|_| request(wait(&mut random))));
    run.report.header.backend.name = "throttled".to_owned();
    run.report.header.seed = Some(seed);
    run.report.header.backend.settings.insert("profile".to_owned(), "netmf3-board".to_owned());
    run
}

/// A request that waits so long.
pub fn request(wait: u64) -> Vec<(&'static str, u64)> {
    vec![("connect", 90), ("send", 26), ("wait", wait), ("receive", 40), ("close", 51)]
}

/// Up to so many microseconds.
pub fn jitter(random: &mut Random, most: u64) -> u64 {
    (random.uniform() * most as f64) as u64
}

/// A report as a file of a run that was killed would give it.
pub fn killed(mut report: Report) -> Report {
    report.complete = false;
    report.outcome.words = "wrun was killed before the run was over, or it still goes on".to_owned();
    report
}
