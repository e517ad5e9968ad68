//! How socket-client's connections end: in time, without a reset, and the kept one too.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use crate::support::{HttpPeer, errors, report};

/// Serves one connection: answers each request with all or a part of five bytes, and then waits for the client's end.
/// Says how many requests came, and whether the end was one rather than a cut.
fn server(body: &'static str) -> (String, JoinHandle<(usize, bool)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut requests = 0;
        loop {
            match read_head(&mut stream) {
                Ok(true) => requests += 1,
                end => return (requests, end.is_ok()),
            }
            stream.write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{body}").as_bytes()).unwrap();
        }
    });
    (url, server)
}

/// Reads to the end of a head; false at the end of the stream.
fn read_head(stream: &mut TcpStream) -> std::io::Result<bool> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 {
            return Ok(false);
        }
        head.extend(byte);
    }
    Ok(true)
}

#[test]
fn a_kept_connection_is_closed_at_the_end_of_the_run() {
    let (url, server) = server("hello");
    let reported = report(&["--allow", "loopback"], "socket-client", &[&url, "--requests", "3", "--keep-alive"]);
    assert_eq!(reported.code, 0, "{}", reported.stderr);
    assert_eq!(server.join().unwrap(), (3, true));
    assert_eq!(reported.report["counters"]["close-background"], 1);
}

#[test]
fn netmf_takes_silence_for_the_end_of_a_complete_answer_and_of_no_other() {
    for (body, error) in [("hello", None), ("hel", Some("receive: timed out after 1s".to_owned()))] {
        let (url, server) = server(body);
        let args = [url.as_str(), "--requests", "1", "--style", "netmf", "--timeout", "1s"];
        let reported = report(&["--allow", "loopback"], "socket-client", &args);
        assert_eq!(errors(&reported.report), [error]);
        assert!(reported.stdout.starts_with("1 request, "), "{}", reported.stdout);
        assert_eq!(server.join().unwrap().0, 1);
    }
}

#[test]
fn a_tls_connection_ends_without_a_reset_kept_or_not() {
    let peer = HttpPeer::start(&["--tls"]);
    let authority = peer.authority.as_ref().unwrap();
    let folder = format!("{}::/ca:ro", authority.parent().unwrap().display());
    let file = format!("/ca/{}", authority.file_name().unwrap().display());
    for (more, closes) in [(None, 5), (Some("--keep-alive"), 1)] {
        let mut args = vec![peer.url.as_str(), "--requests", "5", "--ca", &file, "--linger", "30"];
        args.extend(more);
        let reported = report(&["--allow", "loopback", "--dir", &folder], "socket-client", &args);
        assert_eq!(reported.code, 0, "{}", reported.stderr);
        assert_eq!(reported.report["counters"]["close-acknowledged"], closes, "{}", reported.report["counters"]);
    }
}
