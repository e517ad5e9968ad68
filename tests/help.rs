//! What people read before they run anything.

use crate::support::{run, wrun};

#[test]
fn help_says_what_each_option_does() {
    let help = |args: &[&str]| {
        let finished = run(wrun().args(args));
        assert_eq!(finished.code, 0);
        finished.stdout
    };
    insta::assert_snapshot!("help", help(&["--help"]));
    insta::assert_snapshot!("help-compare", help(&["compare", "--help"]));
    insta::assert_snapshot!("help-peer-http", help(&["peer", "http", "--help"]));
}

#[test]
fn what_cannot_be_asked_for_is_refused_with_what_can_be() {
    let asked: &[&[&str]] = &[
        &["--backend", "nativ", "g.wasm"],
        &["--backend", "native", "--backend", "native", "g.wasm"],
        &["--allow", "tcp://127.0.0.1", "g.wasm"],
        &["--allow", "http://127.0.0.1:80", "g.wasm"],
        &["--timeout", "5", "g.wasm"],
        &["--timeout", "0s", "g.wasm"],
        &["--max-memory", "1T", "g.wasm"],
        &["--max-sockets", "0", "g.wasm"],
        &["--dir", "no/such/folder", "g.wasm"],
        &["--env", "=x", "g.wasm"],
        &["--progress", "loud", "g.wasm"],
        &["g.wasm", "args", "without", "dashes"],
        &["peer", "http", "--fault", "rude"],
        &["peer", "http", "--listen", "127.0.0.1"],
        &["peer", "http", "--status", "99"],
        &["peer", "http", "--certificate", "expired"],
        &["show", "no-such-report.json"],
        &["compare", "a.json"],
        &["compare", "no-such-report.json", "b.json"],
        &["compare", "--fail-if", "request.p95", "a.json", "b.json"],
        &["compare", "--fail-if", "request.p59x > 1.5x", "a.json", "b.json"],
        &["compare", "--threshold=-5%", "a.json", "b.json"],
        &["compare", "--format", "yaml", "a.json", "b.json"],
    ];
    let mut said = String::new();
    for args in asked {
        let finished = run(wrun().args(*args));
        assert_eq!(finished.code, 2, "{args:?}: {}", finished.stderr);
        assert_eq!(finished.stdout, "", "{args:?}");
        said += &format!("$ wrun {}\n{}\n", args.join(" "), finished.stderr);
    }
    insta::assert_snapshot!(said);
}

#[test]
fn an_argument_that_is_no_text_is_refused_like_any_other() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    for more in [&[][..], &["--bogus"], &["compare"]] {
        let finished = run(wrun().arg(OsStr::from_bytes(b"\xff")).args(more));
        assert_eq!(finished.code, 2, "{more:?}: {}", finished.stderr);
        assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    }
}

#[test]
fn a_peer_that_cannot_write_its_certificate_says_no_address() {
    for kind in ["http", "cache-rpc"] {
        let finished = run(wrun().args(["peer", kind, "--tls", "--ca-file", "no/such/folder/ca.pem"]));
        assert_eq!((finished.code, finished.stdout.as_str()), (2, ""), "{kind}: {}", finished.stderr);
        assert!(finished.stderr.contains("--ca-file no/such/folder/ca.pem: cannot be written"), "{}", finished.stderr);
    }
}
