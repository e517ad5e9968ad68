//! `wrun compare` on the files of reports: what it prints, in each form, and the code it ends with.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Finished, HttpPeer, guest, root, run, unwrapped, wrun};

/// A folder with reports in it.
struct Reports(tempfile::TempDir);

impl Reports {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A report of requests to a peer that takes so long to answer.
    fn measured(&self, name: &str, peer: &[&str], requests: &str) -> PathBuf {
        let peer = HttpPeer::start(peer);
        let path = self.path(name);
        let ran = run(wrun()
            .args(["--allow", "loopback", "-q", "--report"])
            .arg(&path)
            .arg(guest("socket-client"))
            .args(["--", &peer.url, "--requests", requests]));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        path
    }

    /// A report with one sample of each duration, as if it were measured on a backend of that name.
    fn made(&self, backend: &str, durations_ms: &[u64]) -> PathBuf {
        self.changed(backend, durations_ms, |_| {})
    }

    fn changed(&self, backend: &str, durations_ms: &[u64], change: impl Fn(&mut Value)) -> PathBuf {
        let path = self.path(&format!("{backend}.json"));
        let ran = run(wrun().args(["-q", "--report"]).arg(&path).arg(guest("nothing")));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let mut report: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        report["header"]["backend"]["name"] = backend.into();
        let sample = |(at, ms): (usize, &u64)| {
            let ns = ms * 1_000_000 + at as u64;
            json!({
                "name": "request", "start_ns": at, "duration_ns": ns, "error": null, "finished": true,
                "phases": [{ "name": "wait", "duration_ns": ns }],
            })
        };
        report["samples"] = durations_ms.iter().enumerate().map(sample).collect();
        change(&mut report);
        std::fs::write(&path, report.to_string()).unwrap();
        path
    }
}

fn compare(options: &[&str], reports: &[&Path]) -> Finished {
    run(wrun().arg("compare").args(options).args(reports))
}

#[test]
fn two_real_runs_are_compared_and_the_slow_phase_is_named() {
    let reports = Reports::new();
    let (fast, slow) =
        (reports.measured("fast.json", &[], "15"), reports.measured("slow.json", &["--delay", "60ms"], "15"));
    let compared = compare(&[], &[&fast, &slow]);
    assert_eq!(compared.code, 0, "{}", compared.stdout);
    let said = unwrapped(&compared.stdout);
    // Their peers had different ports, and so the guests different arguments.
    assert!(said.contains("differs loopback ports, taken as equal: http://127.0.0.1:"), "{}", compared.stdout);
    assert!(said.contains("verdict slow.json: slower: the median is "), "{}", compared.stdout);
    // On a busy machine the other phases may have gone the other way, and then no share is told.
    assert!(said.contains("where wait "), "{}", compared.stdout);
    assert!(!compared.stdout.contains('\u{1b}'), "no colour where there is no terminal");
    assert!(compared.stdout.lines().all(|line| line.chars().count() <= 80), "{}", compared.stdout);
}

#[test]
fn runs_with_other_arguments_are_not_comparable_unless_forced() {
    let reports = Reports::new();
    let (base, more) = (reports.measured("base.json", &[], "12"), reports.measured("more.json", &[], "13"));
    let refused = compare(&[], &[&base, &more]);
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    let said = unwrapped(&refused.stdout);
    assert!(said.contains("more.json: not comparable: the arguments differ; --force"), "{}", refused.stdout);
    assert_eq!(compare(&["--force"], &[&base, &more]).code, 0);
}

#[test]
fn what_cannot_be_written_is_told_by_the_name_that_was_asked_for() {
    let reports = Reports::new();
    let base = reports.made("native", &[100; 20]);
    let chart = reports.path("missing/chart.svg");
    let drawn = compare(&["--chart", chart.to_str().unwrap()], &[&base, &base]);
    let report = reports.path("missing/run.json");
    let ran = run(wrun().arg("--report").arg(&report).arg(guest("nothing")));
    for (finished, path) in [(drawn, chart), (ran, report)] {
        assert_eq!(finished.code, 2, "{}", finished.stderr);
        let named = format!("to {}: No such file or directory (os error 2); name a file in", path.display());
        assert!(finished.stderr.contains(&named), "{}", finished.stderr);
        assert!(!finished.stderr.contains(".wrun-") && !finished.stderr.contains(".partial"), "{}", finished.stderr);
    }
}

#[test]
fn a_condition_that_fails_ends_with_three_and_one_that_is_not_sure_with_zero() {
    let reports = Reports::new();
    let base = reports.made("native", &[100; 20]);
    let slow = reports.made("slow", &[200; 20]);
    let wide: Vec<u64> = (0..20).map(|at| 60 + at * 13).collect();
    let wide = reports.made("wide", &wide);
    for (other, condition, code, said) in [
        (&slow, "request.median > 1.5x", 3, "FAILED"),
        (&slow, "request.wait.p95 > 150 ms", 3, "FAILED"),
        (&slow, "request.wait.p95 > 1.5x", 0, "inconclusive"),
        (&slow, "request.median > 3x", 0, "passed"),
        (&wide, "request.median > 1.5x", 0, "inconclusive"),
        (&slow, "request.p99 > 10s", 3, "too few"),
        (&slow, "request.errors > 0", 0, "passed"),
    ] {
        let judged = compare(&["--fail-if", condition], &[&base, other]);
        assert_eq!(judged.code, code, "{condition}: {}", judged.stdout);
        assert!(judged.stdout.contains(said), "{condition}: {}", judged.stdout);
    }
    let both = compare(&["--fail-if", "request.median > 1.5x"], &[&base, &base, &slow]);
    assert_eq!(both.code, 3, "{}", both.stdout);
}

#[test]
fn a_quiet_comparison_says_only_what_makes_its_code() {
    let reports = Reports::new();
    let (base, slow) = (reports.made("native", &[100; 20]), reports.made("slow", &[200; 20]));
    let well = compare(&["-q", "--fail-if", "request.median > 3x"], &[&base, &slow]);
    assert_eq!((well.code, &*well.stdout, &*well.stderr), (0, "", ""), "a verdict alone makes no code");
    let failed = compare(&["-q", "--fail-if", "request.median > 1.5x"], &[&base, &slow]);
    assert_eq!((failed.code, &*failed.stdout), (3, ""));
    assert!(failed.stderr.starts_with("wrun: --fail-if 'request.median > 1.5x', slow: FAILED: "), "{}", failed.stderr);
    let other = reports.changed("other", &[100; 20], |report| report["header"]["arguments"] = json!(["--other"]));
    let refused = compare(&["-q"], &[&base, &other]);
    assert_eq!((refused.code, &*refused.stdout), (2, ""));
    assert!(refused.stderr.contains("not comparable: the arguments differ"), "{}", refused.stderr);
}

#[test]
fn an_empty_sample_fails_and_a_name_that_nothing_has_is_refused() {
    let reports = Reports::new();
    let base = reports.made("native", &[100; 20]);
    let failed = reports.changed("failing", &[100; 20], |report| {
        report["samples"].as_array_mut().unwrap().iter_mut().for_each(|sample| sample["error"] = "refused".into());
    });
    let judged = compare(&["--fail-if", "request.median > 10x"], &[&base, &failed]);
    assert_eq!(judged.code, 3, "{}", judged.stdout);
    assert!(unwrapped(&judged.stdout).contains("failing: failing: 20 of 20 failed"), "{}", judged.stdout);
    let refused = compare(&["--fail-if", "reqest.median > 10x"], &[&base, &failed]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("did you mean request?"), "{}", refused.stderr);
}

#[test]
fn a_chart_calls_its_runs_as_the_words_do() {
    let reports = Reports::new();
    let base = reports.made("native", &[100; 20]);
    let chart = reports.path("chart.svg");
    let compared = compare(&["--chart", chart.to_str().unwrap()], &[&base, &base]);
    assert_eq!(compared.code, 0, "{}{}", compared.stdout, compared.stderr);
    let chart = std::fs::read_to_string(chart).unwrap();
    assert!(compared.stdout.contains("native.json (2)"), "{}", compared.stdout);
    assert!(chart.contains("(2)<"), "{chart}");
}

#[test]
fn two_reports_of_one_sample_each_are_too_few() {
    let reports = Reports::new();
    let compared = compare(&[], &[&reports.made("native", &[100]), &reports.made("board", &[9000])]);
    assert_eq!(compared.code, 0, "{}", compared.stdout);
    assert!(compared.stdout.contains("verdict  board: too few samples"), "{}", compared.stdout);
}

#[test]
fn what_is_no_report_of_this_version_is_refused_by_name() {
    let reports = Reports::new();
    let good = reports.made("native", &[100; 20]);
    let text = std::fs::read_to_string(&good).unwrap();
    let nan = text.replacen("\"duration_ns\":100000000", "\"duration_ns\":NaN", 1);
    assert_ne!(nan, text);
    let written = format!("\"schema\":{}", wrun::report::data::SCHEMA);
    let version = |other: &str| text.replacen(&written, &format!("\"schema\":{other}"), 1);
    let bad = [
        ("cut.json", text[..text.len() / 2].to_owned(), "is not a report of wrun"),
        ("empty.json", String::new(), "is not a report of wrun"),
        ("other.json", "{\"hello\": 1}".to_owned(), "is not a report of wrun"),
        ("newer.json", version("7"), "was written by a newer wrun"),
        ("older.json", version("0"), "which no wrun has written"),
        ("nan.json", nan, "is not a report of wrun"),
    ];
    for (name, text, said) in bad {
        std::fs::write(reports.path(name), text).unwrap();
        for pair in [[&good, &reports.path(name)], [&reports.path(name), &good]] {
            let refused = compare(&[], &[pair[0], pair[1]]);
            assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{name}");
            assert!(refused.stderr.contains(name) && refused.stderr.contains(said), "{name}: {}", refused.stderr);
        }
    }
}

#[test]
fn what_a_killed_run_left_is_compared_with_its_warning() {
    let reports = Reports::new();
    let base = reports.made("native", &[100; 20]);
    let header = serde_json::from_str::<Value>(&std::fs::read_to_string(&base).unwrap()).unwrap()["header"].take();
    let mut lines = format!("{}\n", json!({ "header": { "schema": 1, "header": header } }));
    for at in 0..12 {
        let sample = json!({
            "name": "request", "start_ns": at, "duration_ns": 300_000_000 + at, "phases": [], "error": null, "finished": true,
        });
        lines += &format!("{}\n", json!({ "sample": sample }));
    }
    lines += "{\"sample\": {\"name\": \"requ";
    std::fs::write(reports.path("killed.json.partial"), lines).unwrap();
    let compared = compare(&[], &[&base, &reports.path("killed.json")]);
    assert_eq!(compared.code, 0, "{}{}", compared.stdout, compared.stderr);
    let said = unwrapped(&compared.stdout);
    assert!(said.contains("incomplete: wrun was killed"), "{said}");
    assert!(said.contains("killed.json: slower: the median is 3.00×"), "{said}");
    assert!(said.contains("warning killed.json: wrun was killed, or is still running"), "{said}");
}

#[test]
fn json_keeps_to_the_schema_and_the_other_forms_are_well_formed() {
    let reports = Reports::new();
    let stalls: Vec<u64> = (0..15).map(|at| if at % 2 == 0 { 600 + at } else { 5900 + at }).collect();
    let (base, other) = (reports.made("native", &[100; 15]), reports.made("board", &stalls));
    let printed = |format: &str| {
        let printed = compare(&["--format", format, "--fail-if", "request.median > 1.5x"], &[&base, &other]);
        assert_eq!(printed.code, 3, "{format}: {}", printed.stderr);
        let aloud = printed.stderr.starts_with("wrun: --fail-if 'request.median > 1.5x', board: FAILED: it is ");
        assert_eq!(aloud, format != "text", "{format}: {}", printed.stderr);
        printed.stdout
    };
    let json: Value = serde_json::from_str(&printed("json")).unwrap();
    let schema = root().join("host/wrun/compare.schema.json");
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    let schema = compiler.compile(schema.to_str().unwrap(), &mut schemas).unwrap();
    schemas.validate(&json, schema).unwrap_or_else(|problem| panic!("{problem:#}"));
    let modes = json["samples"][0]["runs"][1]["figures"]["modes"].as_array().unwrap();
    assert_eq!(modes.iter().map(|mode| mode["count"].as_u64().unwrap()).collect::<Vec<_>>(), [8, 7]);
    assert!(printed("text").contains("606 ms ×8, 5.91 s ×7: two modes"), "{}", printed("text"));
    assert!(printed("markdown").starts_with("**board: slower**"));
    assert!(printed("csv").starts_with("run,sample,phase,n,") && printed("csv").contains("\r\n"));
    assert!(printed("junit").contains("<failure message=\"FAILED: it is "));
}
