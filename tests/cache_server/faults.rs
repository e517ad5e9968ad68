//! Requests that are none, and clients that do not do their part.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use super::{CacheServer, Memcached, answers, connect, rest, text};

/// A value of 1000 bytes, and the line before it.
fn set(key: &str, length: usize) -> Vec<u8> {
    [format!("set {key} 0 0 {length}\r\n").as_bytes(), &vec![b'v'; length], b"\r\n"].concat()
}

/// A binary header, with these lengths of extras, key and body.
fn header(opcode: u8, extras: u8, key: u16, body: u32) -> Vec<u8> {
    let [key_high, key_low] = key.to_be_bytes();
    [&[0x80, opcode, key_high, key_low, extras, 0, 0, 0][..], &body.to_be_bytes(), &[0; 12]].concat()
}

/// The longest that an answer takes until there are so many connections, that of who asks included.
fn longest_wait_until(server: &CacheServer, connections: usize) -> Duration {
    let wanted = format!("STAT curr_connections {connections}\r\n");
    let mut stream = server.connect();
    let mut longest = Duration::ZERO;
    for _ in 0..2000 {
        let asked = Instant::now();
        stream.write_all(b"stats\r\n").unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"END\r\n") {
            let mut piece = [0; 4096];
            let size = stream.read(&mut piece).unwrap();
            assert!(size > 0, "closed before it had answered");
            answer.extend_from_slice(&piece[..size]);
        }
        longest = longest.max(asked.elapsed());
        if text(&answer).contains(&wanted) {
            return longest;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("there never are {connections} connections");
}

/// A host waits 5 seconds for a client that does not read when its connection is only dropped.
const HOLD_UP: Duration = Duration::from_secs(2);

/// Whether there are so many connections at some time, that of who asks included.
fn comes_down_to(server: &CacheServer, connections: usize) -> bool {
    let wanted = format!("STAT curr_connections {connections}\r\n");
    (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        text(&answers(server.address, b"stats\r\n")).contains(&wanted)
    })
}

#[test]
fn malformed_requests_are_answered_as_memcached_answers_them() {
    let Some(memcached) = Memcached::start() else { return };
    let server = CacheServer::start(&[]);
    let long = "k".repeat(251);
    let many: String = (0..2000).map(|key| format!(" key{key}")).collect();
    let requests: Vec<Vec<u8>> = [
        // Keys that are too long.
        format!("get {long}\r\n"),
        format!("set {long} 0 0 1\r\nx\r\nversion\r\n"),
        format!("ms {long} 1\r\nx\r\n"),
        format!(
            "delete {long}\r\nincr {long} 1\r\ntouch {long} 1\r\nmg {long}\r\nmd {long}\r\nma {long}\r\nme {long}\r\n"
        ),
        // Lengths: negative, huge, wrong.
        "set a 0 0 -1\r\nversion\r\n".into(),
        "set a 0 0 2147483647\r\nmn\r\n".into(),
        "set a 0 0 2147483648\r\nmn\r\n".into(),
        "set a 0 0 99999999999999999999\r\nmn\r\n".into(),
        "set a 0 0 3\r\nxxxxx\r\nmn\r\n".into(),
        "set a 0 0 9\r\nxxx\r\nmn\r\nmn\r\n".into(),
        "ms a -1\r\nmn\r\n".into(),
        "ms a 3\r\nxxxxx\r\nmn\r\n".into(),
        "ms a S3\r\nxxx\r\n".into(),
        // A value without its line end.
        "set a 0 0 3\r\nxxx".into(),
        "set a 0 0 3\r\nxxx\nmn\r\n".into(),
        "set a 0 0 3 noreply\r\nxxxyymn\r\n".into(),
        // Lines that do not end, and gets that may be longer than those.
        "x".repeat(5000),
        format!("{}get a\r\n", " ".repeat(50)),
        format!("get{many}\r\nmn\r\n"),
        format!("gets{many}\r\nmn\r\n"),
        format!("set{many}\r\n"),
        // Half a line.
        "get a".into(),
    ]
    .into_iter()
    .map(String::into_bytes)
    .chain([
        // Too large, by a byte and by more; the largest there can be.
        [set("large", (1 << 20) - 64), b"mn\r\n".to_vec()].concat(),
        [set("large", (1 << 20) - 63), b"get large\r\nmn\r\n".to_vec()].concat(),
        [set("large", 3 << 20), b"mn\r\n".to_vec()].concat(),
        // Another magic than a request's, at first and later.
        vec![0x81; 24],
        [header(0x0a, 0, 0, 0), vec![0x81; 24]].concat(),
        // Keys and extras that are longer than the body, too long, or missing.
        header(0x00, 0, 5, 4),
        header(0x01, 8, 0, 4),
        [header(0x00, 0, 251, 251), vec![b'k'; 251]].concat(),
        header(0x00, 0, 0, 0),
        [header(0x01, 4, 1, 6), b"\0\0\0\0kv".to_vec()].concat(),
        // Half a header.
        header(0x0a, 0, 0, 0)[..20].to_vec(),
    ])
    .collect();
    for request in requests {
        let expected = text(&answers(memcached.address, &request));
        let answered = text(&answers(server.address, &request)).replace("-wrun", "");
        let shown = text(&request[..request.len().min(80)]);
        assert_eq!(answered, expected, "to {shown:?}, of {} bytes", request.len());
    }
}

#[test]
fn flushes_with_a_time_forget_what_memcached_forgets() {
    let Some(memcached) = Memcached::start() else { return };
    let server = CacheServer::start(&[]);
    let set = "set a 0 0 1\r\nx\r\n";
    for flush in ["1", "2", "3000", "2592000", "2592001", "2147483647"] {
        // What is there before, and what is stored in the second of the flush. Nothing is left to come for the next.
        let request = format!("{set}flush_all {flush}\r\nget a\r\n{set}get a\r\nflush_all 2592001\r\n");
        let mut differences = Vec::new();
        // Once more where a second may have ended for one of the two in between.
        let same = (0..5).any(|_| {
            let expected = text(&answers(memcached.address, request.as_bytes()));
            let answered = text(&answers(server.address, request.as_bytes()));
            let same = answered == expected;
            differences.push([expected, answered]);
            same
        });
        assert!(same, "flush_all {flush}: memcached and cache-server answer {differences:#?}");
    }
}

#[test]
fn a_client_that_says_nothing_keeps_nobody_waiting_and_is_closed_if_a_limit_was_set() {
    let server = CacheServer::start(&["--idle-timeout", "300ms"]);
    let silent: Vec<_> = (0..50).map(|_| server.connect()).collect();
    assert_eq!(text(&answers(server.address, b"mn\r\n")), "MN\r\n");
    for mut silent in silent {
        assert_eq!(silent.read(&mut [0; 1]).unwrap(), 0, "it was not closed");
    }
    assert_eq!(server.stop()["counters"]["connections-dropped"], 50);
}

#[test]
fn a_client_that_reads_no_answers_is_dropped_and_makes_the_server_keep_little() {
    let server = CacheServer::start(&["--send-timeout", "500ms"]);
    let value = 500_000;
    assert_eq!(text(&answers(server.address, &set("large", value))), "STORED\r\n");
    let mut greedy = server.connect();
    // A gigabyte of answers. It is not read any more before they are asked for.
    let asked = greedy.write_all(&b"get large\r\n".repeat(2000));
    assert!(asked.is_ok(), "{asked:?}");
    let pid = server.pid();
    let longest = longest_wait_until(&server, 1);
    assert!(longest < HOLD_UP, "another waited {longest:?}");
    let most = super::memory::most(pid);
    assert!(most < 200 << 20, "{most} bytes were resident");
    assert_eq!(server.stop()["counters"]["connections-dropped"], 1);
}

#[test]
fn clients_that_end_and_read_nothing_hold_up_nobody() {
    let server = CacheServer::start(&["--send-timeout", "500ms"]);
    assert_eq!(text(&answers(server.address, &set("large", 500_000))), "STORED\r\n");
    // Behind what a socket takes there is always some left, for one of them at the least in the host's hands.
    let greedy: Vec<_> = (1..30)
        .map(|gets| {
            let mut stream = server.connect();
            stream.write_all(&[b"get large\r\n".repeat(gets), b"quit\r\n".to_vec()].concat()).unwrap();
            stream
        })
        .collect();
    let longest = longest_wait_until(&server, 1);
    assert!(longest < HOLD_UP, "another waited {longest:?}");
    drop(greedy);
}

#[test]
fn a_client_that_ends_and_reads_late_gets_all_its_answers() {
    let server = CacheServer::start(&[]);
    assert_eq!(text(&answers(server.address, &set("large", 1_000_000))), "STORED\r\n");
    let mut late = server.connect();
    late.write_all(&[b"get large\r\n".repeat(20), b"quit\r\n".to_vec()].concat()).unwrap();
    // The server comes as far as it can.
    assert_eq!(text(&answers(server.address, b"mn\r\n")), "MN\r\n");
    std::thread::sleep(Duration::from_millis(500));
    let mut answered = Vec::new();
    late.read_to_end(&mut answered).unwrap();
    let one = format!("VALUE large 0 1000000\r\n{}\r\nEND\r\n", "v".repeat(1_000_000));
    assert_eq!(answered.len(), 20 * one.len());
}

#[test]
fn clients_that_ask_for_much_at_once_and_take_it_get_it_in_turns_with_others() {
    let server = CacheServer::start(&[]);
    assert_eq!(text(&answers(server.address, &set("large", 1_000_000))), "STORED\r\n");
    let began = Instant::now();
    let greedy: Vec<_> = (0..20)
        .map(|_| {
            let address = server.address;
            std::thread::spawn(move || answers(address, &b"get large\r\n".repeat(20)).len())
        })
        .collect();
    let mut other = server.connect();
    let mut longest = Duration::ZERO;
    while greedy.iter().any(|greedy| !greedy.is_finished()) {
        let asked = Instant::now();
        other.write_all(b"mn\r\n").unwrap();
        other.read_exact(&mut [0; 4]).unwrap();
        longest = longest.max(asked.elapsed());
    }
    let all = began.elapsed();
    for greedy in greedy {
        assert!(greedy.join().unwrap() > 20 * 1_000_000);
    }
    // Each has 20 answers: turns of one after the other are a twentieth of all.
    assert!(longest < all / 2, "another waited {longest:?} of {all:?}");
}

#[test]
fn many_clients_that_take_no_answers_make_the_server_keep_little() {
    let server = CacheServer::start(&["--send-timeout", "1s"]);
    assert_eq!(text(&answers(server.address, &set("large", 1_000_000))), "STORED\r\n");
    let before = super::memory::most(server.pid());
    let greedy: Vec<_> = (0..300)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(&b"get large\r\n".repeat(20)).unwrap();
            stream
        })
        .collect();
    longest_wait_until(&server, 1);
    // A quarter of the 64 MB that it has by itself, an answer more, and as much that is on its way.
    let grown = super::memory::most(server.pid()) - before;
    assert!(grown < 60 << 20, "{grown} bytes more were resident");
    drop(greedy);
}

#[test]
fn a_client_that_sends_no_more_still_gets_its_answers() {
    let server = CacheServer::start(&[]);
    let mut half_open = server.connect();
    half_open.write_all(&set("a", 300_000)).unwrap();
    half_open.write_all(&b"get a\r\n".repeat(10)).unwrap();
    let answered = rest(half_open);
    assert_eq!(text(&answered).matches("END\r\n").count(), 10);
}

#[test]
fn values_that_were_begun_and_never_ended_give_their_memory_back() {
    let server = CacheServer::start(&["--memory", "4M", "-I", "1M"]);
    let begun = set("begun", 1_000_000);
    for _ in 0..12 {
        let mut stream = server.connect();
        stream.write_all(&begun[..begun.len() - 1000]).unwrap();
        drop(stream);
    }
    assert!(comes_down_to(&server, 1), "connections that were closed are still there");
    let answered = answers(server.address, &[set("a", 900_000), b"get a\r\nstats\r\n".to_vec()].concat());
    let answered = text(&answered);
    assert!(answered.starts_with("STORED\r\nVALUE a 0 900000\r\n"), "{}", &answered[..60]);
    assert!(answered.contains("STAT curr_items 1\r\n"), "{answered}");
}

#[test]
fn more_connections_than_are_allowed_wait_until_one_ends() {
    let server = CacheServer::start(&["--connections", "2"]);
    let mut first = server.connect();
    let mut second = server.connect();
    for stream in [&mut first, &mut second] {
        stream.write_all(b"mn\r\n").unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
    }
    let mut third = connect(server.address);
    third.write_all(b"mn\r\n").unwrap();
    third.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(third.read(&mut [0; 4]).is_err(), "it was served");
    drop(first);
    third.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    third.read_exact(&mut [0; 4]).unwrap();
}
