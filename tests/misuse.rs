//! A guest that breaks the rules of its interfaces gets an error code or a trap, and wrun goes on as if nothing was.

use crate::support::{guest, run, unwrapped, wrun};

#[test]
fn each_misuse_ends_the_guest_or_is_answered_and_never_ends_wrun() {
    for (misuse, trap) in [
        ("drop-order", "resource has children"),
        ("too-much", "not granted by check-write"),
        ("unpermitted-write", "not granted by check-write"),
        ("unpermitted-send", "check-send"),
        ("long-name", "1 to 64 bytes"),
        ("control-name", "1 to 64 bytes"),
        ("many-names", "256"),
        ("many-counters", "1024"),
        ("many-phases", "32"),
    ] {
        let ended = run(wrun().args(["--allow", "loopback"]).arg(guest("misuse")).args(["--", misuse]));
        assert_eq!(ended.code, 134, "{misuse}: {}{}", ended.stdout, ended.stderr);
        assert!(unwrapped(&ended.stderr).contains(trap), "{misuse}: {}", ended.stderr);
    }
    for (misuse, answer) in [("bad-finish", "not-in-progress"), ("huge-resolve", "invalid-argument")] {
        let answered = run(wrun().args(["-q", "--allow", "loopback"]).arg(guest("misuse")).args(["--", misuse]));
        assert_eq!(answered.code, 0, "{misuse}: {}", answered.stderr);
        assert_eq!(answered.stdout, format!("{misuse} -> {answer}\n"));
    }
    for misuse in ["wrong-handle", "huge-send", "huge-list"] {
        let ended = run(wrun().args(["--allow", "loopback"]).arg(guest("misuse")).args(["--", misuse]));
        assert_eq!(ended.code, 134, "{misuse}: {}", ended.stderr);
    }
}

#[test]
fn the_state_machines_answer_as_the_standard_says() {
    let walked = run(wrun().args(["-q", "--allow", "all"]).arg(guest("states")));
    assert_eq!(walked.code, 0, "{}{}", walked.stdout, walked.stderr);
    insta::assert_snapshot!(walked.stdout);
}
