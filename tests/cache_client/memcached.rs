//! Against real memcached.

use std::process::Command;

use super::{client, counter};
use crate::real_peers::{Ended, free_port, start};
use crate::support::has;

/// memcached on a free port.
fn memcached() -> (u16, Ended) {
    let port = free_port();
    let mut command = Command::new("memcached");
    command.args(["-l", "127.0.0.1", "-p", &port.to_string(), "-U", "0", "-t", "1"]);
    if rustix::process::geteuid().is_root() {
        command.args(["-u", "root"]);
    }
    (port, start(&mut command, port))
}

#[test]
fn every_protocol_reads_from_memcached_what_it_wrote_there() {
    if !has("memcached") {
        return;
    }
    for protocol in ["text", "meta", "binary"] {
        for more in [
            &["--value-size", "16-5000"][..],
            &["--mode", "one-at-a-time"],
            &["--pipeline", "10", "--distribution", "zipf", "--no-delay"],
            // Values that no socket takes in one piece.
            &["--value-size", "900K", "--reads", "30", "--writes", "30", "--keys", "9", "--connections", "2"],
            &["--rate", "20000"],
        ] {
            let (port, _server) = memcached();
            let servers = format!("127.0.0.1:{port}");
            let usual = ["--servers", &servers, "--protocol", protocol, "--preload", "--verify", "--keys", "300"];
            let reported = client(&[&usual[..], &["--reads", "1000", "--writes", "1000"], more].concat());
            assert_eq!(reported.code, 0, "{protocol} {more:?}: {}", reported.stderr);
            let reads = if more.contains(&"900K") { 30 } else { 1000 };
            assert_eq!(counter(&reported, "hits"), reads, "{protocol} {more:?}");
            for none in ["misses", "errors", "retries", "reconnects"] {
                assert_eq!(counter(&reported, none), 0, "{none} {protocol} {more:?}");
            }
            let samples = reported.report["samples"].as_array().unwrap();
            let named = |name: &str| samples.iter().filter(|sample| sample["name"] == name).count() as u64;
            assert_eq!((named("get"), named("set"), named("preload")), (reads, reads, 1));
            let connections = reported.report["connections"].as_array().unwrap().iter();
            let bytes = |direction: &str| connections.clone().map(|one| one[direction].as_u64().unwrap()).sum::<u64>();
            assert_eq!(counter(&reported, "bytes-sent"), bytes("sent_bytes"));
            assert_eq!(counter(&reported, "bytes-received"), bytes("received_bytes"));
        }
    }
}

#[test]
fn what_was_never_written_or_has_expired_is_a_miss_and_no_error() {
    if !has("memcached") {
        return;
    }
    let (port, _server) = memcached();
    let servers = format!("127.0.0.1:{port}");
    for protocol in ["text", "meta", "binary"] {
        let usual = ["--servers", &servers, "--protocol", protocol, "--reads", "200"];
        let reported = client(&[&usual[..], &["--writes", "0"]].concat());
        assert_eq!((reported.code, counter(&reported, "misses")), (0, 200), "{protocol}: {}", reported.stderr);
        let reported = client(&[&usual[..], &["--preload", "--writes", "0", "--expiry=-1", "--keys", "50"]].concat());
        assert_eq!((reported.code, counter(&reported, "misses")), (0, 200), "{protocol}: {}", reported.stderr);
    }
}

#[test]
fn keys_are_on_the_server_that_ketama_says_and_on_no_other() {
    if !has("memcached") {
        return;
    }
    let (ports, _servers): (Vec<_>, Vec<_>) = (0..3).map(|_| memcached()).unzip();
    let servers: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let servers = servers.join(",");
    let usual = ["--servers", &servers, "--keys", "300", "--preload", "--verify", "--connections", "2"];
    let reported = client(&[&usual[..], &["--reads", "1000", "--writes", "1000"]].concat());
    assert_eq!((reported.code, counter(&reported, "hits")), (0, 1000), "{}", reported.stderr);
    // Each holds some, and all of them together each key once.
    let held: Vec<usize> = ports.iter().map(|port| items(*port)).collect();
    assert_eq!(held.iter().sum::<usize>(), 300, "{held:?}");
    assert!(held.iter().all(|items| *items > 30), "{held:?}");
}

/// How many items a memcached holds.
fn items(port: u16) -> usize {
    use std::io::{BufRead, BufReader, Write};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"stats\r\nquit\r\n").unwrap();
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let found = lines.filter_map(|line| line.strip_prefix("STAT curr_items ")?.parse().ok()).next();
    found.expect("memcached counts its items")
}
