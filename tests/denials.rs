//! Nothing is allowed unless a rule says so, and a denial is told once, as the rule that would allow it.

use std::net::{TcpListener, UdpSocket};

use crate::support::{guest, report, run, wrun};

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
