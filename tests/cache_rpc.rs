//! The service over gRPC: cache-client against `wrun peer cache-rpc`, with each of its switches, and on connections that
//! are cut.

mod cutter;

use crate::support::{Reported, Running, errors, report, wrun};
use cutter::{Cutter, Then};

/// A peer that serves a cache.
struct Peer {
    /// With the scheme that it printed.
    url: String,
    _running: Running,
}

impl Peer {
    fn start(options: &[&str]) -> Self {
        let mut running = Running::start(wrun().arg("peer").args(options));
        Self { url: running.line(), _running: running }
    }

    fn address(&self) -> &str {
        self.url.split("://").last().unwrap().trim_end_matches('/')
    }
}

/// A short run of cache-client that checks every value, after its own preload.
fn client(options: &[&str], server: &str, args: &[&str]) -> Reported {
    let usual = ["--servers", server, "--connections", "4", "--keys", "50", "--verify", "--no-delay", "--preload"];
    report(&[&["--allow", "loopback"], options].concat(), "cache-client", &[&usual, args].concat())
}

fn counter(reported: &Reported, name: &str) -> u64 {
    reported.report["counters"][name].as_u64().unwrap_or_else(|| panic!("no counter {name}: {}", reported.stderr))
}

/// Claims that all of a run went well.
fn all_well(reported: &Reported, reads: u64, about: &str) {
    assert_eq!(reported.code, 0, "{about}: {}\n{}", reported.stdout, reported.stderr);
    assert_eq!(counter(reported, "hits"), reads, "{about}");
    assert_eq!(counter(reported, "errors"), 0, "{about}");
}

#[test]
fn every_value_is_right_with_every_switch() {
    let peer = Peer::start(&["cache-rpc"]);
    assert!(peer.url.starts_with("http://127.0.0.1:"), "{}", peer.url);
    for args in [
        &[] as &[&str],
        &["--pipeline", "20"],
        &["--mode", "one-at-a-time"],
        &["--reliable"],
        // More in flight than a session's window.
        &["--reliable", "--pipeline", "500"],
    ] {
        let args = [&["--protocol", "rpc", "--reads", "700", "--writes", "700"], args].concat();
        all_well(&client(&[], peer.address(), &args), 700, &format!("{args:?}"));
    }
}

#[test]
fn values_of_a_megabyte_pass() {
    let peer = Peer::start(&["cache-rpc"]);
    for reliable in [&[] as &[&str], &["--reliable"]] {
        let args =
            ["--protocol", "rpc", "--reads", "20", "--writes", "20", "--pipeline", "3", "--value-size", "1000-1000000"];
        all_well(&client(&[], peer.address(), &[&args, reliable].concat()), 20, "values of a megabyte");
    }
}

#[test]
fn a_run_in_reliable_sessions_leaves_nothing_in_the_way_of_the_next() {
    let peer = Peer::start(&["cache-rpc"]);
    let size = ["--keys", "20", "--value-size", "900000", "--pipeline", "12"];
    let args = [&["--protocol", "rpc", "--reliable", "--reads", "60", "--writes", "0"], &size[..]].concat();
    for run in 1..=3 {
        // Its last answers, which no call acknowledges, are most of what the peer keeps for all sessions together.
        all_well(&client(&[], peer.address(), &args), 60, &format!("run {run}"));
    }
}

#[test]
fn over_tls_every_value_is_right_and_another_authority_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    let peer = Peer::start(&["cache-rpc", "--tls", "--ca-file", ca.to_str().unwrap()]);
    assert!(peer.url.starts_with("https://127.0.0.1:"), "{}", peer.url);
    let trust = format!("{}::/trust:ro", folder.path().display());
    let args = ["--protocol", "rpc", "--tls", "--reads", "300", "--writes", "300", "--value-size", "16-100000"];
    for more in [&[] as &[&str], &["--pipeline", "10", "--reliable"]] {
        let trusting = [&args[..], &["--ca", "/trust/ca.pem"], more].concat();
        all_well(&client(&["--dir", &trust], peer.address(), &trusting), 300, &format!("{trusting:?}"));
    }
    let reported = client(&[], peer.address(), &[&args[..], &["--reconnect", "0"]].concat());
    assert_eq!(reported.code, 1);
    assert_eq!(counter(&reported, "errors"), 650);
    assert!(reported.stderr.contains("give its authority with --ca"), "{}", reported.stderr);
}

#[test]
fn what_does_not_speak_the_protocol_is_the_error_of_each_operation() {
    let (text, rpc) = (Peer::start(&["cache"]), Peer::start(&["cache-rpc"]));
    for (server, args, words) in [
        (&text, &["--protocol", "rpc"][..], "HTTP/2"),
        (&text, &["--protocol", "rpc", "--reliable"], "HTTP/2"),
        (&text, &["--protocol", "rpc", "--tls"], "no TLS"),
        (&rpc, &["--protocol", "rpc", "--tls"], "no TLS"),
    ] {
        let few = ["--reads", "5", "--writes", "5", "--reconnect", "1"];
        let reported = client(&[], server.address(), &[args, &few].concat());
        assert_eq!(reported.code, 1, "{args:?}");
        let first = errors(&reported.report).into_iter().flatten().find(|why| why.contains(words));
        assert!(first.is_some(), "{args:?}: {}", reported.stderr);
    }
}

#[test]
fn in_a_reliable_session_no_operation_fails_though_connections_are_cut() {
    let peer = Peer::start(&["cache-rpc"]);
    for pipeline in ["1", "10"] {
        let cutter = Cutter::start(peer.address(), 4000, Then::Close);
        let args = ["--protocol", "rpc", "--reads", "300", "--writes", "300", "--pipeline", pipeline];
        let reported = client(&[], &cutter.address(), &[&args[..], &["--reliable"]].concat());
        all_well(&reported, 300, &format!("pipeline {pipeline}"));
        assert!(counter(&reported, "reconnects") > 4, "nothing was cut");

        let reported = client(&[], &cutter.address(), &args);
        assert!(counter(&reported, "errors") > 0, "without a session, what is cut off fails");
        assert_eq!(reported.code, 1);
    }
}

#[test]
fn a_reliable_session_goes_on_over_tls_too() {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    let peer = Peer::start(&["cache-rpc", "--tls", "--ca-file", ca.to_str().unwrap()]);
    let trust = format!("{}::/trust:ro", folder.path().display());
    let cutter = Cutter::start(peer.address(), 4000, Then::Close);
    let args =
        ["--protocol", "rpc", "--reads", "200", "--writes", "200", "--reliable", "--tls", "--ca", "/trust/ca.pem"];
    let reported = client(&["--dir", &trust], &cutter.address(), &args);
    all_well(&reported, 200, "over TLS");
    assert!(counter(&reported, "reconnects") > 4, "nothing was cut");
}

#[test]
fn a_server_that_falls_silent_costs_no_more_than_the_time_limit() {
    let peer = Peer::start(&["cache-rpc"]);
    for reliable in [&[] as &[&str], &["--reliable"]] {
        let cutter = Cutter::start(peer.address(), 4000, Then::Silence);
        let args = ["--protocol", "rpc", "--reads", "200", "--writes", "200", "--timeout", "200ms"];
        let reported = client(&[], &cutter.address(), &[&args[..], reliable].concat());
        let late = errors(&reported.report).into_iter().flatten().filter(|why| why.contains("timed out")).count();
        assert!(late > 0, "{}", reported.stderr);
        assert!(counter(&reported, "hits") > 20, "the run goes on: {}", reported.stdout);
    }
}

#[test]
fn the_native_peer_speaks_every_protocol_of_memcached() {
    let peer = Peer::start(&["cache"]);
    assert!(peer.url.starts_with("tcp://127.0.0.1:"), "{}", peer.url);
    for protocol in ["text", "meta", "binary"] {
        let args = [
            "--protocol",
            protocol,
            "--reads",
            "300",
            "--writes",
            "300",
            "--pipeline",
            "5",
            "--value-size",
            "16-20000",
        ];
        all_well(&client(&[], peer.address(), &args), 300, protocol);
    }
}
