//! Peers that misbehave: that sample's error, in words, and the run goes on.

use crate::support::{HttpPeer, errors, report};

/// Three requests of socket-client against a peer; answers with the errors of the samples.
fn three(peer: &HttpPeer, more: &[&str]) -> Vec<Option<String>> {
    let mut args = vec![peer.url.as_str(), "--requests", "3", "--timeout", "5s"];
    args.extend(more);
    let reported = report(&["--allow", "loopback"], "socket-client", &args);
    let errors = errors(&reported.report);
    assert_eq!(errors.len(), 3, "{}", reported.stderr);
    assert_eq!(reported.code, i32::from(errors.iter().any(Option::is_some)), "{}", reported.stderr);
    errors
}

#[test]
fn a_peer_that_answers_makes_no_error_whatever_the_form_of_the_answer() {
    for options in [
        &[] as &[&str],
        &["--body", "0"],
        &["--body", "3M"],
        &["--chunked"],
        &["--chunked", "--body", "200K"],
        &["--status", "204"],
        &["--status", "304"],
        &["--delay", "20ms"],
    ] {
        let peer = HttpPeer::start(options);
        for more in [&[] as &[&str], &["--keep-alive"], &["--no-delay"], &["--style", "netmf"], &["--linger", "1"]] {
            assert_eq!(three(&peer, more), [None, None, None], "{options:?} {more:?}");
        }
    }
}

#[test]
fn each_fault_of_a_peer_is_the_error_of_each_sample() {
    for (fault, more, words) in [
        ("reset", &[] as &[&str], "reset"),
        ("early-close", &[], "closed after"),
        ("garbage", &[], "not HTTP"),
        ("endless", &["--max-body", "1M"], "receive"),
        ("endless-head", &[], "head"),
        ("silent", &["--timeout", "200ms"], "timed out"),
    ] {
        let peer = HttpPeer::start(&["--fault", fault]);
        for error in three(&peer, more) {
            let error = error.unwrap_or_else(|| panic!("{fault} went well"));
            assert!(error.contains(words), "{fault}: {error}");
        }
    }
}

#[test]
fn a_peer_that_sends_for_ever_costs_no_memory() {
    // So that what is measured is not the compiler.
    three(&HttpPeer::start(&[]), &[]);
    let peer = HttpPeer::start(&["--fault", "endless"]);
    let args = [peer.url.as_str(), "--requests", "2", "--max-body", "64M"];
    let reported = report(&["--allow", "loopback"], "socket-client", &args);
    assert_eq!(errors(&reported.report).iter().flatten().count(), 2, "{}", reported.stderr);
    let received = |connection: &serde_json::Value| connection["received_bytes"].as_u64().unwrap();
    let connections = reported.report["connections"].as_array().unwrap();
    assert!(connections.iter().all(|connection| received(connection) > 64 << 20), "{connections:#?}");
    assert!(reported.peak < 200 << 20, "it took {} bytes", reported.peak);
}

#[test]
fn an_unexpected_status_is_an_error() {
    let peer = HttpPeer::start(&["--status", "404"]);
    assert_eq!(three(&peer, &["--expect-status", "404"]), [None, None, None]);
    for error in three(&peer, &["--expect-status", "200"]) {
        assert!(error.is_some_and(|error| error.contains("404")));
    }
}

#[test]
fn nobody_there_is_refused_and_an_unknown_name_is_unresolvable() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (url, words) in
        [(format!("http://{closed}/"), "connect: connection-refused"), ("http://name.invalid/".into(), "resolve")]
    {
        let args = [url.as_str(), "--requests", "2"];
        let reported = report(&["--allow", "loopback", "--allow", "tcp://name.invalid:80"], "socket-client", &args);
        let errors = errors(&reported.report);
        assert_eq!(errors.len(), 2);
        assert!(errors.iter().flatten().all(|error| error.contains(words)), "{errors:?}");
        assert_eq!(reported.code, 1);
    }
}

#[test]
fn a_certificate_is_verified_with_its_host_name_and_dates() {
    for (certificate, good) in [("good", true), ("expired", false), ("wrong-host", false)] {
        let peer = HttpPeer::start(&["--tls", "--certificate", certificate]);
        let authority = peer.authority.as_ref().unwrap();
        let folder = format!("{}::/ca:ro", authority.parent().unwrap().display());
        let file = format!("/ca/{}", authority.file_name().unwrap().display());
        let args = [peer.url.as_str(), "--requests", "2", "--ca", &file];
        let reported = report(&["--allow", "loopback", "--dir", &folder], "socket-client", &args);
        for error in errors(&reported.report) {
            match error {
                None => assert!(good, "{certificate} went well"),
                Some(error) => assert!(!good && error.starts_with("tls: "), "{certificate}: {error}"),
            }
        }
    }
    // Without the authority nobody vouches for it.
    let peer = HttpPeer::start(&["--tls"]);
    for error in three(&peer, &[]) {
        assert!(error.is_some_and(|error| error.starts_with("tls: ")));
    }
}

#[test]
fn a_request_s_phases_are_in_their_order_and_within_its_time() {
    let peer = HttpPeer::start(&[]);
    let url = peer.url.replace("127.0.0.1", "localhost");
    let reported = report(&["--allow", "loopback"], "socket-client", &[&url, "--requests", "4"]);
    for sample in reported.report["samples"].as_array().unwrap() {
        let phases = sample["phases"].as_array().unwrap();
        let names: Vec<_> = phases.iter().map(|phase| phase["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["resolve", "connect", "send", "wait", "receive", "close"]);
        let sum: u64 = phases.iter().map(|phase| phase["duration_ns"].as_u64().unwrap()).sum();
        assert!(sum <= sample["duration_ns"].as_u64().unwrap());
    }
    assert_eq!(reported.report["lookups"].as_array().unwrap().len(), 4);
}
