//! The report: a promise to strangers, whole whatever happens, and nothing but JSON where it is asked for as such.

use std::path::PathBuf;

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

#[test]
fn a_guest_s_words_cannot_reach_the_terminal_raw() {
    let finished = run(wrun().arg(guest("samples")).args([
        "--",
        "--note",
        "\u{1b}[31mred\u{7}",
        "--failing",
        "--reason",
        "a\u{1b}]0;b",
        "request",
    ]));
    assert!(!finished.stderr.contains(['\u{1b}', '\u{7}']), "{:?}", finished.stderr);
    assert!(finished.stderr.contains("red"), "{}", finished.stderr);
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
