//! The table of exit codes in the README is what the tool does.

use std::fs::File;
use std::process::Stdio;

use rustix::process::Signal;
use wrun::exit;

use crate::support::{Running, finish, guest, root, run, unwrapped, wrun};

/// Every code, with a run that ends with it where a plain command can bring that about. The others have tests of their
/// own: the rig's below, the signals', and that of comparisons.
const CODES: &[(u8, &[&str])] = &[
    (exit::OK, &["nothing"]),
    (exit::GUEST, &["fail"]),
    (exit::USAGE, &["--no-such-flag", "nothing"]),
    (exit::FAILED, &[]),
    (exit::RIG, &[]),
    (exit::MEMORY, &["--max-memory", "32M", "hoard"]),
    (exit::SOCKETS, &["--max-sockets", "3", "flood"]),
    (exit::TIMEOUT, &["--timeout", "200ms", "spin"]),
    (exit::INTERRUPTED, &[]),
    (exit::TRAP, &["trap"]),
    (exit::TERMINATED, &[]),
];

#[test]
fn every_code_is_in_the_readme_and_no_other() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let section = readme.split("## Exit codes").nth(1).unwrap().split("\n## ").next().unwrap();
    let listed: Vec<u8> =
        section.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok()).collect();
    assert_eq!(listed, CODES.iter().map(|(code, _)| *code).collect::<Vec<_>>());
}

#[test]
fn each_end_has_its_own_code() {
    for (code, command) in CODES {
        let Some((name, options)) = command.split_last() else { continue };
        let finished = run(wrun().args(options.iter()).arg(guest(name)));
        assert_eq!(finished.code, i32::from(*code), "{command:?} said:\n{}", finished.stderr);
    }
}

#[test]
fn a_report_whose_folder_goes_away_during_the_run_is_the_rig_s_failure() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let path = inner.join("report.json");
    let mut running = Running::start(
        wrun()
            .args(["--allow", "loopback", "--report"])
            .arg(&path)
            .arg(guest("block"))
            .args(["--", "accept", "127.0.0.1:0"])
            .stderr(File::create(folder.path().join("stderr")).unwrap()),
    );
    running.line();
    std::fs::remove_dir_all(&inner).unwrap();
    running.signal(Signal::TERM);
    assert_eq!(running.wait().code(), Some(i32::from(exit::RIG)));
    let said = std::fs::read_to_string(folder.path().join("stderr")).unwrap();
    assert!(said.contains(path.to_str().unwrap()), "{said}");
    // What was measured is not lost on the user.
    assert!(unwrapped(&said).contains("ended by SIGTERM"), "{said}");
}

#[test]
fn a_report_that_standard_output_does_not_take_is_the_rig_s_failure() {
    let mut command = wrun();
    command.args(["--report", "-"]).arg(guest("nothing")).stderr(Stdio::piped());
    let finished = finish(command.stdout(File::options().write(true).open("/dev/full").unwrap()).spawn().unwrap());
    assert_eq!(finished.code, i32::from(exit::RIG), "{}", finished.stderr);
    assert!(finished.stderr.contains("standard output"), "{}", finished.stderr);
    assert!(unwrapped(&finished.stderr).contains("the guest ended well"), "{}", finished.stderr);
}
