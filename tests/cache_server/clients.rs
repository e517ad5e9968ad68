//! Clients that nobody here wrote: libmemcached's tools, and Python's pymemcache.

use std::process::Command;

use super::CacheServer;
use crate::support::{Finished, has, run};

/// Runs one of libmemcached's tools against a server.
fn tool(name: &str, server: &CacheServer, args: &[&str]) -> Finished {
    let folder = tempfile::tempdir().unwrap();
    // Some write the key's value into a file where they are.
    let servers = format!("--servers={}", server.address);
    run(Command::new(name).arg(servers).args(args).current_dir(folder.path()))
}

#[test]
fn libmemcached_s_tools_store_read_remove_and_count_in_text_and_binary() {
    if ["memccp", "memccat", "memcrm", "memcstat"].iter().any(|name| !has(name)) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("letter");
    std::fs::write(&file, "dear cache").unwrap();
    for protocol in [&[][..], &["--binary"]] {
        let server = CacheServer::start(&[]);
        let with = |args: &[&'static str]| [protocol, args].concat();
        let copied = tool("memccp", &server, &[protocol, &[file.to_str().unwrap()]].concat());
        assert_eq!((copied.code, copied.stderr.as_str()), (0, ""), "{protocol:?}");
        let read = tool("memccat", &server, &with(&["letter"]));
        assert_eq!((read.code, read.stdout.trim_end()), (0, "dear cache"), "{protocol:?}: {}", read.stderr);
        let removed = tool("memcrm", &server, &with(&["letter"]));
        assert_eq!(removed.code, 0, "{protocol:?}: {}", removed.stderr);
        let gone = tool("memccat", &server, &with(&["letter"]));
        assert_ne!(gone.stdout.trim_end(), "dear cache", "{protocol:?}");
        let counted = tool("memcstat", &server, &with(&[]));
        assert_eq!(counted.code, 0, "{protocol:?}: {}", counted.stderr);
        assert!(counted.stdout.contains("get_hits: 1"), "{protocol:?}: {}", counted.stdout);
    }
}

#[test]
fn memcslap_s_load_is_served_in_text_and_binary() {
    if !has("memcslap") {
        return;
    }
    for protocol in [&[][..], &["--binary"]] {
        for test in ["--test=set", "--test=get", "--test=mget"] {
            let server = CacheServer::start(&[]);
            let load = ["--concurrency=4", "--execute-number=200", "--initial-load=200", test];
            let loaded = tool("memcslap", &server, &[protocol, &load].concat());
            assert_eq!(loaded.code, 0, "{protocol:?} {test}: {}{}", loaded.stdout, loaded.stderr);
            let report = server.stop();
            assert!(report["counters"]["items-stored"].as_u64() >= Some(200), "{test}: {}", report["counters"]);
            assert_eq!(report["counters"].get("protocol-errors"), None, "{protocol:?} {test}");
        }
    }
}

#[test]
fn pymemcache_s_operations_do_what_they_say() {
    let pythons = ["python3", "/usr/bin/python3"];
    let knows = |python: &&str| {
        let import = Command::new(python).args(["-c", "import pymemcache"]).output();
        import.is_ok_and(|import| import.status.success())
    };
    let Some(python) = pythons.into_iter().find(knows) else {
        assert!(std::env::var_os("CI").is_none(), "pymemcache is not installed: `cargo xtask setup` installs it");
        eprintln!("SKIPPED: pymemcache is not installed: `cargo xtask setup` says how");
        return;
    };
    let server = CacheServer::start(&[]);
    let script = include_str!("pymemcache_script.py");
    let done = run(Command::new(python).args(["-c", script, &server.address.port().to_string()]));
    assert_eq!((done.code, done.stdout.trim_end()), (0, "done"), "{}", done.stderr);
}
