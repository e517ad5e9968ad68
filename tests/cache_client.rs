//! The guest `cache-client`, against real memcached and against servers that do what a server must not.

mod bad_servers;
mod memcached;
mod peer;
mod seeds;
mod verify;

use crate::support::{Reported, report};

fn client(args: &[&str]) -> Reported {
    report(&["--allow", "loopback"], "cache-client", args)
}

/// Ten operations over two connections, with more time than any of them needs unless it is told otherwise.
fn ten(servers: &str, more: &[&str]) -> Reported {
    let usual = ["--servers", servers, "--connections", "2", "--timeout", "20s", "--keys", "5", "--seed", "1"];
    client(&[&usual[..], &["--reads", "6", "--writes", "4"], more].concat())
}

/// A counter of the report.
fn counter(reported: &Reported, name: &str) -> u64 {
    reported.report["counters"][name].as_u64().unwrap_or_else(|| panic!("no counter {name}: {}", reported.stderr))
}
