//! A guest that breaks the rules of its interfaces gets an error code or a trap, and wrun goes on as if nothing was.

use crate::support::{Finished, command, guest, run, unwrapped, wrun};

/// What a host may take at most for a guest that asks for everything, in bytes. wrun itself is a few dozen megabytes, so
/// this tells what is bounded from what is not, and no more.
const MODEST: u64 = 300 << 20;

fn misuse(what: &str) -> Finished {
    run(wrun().args(["--allow", "loopback"]).arg(guest("misuse")).args(["--", what]))
}

fn traps(what: &str, words: &str) -> Finished {
    let ended = misuse(what);
    assert_eq!(ended.code, 134, "{what}: {}{}", ended.stdout, ended.stderr);
    assert!(unwrapped(&ended.stderr).contains(words), "{what}: {}", ended.stderr);
    ended
}

fn is_answered(what: &str, answer: &str) -> Finished {
    let answered = misuse(what);
    assert_eq!(answered.code, 0, "{what}: {}", answered.stderr);
    assert_eq!(answered.stdout, format!("{what} -> {answer}\n"));
    answered
}

#[test]
fn what_the_interfaces_forbid_traps_in_words_that_say_what_it_was() {
    for (what, words) in [
        ("drop-order", "resource has children"),
        ("too-much", "not granted by check-write"),
        ("unpermitted-write", "not granted by check-write"),
        ("unpermitted-send", "check-send"),
        ("wrong-handle", "unknown handle index 4321"),
        ("long-name", "1 to 64 bytes"),
        ("control-name", "1 to 64 bytes"),
        ("many-names", "256"),
        ("many-counters", "1024"),
        ("many-phases", "32"),
        ("huge-list", "handle limit"),
        ("huge-send", "65536 datagrams, of which check-send had granted"),
    ] {
        traps(what, words);
    }
}

#[test]
fn what_can_be_answered_is_answered_with_a_code() {
    is_answered("bad-finish", "not-in-progress");
    is_answered("huge-resolve", "invalid-argument");
}

#[test]
fn a_guest_cannot_make_the_host_hold_more_and_more() {
    for (what, words) in [("flood-samples", "open samples"), ("flood-pollables", "table has no free keys")] {
        let ended = traps(what, words);
        assert!(ended.peak < MODEST, "{what} took {} bytes", ended.peak);
    }
    let answered = is_answered("flood-lookups", "temporary-resolver-failure");
    assert!(answered.peak < MODEST, "flood-lookups took {} bytes", answered.peak);
}

/// Asks for a hundred million places in a table of functions, which are most of a gigabyte of the host's memory.
const GROWS_A_TABLE: &str = r#"
  (table $table 1 funcref)
  (elem declare func $run)
  (func $run (export "run") (result i32)
    (i32.eq (table.grow $table (ref.func $run) (i32.const 100_000_000)) (i32.const -1)))"#;

#[test]
fn a_guest_s_tables_are_bounded_as_its_memory_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grows.wasm");
    std::fs::write(&path, command(GROWS_A_TABLE)).unwrap();
    let ended = run(wrun().args(["--max-memory", "64M"]).arg(&path));
    assert_eq!(ended.code, 121, "{}", ended.stderr);
    assert!(ended.peak < MODEST, "it took {} bytes", ended.peak);
}

#[test]
fn the_state_machines_answer_as_the_standard_says() {
    let walked = run(wrun().args(["-q", "--allow", "all"]).arg(guest("states")));
    assert_eq!(walked.code, 0, "{}{}", walked.stdout, walked.stderr);
    insta::assert_snapshot!(walked.stdout);
}
