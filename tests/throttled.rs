//! Impaired sockets from outside, and runs on several backends: what was set is what comes, is in the report, and can be
//! had again.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Finished, HttpPeer, Running, guest, report, run, wrun};

/// Stalls that take no time worth speaking of, and differ from draw to draw.
const STALLS: &str = "[stall]\nanswer = [{ weight = 1, from = \"1 ms\", to = \"30 ms\" }]\n";

/// A profile in a file of a folder that goes with the test.
fn profile(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.toml");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// The client on sockets that are impaired so.
fn throttled(profile: &str, seed: &str, url: &str) -> Value {
    let options = ["--allow", "loopback", "--backend", "throttled", "--profile", profile, "--seed", seed];
    let reported = report(&options, "socket-client", &[url, "--requests", "6"]);
    assert_eq!(reported.code, 0, "{}", reported.stderr);
    reported.report
}

fn stalled(report: &Value) -> u64 {
    let quirks = report["throttle"]["quirks"].as_array().unwrap();
    let stalls = quirks.iter().find(|quirk| quirk["name"] == "answer-stalls").unwrap();
    assert_eq!(stalls["count"], 6);
    stalls["total_ns"].as_u64().unwrap()
}

#[test]
fn the_same_seed_draws_the_same_stalls_and_another_draws_others() {
    let peer = HttpPeer::start(&[]);
    let (_folder, path) = profile(STALLS);
    let path = path.to_str().unwrap();
    let [first, again, other] = ["7", "7", "8"].map(|seed| throttled(path, seed, &peer.url));
    assert_eq!((&first["header"]["seed"], &other["header"]["seed"]), (&7.into(), &8.into()));
    assert_eq!(stalled(&first), stalled(&again));
    assert_ne!(stalled(&first), stalled(&other));
}

#[test]
fn a_seed_that_was_not_given_is_in_the_report_and_can_be_used_again() {
    let peer = HttpPeer::start(&[]);
    let (_folder, path) = profile(STALLS);
    let path = path.to_str().unwrap();
    let options = ["--allow", "loopback", "--backend", "throttled", "--profile", path];
    let first = report(&options, "socket-client", &[&peer.url, "--requests", "6"]).report;
    let seed = first["header"]["seed"].as_u64().unwrap().to_string();
    assert_eq!(stalled(&throttled(path, &seed, &peer.url)), stalled(&first));
}

#[test]
fn the_report_holds_what_was_set_and_what_was_achieved_and_the_profile_to_run_again() {
    let peer = HttpPeer::start(&[]);
    let (_folder, path) = profile("[up]\ndelay = \"3 ms\"\n[down]\ndelay = \"5 ms\"\nrate = \"1 MB/s\"\n");
    let reported = throttled(path.to_str().unwrap(), "1", &peer.url);
    let paths = reported["throttle"]["paths"].as_array().unwrap();
    let down = paths.iter().find(|path| path["way"] == "down").unwrap();
    assert_eq!(down["configured"][0]["delay_ns"], 5_000_000);
    assert_eq!(down["configured"][0]["rate_bytes"], 1_000_000);
    assert!(down["achieved"]["median_delay_ns"].as_u64().unwrap() >= 5_000_000);
    assert!(down["achieved"]["bytes"].as_u64().unwrap() > 6 * 1024);
    let (_folder, copy) = profile(reported["throttle"]["profile"].as_str().unwrap());
    let again = throttled(copy.to_str().unwrap(), "1", &peer.url);
    assert_eq!(again["throttle"]["paths"][0]["configured"], paths[0]["configured"]);
    // Each way, of connect, request and answer, is in the request's time.
    let samples = reported["samples"].as_array().unwrap();
    assert!(samples.iter().all(|sample| sample["duration_ns"].as_u64().unwrap() >= 16_000_000), "{samples:?}");
}

#[test]
fn an_empty_profile_changes_no_count_of_the_report() {
    let peer = HttpPeer::start(&[]);
    let plain = report(&["--allow", "loopback"], "socket-client", &[&peer.url, "--requests", "6"]).report;
    let empty = throttled("none", "1", &peer.url);
    let connections = [&plain, &empty].map(|report| report["connections"].as_array().unwrap());
    assert_eq!(connections.map(Vec::len), [6, 6]);
    for (plain, empty) in connections[0].iter().zip(connections[1]) {
        for field in ["role", "sent_bytes", "received_bytes", "sends", "receives", "end", "error"] {
            assert_eq!(plain[field], empty[field], "{field}");
        }
    }
    assert_eq!(empty["throttle"]["paths"], serde_json::json!([]));
}

#[test]
fn a_guest_on_a_board_with_a_coarse_clock_sees_only_its_ticks() {
    let server = wrun_peers_echo();
    let (_folder, path) = profile("[up]\ndelay = \"3 ms\"\n[board]\ntick = \"10 ms\"\n");
    let finished = run(wrun()
        .args(["--quiet", "--allow", "loopback", "--backend", "throttled", "--profile"])
        .arg(&path)
        .arg(guest("echo"))
        .args(["--", "tcp", &server.0, "50"]));
    let total = figure(&finished.stdout, "total_ns");
    assert!(total >= 140_000_000 && total.is_multiple_of(10_000_000), "{}", finished.stdout);
}

/// An echo server of this process, which ends with it; and its address.
fn wrun_peers_echo() -> (String, std::thread::JoinHandle<()>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = stream.try_clone().unwrap();
        // Until the guest has closed.
        _ = std::io::copy(&mut reader, &mut stream);
    });
    (address, serving)
}

/// The client on this machine's sockets and on stalled ones.
fn compared(url: &str, profile: &Path, options: &[&str]) -> Finished {
    let mut command = wrun();
    command.args(["--allow", "loopback", "--backend", "native", "--backend", "throttled", "--seed", "3", "--profile"]);
    command.arg(profile).args(options).arg(guest("socket-client"));
    run(command.args(["--", url, "--requests", "8"]))
}

#[test]
fn several_backends_are_run_in_rounds_and_compared_and_each_leaves_its_report() {
    let peer = HttpPeer::start(&[]);
    let (folder, path) = profile("[both]\ndelay = \"10 ms\"\n");
    let to = folder.path().join("run.json");
    let finished = compared(&peer.url, &path, &["--rounds", "2", "--report", to.to_str().unwrap(), "--format", "json"]);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let comparison: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(comparison["against_base"][0]["verdict"], "slower", "{comparison}");
    assert_eq!(comparison["against_base"][0]["label"], "throttled test");
    for file in ["run.1-native.json", "run.2-throttled-test.json"] {
        let report: Value = serde_json::from_slice(&std::fs::read(folder.path().join(file)).unwrap()).unwrap();
        assert_eq!((&report["rounds"], report["samples"].as_array().unwrap().len()), (&2.into(), 16), "{file}");
    }
    assert!(finished.stderr.contains("round 2 of 2"), "{}", finished.stderr);
    let again = run(wrun()
        .arg("compare")
        .args(["run.1-native.json", "run.2-throttled-test.json"].map(|file| folder.path().join(file))));
    assert!(again.stdout.contains("slower"), "{}", again.stdout);
}

#[test]
fn a_condition_of_a_run_ends_it_with_code_3_and_its_chart_is_drawn_before() {
    let peer = HttpPeer::start(&[]);
    let (folder, path) = profile("[both]\ndelay = \"10 ms\"\n");
    let chart = folder.path().join("chart.svg");
    let options = ["--fail-if", "request.median > 2x", "--chart", chart.to_str().unwrap(), "--quiet"];
    let finished = compared(&peer.url, &path, &options);
    assert_eq!(finished.code, 3, "{}", finished.stderr);
    // Quiet, it is all that is said.
    assert!(
        finished.stderr.starts_with("wrun: --fail-if 'request.median > 2x', throttled test: FAILED: "),
        "{}",
        finished.stderr
    );
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    assert!(std::fs::read_to_string(chart).unwrap().contains("throttled test"));
    let finished = compared(&peer.url, &path, &["--fail-if", "request.errors > 0"]);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
}

#[test]
fn a_condition_that_names_nothing_ends_a_series_after_its_first_run_which_is_kept() {
    let peer = HttpPeer::start(&[]);
    let (folder, path) = profile("");
    let to = folder.path().join("run.json");
    let finished = compared(&peer.url, &path, &["--fail-if", "reqest.median > 2x", "--report", to.to_str().unwrap()]);
    assert_eq!(finished.code, 2, "{}", finished.stderr);
    assert!(finished.stderr.contains("did you mean request?"), "{}", finished.stderr);
    assert_eq!(finished.stderr.matches("--fail-if").count(), 1, "{}", finished.stderr);
    assert!(folder.path().join("run.1-native.json").exists());
    assert!(!folder.path().join("run.2-throttled-test.json").exists(), "the second run was begun");
}

#[test]
fn a_condition_of_one_run_is_told_once_behind_its_report() {
    let peer = HttpPeer::start(&[]);
    let once = |options: &[&str]| {
        let options = [&["--allow", "loopback", "--fail-if", "request.n < 100"], options].concat();
        run(wrun().args(options).arg(guest("socket-client")).args(["--", &peer.url, "--requests", "8"]))
    };
    let told = once(&[]);
    assert_eq!(told.code, 3, "{}", told.stderr);
    assert_eq!(told.stderr.matches("\u{b7} connect").count(), 1, "{}", told.stderr);
    assert!(!told.stderr.contains("\n\n\n"), "{}", told.stderr);
    assert!(told.stderr.ends_with("\n\nfail-if  request.n < 100, native: FAILED: it is 8\n"), "{}", told.stderr);
    let quiet = once(&["--quiet"]);
    assert_eq!((quiet.code, &*quiet.stderr), (3, "wrun: --fail-if 'request.n < 100', native: FAILED: it is 8\n"));
    let well = once(&["--quiet", "--fail-if", "request.errors > 0"]);
    assert_eq!(well.stderr, quiet.stderr, "a condition that passed is not told");
}

#[test]
fn a_signal_ends_the_whole_series_and_what_was_measured_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("run.json");
    let mut running = Running::start(
        wrun()
            .args(["--backend", "native", "--backend", "throttled", "--profile", "none", "--report"])
            .arg(&to)
            .arg(guest("spin"))
            .stderr(Stdio::null()),
    );
    running.line();
    running.signal(Signal::INT);
    assert_eq!(running.wait().code(), Some(130));
    let report: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("run.1-native.json")).unwrap()).unwrap();
    assert_eq!(report["outcome"]["family"], "interrupted");
    assert!(!folder.path().join("run.2-throttled-none.json").exists());
}

#[test]
fn what_a_guest_has_sent_on_a_slow_link_arrives_though_the_guest_has_ended() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let received = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::copy(&mut stream, &mut std::io::sink()).unwrap()
    });
    let (_folder, path) = profile("[up]\ndelay = \"100 ms\"\nrate = \"1 MB/s\"\n");
    let finished = run(wrun()
        .args(["--quiet", "--allow", "loopback", "--backend", "throttled", "--profile"])
        .arg(&path)
        .arg(guest("bulk"))
        .args(["--", &address, "200000"]));
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert_eq!(received.join().unwrap(), 200_000);
}

/// A probe on sockets that are impaired so, with what it printed.
fn probe(profile: &Path, name: &str, args: &[&str]) -> crate::support::Reported {
    let profile = profile.to_str().unwrap();
    let options = ["--quiet", "--allow", "loopback", "--backend", "throttled", "--seed", "5", "--profile", profile];
    let reported = report(&options, name, args);
    assert_eq!(reported.code, 0, "{}", reported.stderr);
    reported
}

fn figure(said: &str, name: &str) -> u64 {
    let value = said.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name} in {said:?}"))
}

#[test]
fn several_sockets_together_send_no_faster_than_the_rate_of_their_link() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || std::io::copy(&mut stream?, &mut std::io::sink()));
        }
    });
    let (_folder, path) = profile("[up]\nrate = \"1 MB/s\"\n");
    let said = probe(&path, "rate", &[&address, "300000", "1000", "3"]).stdout;
    // Never faster; how much slower is for the machine to say.
    assert!(figure(&said, "total_ns") >= 290_000_000, "{said}");
}

#[test]
fn datagrams_that_are_delayed_all_arrive_and_none_before_its_time() {
    let (_folder, path) = profile("[up]\ndelay = \"20 ms\"\n");
    let reported = probe(&path, "datagrams", &["200", "10"]);
    assert!(figure(&reported.stdout, "min_ns") >= 20_000_000, "{}", reported.stdout);
    assert_eq!(reported.report["throttle"]["paths"][0]["achieved"]["count"], 200);
}

#[test]
fn datagrams_sent_at_once_are_all_late_by_the_delay_and_not_by_each_other_s() {
    const COUNT: u32 = 200;
    let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    let control = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addresses = (datagrams.local_addr().unwrap().to_string(), control.local_addr().unwrap().to_string());
    let receiving = std::thread::spawn(move || {
        let start = std::time::Instant::now();
        let now = || start.elapsed().as_nanos() as u64;
        let (mut stream, _) = control.accept().unwrap();
        let mut asked = [0];
        stream.read_exact(&mut asked).unwrap();
        while asked == *b"?" {
            stream.write_all(&now().to_le_bytes()).unwrap();
            stream.read_exact(&mut asked).unwrap();
        }
        let mut count = [0; 4];
        stream.read_exact(&mut count).unwrap();
        assert_eq!(u32::from_le_bytes(count), COUNT);
        let mut sent = [0; 8];
        (0..COUNT)
            .map(|_| {
                datagrams.recv(&mut sent).unwrap();
                now().saturating_sub(u64::from_le_bytes(sent))
            })
            .collect::<Vec<_>>()
    });
    let (_folder, path) =
        profile("[[rule]]\nname = \"udp\"\nmatch = { protocol = \"udp\" }\n[rule.up]\ndelay = \"300 ms\"\n");
    probe(&path, "salvo", &[&addresses.0, &addresses.1, &COUNT.to_string()]);
    let times = receiving.join().unwrap();
    // The clocks are compared to within half a round trip of the control connection.
    let early = times.iter().filter(|time| **time < 290_000_000).count();
    assert_eq!(early, 0, "{times:?}");
    // One after the other they would take a minute.
    assert!(times.iter().all(|time| *time < 10_000_000_000), "{times:?}");
}

#[test]
fn the_same_seed_loses_the_same_datagrams() {
    let received = || {
        let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        datagrams.set_nonblocking(true).unwrap();
        let control = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let addresses = (datagrams.local_addr().unwrap().to_string(), control.local_addr().unwrap().to_string());
        let receiving = std::thread::spawn(move || {
            let (mut stream, _) = control.accept().unwrap();
            let (mut asked, mut number, mut numbers) = ([0], [0; 4], std::collections::BTreeSet::new());
            while stream.read_exact(&mut asked).is_ok() {
                while datagrams.recv(&mut number).is_ok() {
                    numbers.insert(u32::from_le_bytes(number));
                }
                if asked != *b"?" {
                    break;
                }
                stream.write_all(b".").unwrap();
            }
            numbers
        });
        let rule = "[[rule]]\nname = \"udp\"\nmatch = { protocol = \"udp\" }\n[rule.up]\nloss = \"30 %\"\n";
        let (_folder, path) = profile(rule);
        probe(&path, "numbered", &[&addresses.0, &addresses.1, "1000"]);
        receiving.join().unwrap()
    };
    let first = received();
    assert!((600..800).contains(&first.len()), "{}", first.len());
    assert_eq!(received(), first);
}

#[test]
fn what_does_not_go_together_is_refused_before_anything_runs() {
    let asked: &[&[&str]] = &[
        &["--profile", "lan", "g.wasm"],
        &["--seed", "1", "g.wasm"],
        &["--backend", "throttled", "g.wasm"],
        &["--backend", "throttled", "--profile", "lann", "g.wasm"],
        &["--backend", "throttled", "--profile", "lan", "--profile", "dsl", "g.wasm"],
        &["--backend", "native", "--backend", "throttled", "--profile", "lan", "--report", "-", "g.wasm"],
        &["--rounds", "0", "g.wasm"],
        &["--format", "json", "g.wasm"],
        &["--chart", "chart.bmp", "g.wasm"],
        &["--fail-if", "request.median >", "g.wasm"],
        &["--fail-if", "request.median > 2x", "g.wasm"],
        &["--threshold", "10%", "g.wasm"],
        &["compare", "--quiet", "--format", "json", "a.json", "b.json"],
        &["compare", "--threshold", "-5", "a.json", "b.json"],
    ];
    let mut said = String::new();
    for args in asked {
        let finished = run(wrun().args(*args));
        assert_eq!(finished.code, 2, "{args:?}: {}", finished.stderr);
        assert_eq!(finished.stdout, "");
        said += &format!("$ wrun {}\n{}\n", args.join(" "), finished.stderr);
    }
    insta::assert_snapshot!(said);
}
