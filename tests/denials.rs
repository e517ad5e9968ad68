//! Nothing is allowed unless a rule says so, and a denial is told once, as the rule that would allow it.

use std::net::{IpAddr, TcpListener, UdpSocket};

use crate::support::{Finished, guest, report, run, wrun};

/// Runs the probe under these rules.
fn dial(rules: &[&str], asked: &[&str]) -> Finished {
    let rules = rules.iter().flat_map(|rule| ["--allow", rule]);
    run(wrun().arg("-q").args(rules).arg(guest("dial")).arg("--").args(asked))
}

#[test]
fn without_rules_a_guest_reaches_nothing_and_the_user_is_told_how() {
    let uses = [
        "tcp://127.0.0.1:1",
        "udp://127.0.0.1:1",
        "listen://127.0.0.1:0",
        "bind://127.0.0.1:53530",
        "join://239.1.2.3",
        "localhost",
    ];
    let reported = report(&["-q"], "dial", &uses);
    for line in uses.map(|asked| format!("{asked} -> access-denied")) {
        assert!(reported.stdout.contains(&line), "{line} is not in:\n{}", reported.stdout);
    }
    let denials = reported.report["denials"].as_array().unwrap();
    let rules: Vec<_> = denials.iter().map(|denial| denial["rule"].as_str().unwrap().to_owned()).collect();
    for rule in &rules {
        assert_eq!(reported.stderr.matches(&format!("--allow {rule}\n")).count(), 1, "{}", reported.stderr);
    }
    // And with the rules it was told, the same guest is denied nothing.
    let options: Vec<_> = rules.iter().flat_map(|rule| ["--allow", rule]).collect();
    let again = report(&options, "dial", &uses);
    assert!(!again.stdout.contains("access-denied"), "{}", again.stdout);
    assert_eq!(again.report["denials"], serde_json::json!([]));
}

#[test]
fn a_rule_allows_its_port_and_no_other() {
    let (allowed, other) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = |listener: &TcpListener| format!("tcp://{}", listener.local_addr().unwrap());
    let (allowed, other) = (address(&allowed), address(&other));
    let dialled = run(wrun().args(["-q", "--allow", &allowed]).arg(guest("dial")).args(["--", &allowed, &other]));
    assert_eq!(dialled.stdout, format!("{allowed} -> ok\n{other} -> access-denied\n"));
    assert_eq!(dialled.stderr, format!("wrun: denied: connect to {}; to allow it: --allow {other}\n", &other[6..]));
}

#[test]
fn an_allowed_name_allows_the_addresses_it_has() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let rule = format!("tcp://localhost:{port}");
    let asked = ["localhost".to_owned(), format!("tcp://127.0.0.1:{port}")];
    let dialled = run(wrun().args(["-q", "--allow", &rule]).arg(guest("dial")).arg("--").args(&asked));
    assert_eq!(dialled.stdout, format!("{} -> ok\n{} -> ok\n", asked[0], asked[1]), "{}", dialled.stderr);
}

#[test]
fn a_client_hears_only_whom_it_may_send_to() {
    let (friend, stranger) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    // The probe asks the friend and waits for an answer; the stranger is first to send one.
    let rule = format!("udp://{}", friend.local_addr().unwrap());
    // A probe that asks nobody must not leave the test waiting.
    friend.set_read_timeout(Some(std::time::Duration::from_secs(30))).unwrap();
    let answer = std::thread::spawn(move || {
        let mut buffer = [0; 16];
        let (_, asker) = friend.recv_from(&mut buffer).unwrap();
        stranger.send_to(b"stranger", asker).unwrap();
        friend.send_to(b"friend", asker).unwrap();
    });
    let dialled =
        run(wrun().args(["-q", "--allow", &rule]).arg(guest("dial")).args(["--", &rule.replace("udp", "ask")]));
    answer.join().unwrap();
    assert!(dialled.stdout.contains("-> friend"), "{}{}", dialled.stdout, dialled.stderr);
    assert!(dialled.stderr.contains("--allow udp-bind://"), "{}", dialled.stderr);
}

#[test]
fn each_way_to_an_address_is_denied_by_itself() {
    // A neighbour of each is allowed, so that it is not for want of any rule.
    for (rule, asked, wanted) in [
        ("udp://127.0.0.1:7", "peer://127.0.0.1:9", "udp://127.0.0.1:9"),
        ("tcp://127.0.0.1:9", "peer://127.0.0.1:9", "udp://127.0.0.1:9"),
        ("tcp://[::1]:7", "tcp://[::1]:9", "tcp://[::1]:9"),
        ("tcp://127.0.0.0/8:9", "tcp://[::1]:9", "tcp://[::1]:9"),
        ("udp://[fd00::/8]:9", "udp://[::1]:9", "udp://[::1]:9"),
        // The system does not choose such ports.
        ("tcp-listen://127.0.0.1:1-1023", "listen://127.0.0.1:0", "tcp-listen://127.0.0.1:0"),
        ("tcp-listen://*:8080", "example.invalid", "tcp://example.invalid:*"),
        ("udp-bind://*:8080", "example.invalid", "tcp://example.invalid:*"),
        ("loopback", "box.localhost", "tcp://box.localhost:*"),
    ] {
        let dialled = dial(&[rule], &[asked]);
        assert_eq!(dialled.stdout, format!("{asked} -> access-denied\n"), "under {rule}: {}", dialled.stderr);
        let told = format!("--allow {wanted}\n");
        assert!(dialled.stderr.ends_with(&told), "{told} is not the end of: {}", dialled.stderr);
    }
    assert_eq!(dial(&["udp://127.0.0.1:9"], &["peer://127.0.0.1:9"]).stdout, "peer://127.0.0.1:9 -> ok\n");
    let listened = dial(&["tcp-listen://127.0.0.1:1024-65535"], &["listen://127.0.0.1:0"]);
    assert_eq!(listened.stdout, "listen://127.0.0.1:0 -> ok\n", "{}", listened.stderr);
}

/// An address of this machine with two names, of which the first is not `localhost`, if its table of hosts has one.
fn two_names() -> Option<(IpAddr, String, String)> {
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let mut names: Vec<(IpAddr, String)> = Vec::new();
    for line in hosts.lines() {
        let mut words = line.split('#').next()?.split_whitespace();
        let Some(Ok(address)) = words.next().map(str::parse::<IpAddr>) else { continue };
        names.extend(words.map(|name| (address, name.to_owned())));
    }
    let (address, one) = names.iter().rev().find(|(address, name)| address.is_loopback() && name != "localhost")?;
    let (_, other) = names.iter().find(|(known, name)| known == address && name != one)?;
    Some((*address, one.clone(), other.clone()))
}

#[test]
fn an_address_with_two_allowed_names_is_allowed_by_either() {
    let Some((address, one, other)) = two_names() else {
        eprintln!("SKIPPED: no address of this machine has two names");
        return;
    };
    let listen = || TcpListener::bind((address, 0)).unwrap();
    let (first, second) = (listen(), listen());
    let remote = |listener: &TcpListener| format!("tcp://{}", listener.local_addr().unwrap());
    let rule = |name: &str, listener: &TcpListener| format!("tcp://{name}:{}", listener.local_addr().unwrap().port());
    let asked = [one.clone(), other.clone(), remote(&first), remote(&second)];
    let dialled = dial(&[&rule(&one, &first), &rule(&other, &second)], &asked.each_ref().map(String::as_str));
    let expected: String = asked.iter().map(|asked| format!("{asked} -> ok\n")).collect();
    assert_eq!(dialled.stdout, expected, "{one} and {other}: {}", dialled.stderr);
}
