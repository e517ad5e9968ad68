//! A file that is no guest is refused before anything runs, in words that say which and what to do.

use std::path::Path;

use crate::support::{command, guest, run, unwrapped, wrun};

/// A component that wrun can load and not run, in text.
const LIBRARY: &str = r#"(component (instance $i) (export "a:b/c@1.0.0" (instance $i)))"#;
const OTHER_WASI: &str = r#"(component (instance $i) (export "wasi:cli/run@0.3.0" (instance $i)))"#;
const WANTS_HTTP: &str = r#"(component
  (import "wasi:http/types@0.2.0" (instance))
  (import "wasi:cli/exit@0.2.0" (instance))
  (instance $i)
  (export "wasi:cli/run@0.2.0" (instance $i)))"#;

/// The names are right, and what is behind them is not.
const WANTS_A_NEWER_FUNCTION: &str = r#"(component
  (import "wasi:cli/environment@0.2.99" (instance (export "get-nothing" (func))))
  (core module $module (func (export "run") (result i32) (i32.const 0)))
  (core instance $core (instantiate $module))
  (func $run (result (result)) (canon lift (core func $core "run")))
  (instance $command (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $command)))"#;
const RUNS_TO_A_NUMBER: &str = r#"(component
  (core module $module (func (export "run") (result i32) (i32.const 0)))
  (core instance $core (instantiate $module))
  (func $run (result u32) (canon lift (core func $core "run")))
  (instance $command (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $command)))"#;

#[test]
fn a_guest_whose_functions_do_not_fit_is_refused_before_it_starts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("guest.wasm");
    // What differs from these in nothing else runs.
    std::fs::write(&path, command(r#"(func (export "run") (result i32) (i32.const 0))"#)).unwrap();
    assert_eq!(run(wrun().arg(&path)).code, 0);
    for (text, culprit) in [(WANTS_A_NEWER_FUNCTION, "get-nothing"), (RUNS_TO_A_NUMBER, "run")] {
        std::fs::write(&path, binary(text)).unwrap();
        let refused = run(wrun().arg(&path));
        assert_eq!(refused.code, 2, "{culprit}: {}", refused.stderr);
        assert!(unwrapped(&refused.stderr).contains("does not fit"), "{culprit}: {}", refused.stderr);
        assert!(refused.stderr.contains(culprit), "{}", refused.stderr);
        let checked = run(wrun().arg("check").arg(&path));
        assert_eq!(checked.code, 2, "{culprit}: {}", checked.stdout);
        assert!(unwrapped(&checked.stdout).contains("does not fit"), "{culprit}: {}", checked.stdout);
        assert!(!checked.stdout.contains("wrun can run it"), "{culprit}: {}", checked.stdout);
    }
}

#[test]
fn what_never_ends_is_no_file_and_is_not_read() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.wasm");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for path in [Path::new("/dev/zero"), &pipe] {
        for refused in [run(wrun().arg(path)), run(wrun().arg("check").arg(path))] {
            assert_eq!(refused.code, 2, "{}: {}", path.display(), refused.stderr);
            assert!(unwrapped(&refused.stderr).contains("not a file"), "{}: {}", path.display(), refused.stderr);
        }
    }
}

#[test]
fn what_is_no_guest_is_refused_with_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let files: &[(&str, Option<Vec<u8>>)] = &[
        ("missing.wasm", None),
        ("text.wasm", Some(b"hello".to_vec())),
        ("empty.wasm", Some(Vec::new())),
        ("module.wasm", Some(b"\0asm\x01\0\0\0".to_vec())),
        ("source.wat", Some(LIBRARY.into())),
        ("cut.wasm", Some(b"\0asm\x0d\0\x01\0\x07".to_vec())),
        ("library.wasm", Some(binary(LIBRARY))),
        ("wasi-0.3.wasm", Some(binary(OTHER_WASI))),
        ("wants-http.wasm", Some(binary(WANTS_HTTP))),
    ];
    let mut said = String::new();
    for (name, bytes) in files {
        if let Some(bytes) = bytes {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let finished = run(wrun().current_dir(folder.path()).arg(name));
        assert_eq!(finished.code, 2, "{name}: {}", finished.stderr);
        assert_eq!(finished.stdout, "");
        said += &finished.stderr;
    }
    said += &run(wrun().current_dir(folder.path()).arg(".")).stderr;
    insta::assert_snapshot!(said);
}

#[test]
fn check_says_what_a_guest_imports_and_whether_it_can_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wants-http.wasm"), binary(WANTS_HTTP)).unwrap();
    let refused = run(wrun().current_dir(folder.path()).args(["check", "wants-http.wasm"]));
    assert_eq!(refused.code, 2);
    insta::assert_snapshot!(refused.stdout);

    let accepted = run(wrun().arg("check").arg(guest("socket-client")));
    assert_eq!(accepted.code, 0, "{}", accepted.stdout);
    assert!(accepted.stdout.contains("wrun:net/timing@0.1.0"), "{}", accepted.stdout);
    assert!(accepted.stdout.contains("verdict  wrun can run it"), "{}", accepted.stdout);
}

#[test]
fn two_wruns_at_once_and_a_damaged_cache_are_no_matter() {
    let folder = tempfile::tempdir().unwrap();
    let start = || wrun().env("XDG_CACHE_HOME", folder.path()).arg("-q").arg(guest("nothing")).spawn().unwrap();
    for child in &mut [start(), start(), start(), start()] {
        assert!(child.wait().unwrap().success());
    }
    let cache = folder.path().join("wrun");
    assert!(files(&cache).iter().any(|path| path.extension().is_some_and(|extension| extension == "cwasm")));
    for path in files(&cache) {
        std::fs::write(path, "damaged").unwrap();
    }
    assert!(start().wait().unwrap().success());
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn binary(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}
