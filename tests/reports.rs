//! The report: a promise to strangers, whole whatever happens, and nothing but JSON where it is asked for as such.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use wrun::report::Report;

use crate::support::{HttpPeer, guest, report, root, run, wrun};

#[test]
fn standard_output_is_pure_json_where_the_report_goes_there() {
    let finished = run(wrun().args(["--report", "-"]).arg(guest("env")).args(["--", "printed by the guest"]));
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(report["header"]["arguments"], serde_json::json!(["printed by the guest"]));
    assert!(finished.stderr.contains("printed by the guest"), "{}", finished.stderr);
}

#[test]
fn a_real_report_keeps_to_the_schema_and_reads_back_as_it_was() {
    let peer = HttpPeer::start(&[]);
    let reported = report(&["--allow", "loopback"], "socket-client", &[&peer.url, "--requests", "15"]);
    let schema = root().join("host/wrun/report.schema.json");
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    let schema = compiler.compile(schema.to_str().unwrap(), &mut schemas).unwrap();
    schemas.validate(&reported.report, schema).unwrap_or_else(|problem| panic!("{problem:#}"));
    let read: Report = serde_json::from_value(reported.report.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), reported.report);
    let sha256 = &reported.report["header"]["guest"]["sha256"];
    assert_eq!(sha256.as_str().unwrap().len(), 64);
}

#[test]
fn show_prints_what_the_run_printed() {
    let peer = HttpPeer::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let ran = run(wrun().args(["--allow", "loopback", "--report"]).arg(&path).arg(guest("socket-client")).args([
        "--",
        &peer.url,
        "--requests",
        "3",
    ]));
    let shown = run(wrun().arg("show").arg(&path));
    assert_eq!(shown.code, 0);
    assert_eq!(shown.stdout, ran.stderr);
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 80), "{}", shown.stdout);
    assert!(!shown.stdout.contains('\u{1b}'));
}

#[test]
fn a_report_that_cannot_be_written_is_said_before_the_guest_starts() {
    let folder = tempfile::tempdir().unwrap();
    for path in
        [folder.path().join("no/such/folder.json"), folder.path().to_owned(), PathBuf::from("/proc/nothing.json")]
    {
        let finished = run(wrun().arg("--report").arg(&path).arg(guest("env")).args(["--", "printed by the guest"]));
        assert_eq!(finished.code, 2, "{}: {}", path.display(), finished.stderr);
        assert!(!finished.stdout.contains("printed"), "the guest had started");
        assert!(finished.stderr.contains(&*path.to_string_lossy()), "{}", finished.stderr);
    }
}

#[test]
fn what_is_no_report_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    for (text, words) in [
        ("", "report"),
        ("not json", "report"),
        ("{}", "report"),
        (r#"{"schema": 99}"#, "newer"),
        (r#"{"schema": 1, "duration_ns": NaN}"#, "report"),
    ] {
        let path = folder.path().join("report.json");
        std::fs::write(&path, text).unwrap();
        let shown = run(wrun().arg("show").arg(&path));
        assert_eq!(shown.code, 2, "{text}: {}", shown.stdout);
        assert!(shown.stderr.contains(words), "{text}: {}", shown.stderr);
    }
}

/// What a guest or the name of its file may try on a terminal: blink, a new title, a cleared screen, a bell, and an
/// escape in one byte.
const HOSTILE: [&str; 5] = ["\u{1b}[5m", "\u{1b}]0;owned\u{7}", "\u{1b}[2J", "\u{7}", "\u{9b}5m"];

/// wrun, made to believe in a terminal. What it strips for a pipe it would strip whoever wrote it.
fn coloured() -> Command {
    let mut command = wrun();
    command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
    command
}

/// Claims that nothing hostile came through, and that nothing but colours and line breaks controls the terminal.
fn is_tame(what: &str, said: &str) {
    for hostile in HOSTILE {
        assert!(!said.contains(hostile), "{what}: {} in {}", hostile.escape_debug(), said.escape_debug());
    }
    for (at, control) in said.char_indices().filter(|(_, c)| c.is_control() && *c != '\n') {
        let colour = said[at..].strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m'));
        let colour = colour.is_some_and(|(codes, _)| codes.chars().all(|c| c.is_ascii_digit() || c == ';'));
        assert!(colour, "{what}: {} in {}", control.escape_debug(), said.escape_debug());
    }
}

#[test]
fn a_guest_s_words_cannot_reach_the_terminal_raw() {
    let words = format!("before {} after", HOSTILE.join("-"));
    let samples = |args: &[&str]| run(coloured().arg(guest("samples")).arg("--").args(args));
    let noted = samples(&["--note", &words, "request"]);
    let failed = samples(&["--failing", "--reason", &words, "request"]);
    for (what, finished) in [("a note", &noted), ("a reason", &failed)] {
        assert_eq!(finished.code, 0, "{}", finished.stderr);
        assert!(finished.stderr.contains("\u{1b}["), "nothing is coloured: {}", finished.stderr.escape_debug());
        assert!(finished.stderr.contains("before") && finished.stderr.contains("after"), "{}", finished.stderr);
        is_tame(what, &finished.stderr);
    }
    for name in HOSTILE {
        let refused = samples(&[name]);
        assert_eq!(refused.code, 134, "{}", refused.stderr);
        is_tame("a name", &refused.stderr);
    }
}

#[test]
fn a_guest_s_file_name_cannot_reach_the_terminal_raw() {
    for hostile in HOSTILE {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("before{hostile}after.wasm"));
        std::fs::copy(guest("nothing"), &path).unwrap();
        let ran = run(coloured().arg(&path));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("before"), "{}", ran.stderr);
        let checked = run(coloured().arg("check").arg(&path));
        assert_eq!(checked.code, 0, "{}", checked.stdout);
        assert!(checked.stdout.contains("before"), "{}", checked.stdout);
        std::fs::write(&path, "no guest").unwrap();
        let refused = run(coloured().arg(&path));
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        for (what, said) in [("run", ran.stderr), ("check", checked.stdout), ("refusal", refused.stderr)] {
            is_tame(what, &said);
        }
    }
}

#[test]
fn samples_counters_and_notes_are_what_the_guest_said() {
    let reported = report(&[], "samples", &["--count", "7", "--unfinished", "--note", "hello", "request"]);
    let samples = reported.report["samples"].as_array().unwrap();
    assert_eq!(samples.iter().filter(|sample| sample["finished"] == true).count(), 7);
    assert_eq!(samples.iter().filter(|sample| sample["finished"] == false).count(), 1);
    assert_eq!(reported.report["notes"], serde_json::json!(["hello"]));
    assert_eq!(reported.report["statistics"][0]["unfinished"], 1);
}

#[test]
fn every_socket_call_is_traced_with_its_duration() {
    let peer = HttpPeer::start(&[]);
    let traced = run(wrun().args(["--allow", "loopback", "--trace", "-q"]).arg(guest("socket-client")).args([
        "--",
        &peer.url,
        "--requests",
        "1",
    ]));
    for call in ["#1 connect 127.0.0.1:", "#1 send = ", "#1 receive = "] {
        let line = traced.stderr.lines().find(|line| line.contains(call) && line.ends_with('>'));
        assert!(line.is_some(), "{call} is not in:\n{}", traced.stderr);
    }
}

#[test]
fn over_a_million_samples_are_kept_as_a_histogram_and_the_report_says_so() {
    let reported = report(&["--max-memory", "64M"], "samples", &["--million", "request"]);
    assert_eq!(reported.code, 0, "{}", reported.stderr);
    assert_eq!(reported.report["histograms"].as_array().unwrap().len(), 1);
    assert!(reported.report["statistics"][0]["n"].as_u64().unwrap() > 1_000_000);
    assert!(reported.stderr.contains("histogram"), "{}", reported.stderr);
}

#[test]
fn a_sample_that_was_due_before_it_began_has_its_wait_in_its_time_but_none_from_before_the_run() {
    let late = |ago: &str| {
        let reported = report(&[], "samples", &["--count", "0", "--late", ago, "request"]);
        assert_eq!(reported.code, 0, "{}", reported.stderr);
        let duration = reported.report["duration_ns"].as_u64().unwrap();
        (reported.report["samples"][0].clone(), duration)
    };
    let (sample, run) = late("1us");
    let phase = |name: &str| {
        let phases = sample["phases"].as_array().unwrap();
        phases.iter().find(|phase| phase["name"] == name).unwrap()["duration_ns"].as_u64().unwrap()
    };
    assert_eq!(phase("waiting") + phase("work"), sample["duration_ns"].as_u64().unwrap(), "{sample}");
    assert!(phase("waiting") >= 1000 && sample["start_ns"].as_u64().unwrap() > 0, "{sample} in a run of {run}");
    let (sample, run) = late("1000h");
    assert_eq!(sample["start_ns"], 0);
    assert!(sample["duration_ns"].as_u64().unwrap() <= run, "{sample} in a run of {run}");
}
