//! A file that is no guest is refused before anything runs, in words that say which and what to do.

use std::path::Path;

use crate::support::{guest, run, wrun};

/// A component that wrun can load and not run, in text.
const LIBRARY: &str = r#"(component (instance $i) (export "a:b/c@1.0.0" (instance $i)))"#;
const OTHER_WASI: &str = r#"(component (instance $i) (export "wasi:cli/run@0.3.0" (instance $i)))"#;
const WANTS_HTTP: &str = r#"(component
  (import "wasi:http/types@0.2.0" (instance))
  (import "wasi:cli/exit@0.2.0" (instance))
  (instance $i)
  (export "wasi:cli/run@0.2.0" (instance $i)))"#;

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
