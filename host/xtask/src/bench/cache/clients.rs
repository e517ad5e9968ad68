//! The clients of the bench: the guest, and the native program that does the same.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::super::programs::{Programs, figure};
use super::servers;
use crate::command::stdout;

/// How the operations of a run are spread.
#[derive(Clone, Copy)]
pub struct Load {
    pub connections: u32,
    pub pipeline: u32,
    pub mode: Mode,
}

#[derive(Clone, Copy)]
pub enum Mode {
    Parallel,
    OneAtATime,
}

impl Mode {
    /// As both programs take it.
    const fn word(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::OneAtATime => "one-at-a-time",
        }
    }
}

/// What a run took, in nanoseconds: in all, and an operation.
pub struct Took {
    pub total: f64,
    pub p50: f64,
    pub p95: f64,
}

pub const READS: &str = "10000";
pub const WRITES: &str = "10000";
/// Bytes.
pub const VALUE: &str = "100";
pub const KEYS: &str = "1000";

pub fn native(programs: &Programs, address: &str, load: &Load) -> Result<Took> {
    let (connections, pipeline) = (load.connections.to_string(), load.pipeline.to_string());
    let arguments = ["cache", address, &connections, &pipeline, load.mode.word(), READS, WRITES, VALUE, KEYS];
    let said = stdout(&mut programs.native(&arguments))?;
    Ok(Took { total: figure(&said, "total_ns")?, p50: figure(&said, "p50_ns")?, p95: figure(&said, "p95_ns")? })
}

/// The guest, with more arguments if need be. What it took is in its report: from the first sample's start to the last
/// one's end.
pub fn guest(programs: &Programs, address: &str, load: &Load, more: &[&str]) -> Result<Took> {
    let mut command = programs.wrun();
    command.args(["--quiet", "--allow", "loopback", "--report", "-"]);
    let tls = more.contains(&"--tls");
    if tls {
        command.arg("--dir").arg(format!("{}::/trust:ro", servers::trust(programs).display()));
    }
    command.arg(programs.probe("cache-client")).args(["--", "--servers", address, "--no-delay", "--preload"]);
    command.args(["--connections", &load.connections.to_string(), "--pipeline", &load.pipeline.to_string()]);
    command.args(["--mode", load.mode.word(), "--reads", READS, "--writes", WRITES]);
    command.args(["--value-size", VALUE, "--keys", KEYS, "--seed", "1"]).args(more);
    if tls {
        command.args(["--ca", &format!("/trust/{}", servers::CERTIFICATE)]);
    }
    // What it says on stderr is for a failure: with its report on stdout, that is what the guest prints.
    let output = command.stdin(Stdio::null()).output().context("cannot start wrun")?;
    ensure!(output.status.success(), "cache-client failed: {}", String::from_utf8_lossy(&output.stderr));
    took(&serde_json::from_slice(&output.stdout).context("the report is no JSON")?)
}

fn took(report: &Value) -> Result<Took> {
    let samples = report["samples"].as_array().context("a report without samples")?;
    let operations = samples.iter().filter(|sample| sample["name"] == "get" || sample["name"] == "set");
    let mut times = Vec::new();
    let (mut first, mut last) = (f64::MAX, 0.0_f64);
    for sample in operations {
        let [start, duration] = [&sample["start_ns"], &sample["duration_ns"]].map(Value::as_f64);
        let (start, duration) = start.zip(duration).context("a sample without its times")?;
        ensure!(sample["error"].is_null(), "an operation went wrong: {}", sample["error"]);
        first = first.min(start);
        last = last.max(start + duration);
        times.push(duration);
    }
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().context("no operation was measured");
    Ok(Took { total: last - first, p50: at(50)?, p95: at(95)? })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_takes_from_its_first_operation_s_start_to_its_last_one_s_end() {
        let sample = |name, start, duration| json!({"name": name, "start_ns": start, "duration_ns": duration});
        let samples = json!([sample("preload", 0, 900), sample("set", 1000, 50), sample("get", 1010, 10)]);
        let took = took(&json!({ "samples": samples })).unwrap();
        assert_eq!((took.total, took.p50, took.p95), (50.0, 50.0, 50.0));
    }

    #[test]
    fn a_run_with_a_failed_operation_is_no_measurement() {
        let sample = json!({"name": "get", "start_ns": 0, "duration_ns": 1, "error": "timed out"});
        assert!(took(&json!({ "samples": [sample] })).is_err());
        assert!(took(&json!({ "samples": [] })).is_err());
    }
}
