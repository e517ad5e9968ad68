//! Ctrl-C, SIGTERM and SIGKILL, while a guest waits, spins, or says what nobody reads: what was measured is kept.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;
use wrun_peers::Echo;

use crate::support::{Running, guest, run, wrun};

/// Starts a probe with a report, ends it by a signal once it says it is at it, and reads the report.
fn interrupt(name: &str, args: &[&str], signal: Signal, report: &Path) -> Option<i32> {
    let mut running = Running::start(
        wrun()
            .args(["--allow", "loopback", "--report"])
            .arg(report)
            .arg(guest(name))
            .arg("--")
            .args(args)
            .stderr(Stdio::null()),
    );
    running.line();
    running.signal(signal);
    running.wait().code()
}

/// Claims that a run left a report, and nothing beside it, that says which signal ended it.
fn is_marked_interrupted(path: &Path, code: i32) {
    let report: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(report["outcome"]["family"], "interrupted");
    assert_eq!(report["outcome"]["code"], code);
    assert_eq!(report["complete"], false);
    assert!(!path.with_extension("json.partial").exists());
}

#[test]
fn a_signal_ends_a_guest_that_waits_or_spins_and_its_report_says_so() {
    // It takes a connection, and never sends.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap().to_string();
    let guests: [(&str, &[&str]); 3] =
        [("block", &["accept", "127.0.0.1:0"]), ("block", &["connect", &silent]), ("spin", &[])];
    for (name, args) in guests {
        for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("report.json");
            assert_eq!(interrupt(name, args, signal, &path), Some(code), "{name} {args:?} by {signal:?}");
            is_marked_interrupted(&path, code);
        }
    }
}

#[test]
fn one_signal_ends_a_guest_whose_output_nobody_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let mut running = Running::start(wrun().arg("--report").arg(&path).arg(guest("shout")).stderr(Stdio::null()));
    running.line();
    running.fill_pipes();
    running.signal(Signal::TERM);
    assert_eq!(running.wait().code(), Some(143));
    is_marked_interrupted(&path, 143);
}

#[test]
fn one_signal_ends_a_run_whose_trace_nobody_reads() {
    let echo = Echo::tcp(Ipv4Addr::LOCALHOST.into()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let running = Running::start(
        wrun()
            .args(["--allow", "loopback", "--trace", "--report"])
            .arg(&path)
            .arg(guest("echo"))
            .args(["--", "tcp", &echo.address().to_string(), "1000000"])
            .stderr(Stdio::piped()),
    );
    running.fill_pipes();
    running.signal(Signal::TERM);
    assert_eq!(running.wait().code(), Some(143));
    is_marked_interrupted(&path, 143);
}

#[test]
fn a_killed_run_leaves_what_it_had_measured() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let mut running = Running::start(
        wrun()
            .arg("--report")
            .arg(&path)
            .arg(guest("samples"))
            .args(["--", "--count", "20", "--then-spin", "request"])
            .stderr(Stdio::null()),
    );
    running.line();
    let partial = folder.path().join("report.json.partial");
    let written = || std::fs::read_to_string(&partial).is_ok_and(|text| text.matches("\"prepare\"").count() >= 20);
    for _ in 0..1000 {
        if written() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code(), None);
    assert!(!path.exists());
    for shown in [&path, &partial] {
        let show = run(wrun().arg("show").arg(shown));
        assert_eq!(show.code, 0, "{}", show.stderr);
        assert!(show.stdout.contains("20"), "{}", show.stdout);
        assert!(show.stdout.contains("incomplete"), "{}", show.stdout);
    }
}
