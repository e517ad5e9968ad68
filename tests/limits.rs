//! A guest that fails, traps, spins, hoards or floods ends in its own way, in words that say "guest", and its report is
//! kept.

use crate::support::{guest, report, run, unwrapped, wrun};

/// Runs a probe that ends badly; answers with its words and the report.
fn ends(options: &[&str], name: &str, code: i64) -> (String, serde_json::Value) {
    let ended = report(options, name, &[]);
    assert_eq!(ended.code, i32::try_from(code).unwrap(), "{}", ended.stderr);
    assert_eq!(ended.report["outcome"]["code"], code);
    let words = ended.report["outcome"]["words"].as_str().unwrap().to_owned();
    assert!(words.contains("guest"), "{words}");
    assert!(unwrapped(&ended.stderr).contains(&words), "{words} is not in:\n{}", ended.stderr);
    (words, ended.report)
}

#[test]
fn a_failure_is_the_guest_s() {
    let (words, report) = ends(&[], "fail", 1);
    assert_eq!(words, "the guest failed");
    assert_eq!(report["complete"], true);
}

#[test]
fn a_trap_has_a_backtrace_with_file_and_line() {
    let (words, report) = ends(&[], "trap", 134);
    assert!(words.starts_with("the guest trapped: "), "{words}");
    let frames = report["outcome"]["backtrace"].as_array().unwrap();
    assert!(frames.iter().any(|frame| frame.as_str().unwrap().contains("trap.rs:")), "{frames:#?}");
}

#[test]
fn a_guest_that_spins_ends_at_its_time_limit() {
    let (words, report) = ends(&["--timeout", "300ms"], "spin", 124);
    assert!(words.contains("--timeout"), "{words}");
    assert_eq!(report["complete"], false);
}

#[test]
fn a_guest_that_hoards_ends_at_its_memory_limit() {
    let (words, _) = ends(&["--max-memory", "32M"], "hoard", 121);
    assert!(words.contains("--max-memory"), "{words}");
}

#[test]
fn a_guest_that_floods_is_refused_sockets_and_ends_by_its_own_failure() {
    let (words, report) = ends(&["--max-sockets", "7"], "flood", 122);
    assert!(words.contains("--max-sockets"), "{words}");
    assert_eq!(report["connections"].as_array().unwrap().len(), 7);
}

#[test]
fn a_guest_that_traps_for_want_of_a_socket_ends_by_the_same_limit() {
    let ended = report(&["--max-sockets", "7"], "flood", &["unwrap"]);
    assert_eq!(ended.code, 122, "{}", ended.stderr);
    assert_eq!(ended.report["outcome"]["code"], 122);
    let words = ended.report["outcome"]["words"].as_str().unwrap();
    assert!(words.contains("guest") && words.contains("--max-sockets"), "{words}");
    // It is still said where it trapped.
    let backtrace = ended.report["outcome"]["backtrace"].to_string();
    assert!(backtrace.contains("flood.rs:"), "{backtrace}");
}

#[test]
fn the_longest_time_limit_is_one_that_never_comes() {
    let finished = run(wrun().args(["--timeout", "9223372036854775807s"]).arg(guest("nothing")));
    assert_eq!(finished.code, 0, "{}", finished.stderr);
}

#[test]
fn a_memory_limit_below_what_the_guest_starts_with_is_said_as_such() {
    let finished = run(wrun().args(["--max-memory", "64K"]).arg(guest("nothing")));
    assert_eq!(finished.code, 121, "{}", finished.stderr);
    assert!(finished.stderr.contains("--max-memory"), "{}", finished.stderr);
}
