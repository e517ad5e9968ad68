//! Bytes and datagrams get through whole, each way, between guests and programs of this machine.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::process::Stdio;
use std::time::Duration;

use wrun_peers::Echo;

use crate::support::{Running, guest, report, run, wrun};

#[test]
fn a_guest_s_echoes_come_back_over_tcp_and_udp_and_both_families() {
    for ip in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
        for (protocol, echo) in [("tcp", Echo::tcp(ip).unwrap()), ("udp", Echo::udp(ip).unwrap())] {
            let address = echo.address().to_string();
            let reported = report(&["--allow", "loopback"], "echo", &[protocol, &address, "200"]);
            assert_eq!(reported.code, 0, "{protocol} {ip}: {}", reported.stderr);
            assert!(reported.stdout.contains("p50_ns="), "{}", reported.stdout);
            let socket = &reported.report["connections"][0];
            assert_eq!((&socket["sent_bytes"], &socket["received_bytes"]), (&200.into(), &200.into()), "{socket:#}");
        }
    }
}

/// A host that looks at the network only when its guest waits, or when its timer comes round, answers such a guest after
/// ten milliseconds: a thousand times what an echo takes, so a bound between the two is no matter of the machine.
#[test]
fn a_guest_that_asks_again_and_again_instead_of_waiting_is_answered_as_well() {
    let echo = Echo::tcp(Ipv4Addr::LOCALHOST.into()).unwrap();
    for how in ["read", "ready", "poll"] {
        let args = [how, &echo.address().to_string(), "200"];
        let spun = run(wrun().args(["-q", "--allow", "loopback"]).arg(guest("spin-echo")).arg("--").args(args));
        assert_eq!(spun.code, 0, "{how}: {}", spun.stderr);
        let p50: u64 = spun.stdout.trim().strip_prefix("p50_ns=").unwrap().parse().unwrap();
        assert!(p50 < 5_000_000, "{how}: {p50} ns");
    }
}

#[test]
fn a_guest_can_have_a_thousand_connections_open_at_once() {
    let echo = Echo::tcp(Ipv4Addr::LOCALHOST.into()).unwrap();
    let reported = report(&["--allow", "loopback"], "many", &[&echo.address().to_string(), "1000"]);
    assert_eq!(reported.code, 0, "{}", reported.stderr);
    let connections = reported.report["connections"].as_array().unwrap();
    assert_eq!(connections.len(), 1000);
    assert!(connections.iter().all(|one| one["sent_bytes"] == 1 && one["received_bytes"] == 1));
}

#[test]
fn bulk_arrives_whole() {
    const BYTES: u64 = 50_000_000;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let sink = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::copy(&mut stream, &mut std::io::sink()).unwrap()
    });
    let reported = report(&["--allow", "loopback"], "bulk", &[&address, &BYTES.to_string()]);
    assert_eq!(reported.code, 0, "{}", reported.stderr);
    assert_eq!(sink.join().unwrap(), BYTES);
    assert_eq!(reported.report["connections"][0]["sent_bytes"], BYTES);
}

#[test]
fn a_guest_serves_whoever_comes_over_tcp_and_udp() {
    let mut server = Running::start(
        wrun()
            .args(["-q", "--allow", "loopback"])
            .arg(guest("echo-server"))
            .args(["--", "127.0.0.1:0"])
            .stderr(Stdio::null()),
    );
    let address = server.line();
    let mut answer = [0; 5];
    for _ in 0..3 {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(b"hello").unwrap();
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"hello");
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        socket.send_to(b"again", &address).unwrap();
        assert_eq!(socket.recv(&mut answer).unwrap(), 5);
        assert_eq!(&answer, b"again");
    }
}

#[test]
fn a_guest_that_asks_for_nothing_of_ours_imports_nothing_of_ours() {
    let checked = run(wrun().arg("check").arg(guest("nothing")));
    assert!(!checked.stdout.contains("wrun:net") && !checked.stdout.contains("wasi:sockets"), "{}", checked.stdout);
}
