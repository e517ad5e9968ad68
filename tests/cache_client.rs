//! The guest `cache-client`, against real memcached and against servers that do what a server must not.

mod bad_servers;
mod memcached;
mod peer;

use crate::support::{Reported, report};

fn client(args: &[&str]) -> Reported {
    report(&["--allow", "loopback"], "cache-client", args)
}

/// A counter of the report.
fn counter(reported: &Reported, name: &str) -> u64 {
    reported.report["counters"][name].as_u64().unwrap_or_else(|| panic!("no counter {name}: {}", reported.stderr))
}
