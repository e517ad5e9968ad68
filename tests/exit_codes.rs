//! The table of exit codes in the README is what the tool does.

use wrun::exit;

use crate::support::{guest, root, run, wrun};

/// Every code, with a run that ends with it where a plain command can bring that about. Signals have tests of their own.
const CODES: &[(u8, &[&str])] = &[
    (exit::OK, &["nothing"]),
    (exit::GUEST, &["fail"]),
    (exit::USAGE, &["--no-such-flag", "nothing"]),
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
