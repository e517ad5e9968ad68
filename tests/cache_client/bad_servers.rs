//! Against servers that do what a server must not: every run ends, every wrong answer is an error, and nothing else is.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::peer::{Asked, Server, value_of};
use super::ten;
use crate::support::{Reported, errors, report};

/// All ten went wrong, the first of them for a reason with this word, and the run says so.
fn all_failed(what: &str, reported: &Reported, word: &str) {
    let errors = errors(&reported.report);
    assert_eq!(errors.len(), 10, "{what}: {}", reported.stderr);
    for error in &errors {
        let error = error.as_deref().unwrap_or_else(|| panic!("{what}: one went well: {errors:#?}"));
        assert!(error.contains(word), "{what}: {error}");
    }
    assert_eq!(reported.code, 1, "{what}");
    assert_eq!(reported.report["counters"]["errors"], 10, "{what}");
    assert!(reported.stderr.contains("10 of 10 operations failed; the first was "), "{what}: {}", reported.stderr);
}

/// Waits for a request and says something.
fn say(mut stream: TcpStream, words: &[u8]) -> TcpStream {
    let mut request = [0; 4096];
    // A client that has gone away is none of this server's business.
    _ = stream.read(&mut request);
    _ = stream.write_all(words);
    stream
}

/// Holds a connection until the other end lets go of it.
fn hold(mut stream: TcpStream) {
    let mut rest = [0; 4096];
    while stream.read(&mut rest).is_ok_and(|size| size > 0) {}
}

#[test]
fn a_server_that_answers_nothing_sensible_fails_each_operation_and_the_run_ends() {
    for (what, words, word) in [
        ("another protocol", &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "for an answer"),
        ("garbage", b"\x00\xff\x80\x81garbage\x1b[2J\r\n", "for an answer"),
        ("a line without its end", &[b'x'; 100_000], "a line of more than"),
        ("line ends of another system", b"STORED\nEND\n", "carriage return"),
        ("more than was asked for", b"SERVER_ERROR no\r\n\r\nno", ""),
    ] {
        for pipeline in ["1", "3"] {
            let server = Server::raw(move |_, stream| hold(say(stream, words)));
            let reported = ten(&server.address(), &["--reconnect", "100", "--pipeline", pipeline]);
            all_failed(what, &reported, word);
            assert!(server.connections() > 2, "{what}: it was not connected to again");
        }
    }
}

#[test]
fn a_wrong_answer_to_a_read_is_that_reads_error_and_never_a_hit() {
    for (what, answer, word) in [
        ("another key", value_of("other", "0", &[b'x'; 100]), "the value of `other`"),
        ("a length too short", b"VALUE KEY 0 3\r\nabcdef\r\nEND\r\n".to_vec(), "goes on after the 3 bytes"),
        ("a length too long", b"VALUE KEY 0 9\r\nabc\r\nEND\r\n".to_vec(), "goes on after the 9 bytes"),
        ("a length beyond all bounds", b"VALUE KEY 0 99999999999\r\n".to_vec(), "99999999999 bytes"),
        ("a negative length", b"VALUE KEY 0 -1\r\n".to_vec(), "no length"),
        ("no end", b"VALUE KEY 0 3\r\nabc\r\nVALUE KEY 0 3\r\nabc\r\nEND\r\n".to_vec(), "where a value's answer ends"),
        ("the answer to a write", b"STORED\r\n".to_vec(), "for an answer"),
        ("a right answer with a wrong value", value_of("KEY", "0", &[b'x'; 100]), "did not write"),
    ] {
        let server = Server::cache(move |_, asked, right| match asked {
            Asked::Get(key) => {
                let at = answer.windows(3).position(|window| window == b"KEY");
                let Some(at) = at else { return Some(answer.clone()) };
                let (before, after) = answer.split_at(at);
                let named = [before, key.as_bytes(), &after[3..]].concat();
                // A key comes more than once in the one that has no end.
                Some(String::from_utf8(named).unwrap().replace("KEY", key).into_bytes())
            }
            Asked::Set(_) => Some(right),
        });
        let reported = ten(&server.address(), &["--verify", "--preload", "--reconnect", "100"]);
        assert_eq!(reported.code, 1, "{what}: {}", reported.stderr);
        assert_eq!(reported.report["counters"]["hits"], 0, "{what}");
        for sample in reported.report["samples"].as_array().unwrap() {
            let error = sample["error"].as_str();
            match sample["name"].as_str().unwrap() {
                "get" => assert!(error.is_some_and(|error| error.contains(word)), "{what}: {error:?}"),
                _ => assert_eq!(error, None, "{what}"),
            }
        }
    }
}

#[test]
fn a_connection_that_the_server_closes_while_it_is_idle_is_opened_again_and_nothing_fails() {
    for mode in ["parallel", "one-at-a-time"] {
        // Each connection has one answer, and is closed well before the next operation is due.
        let server = Server::raw(|_, stream| drop(say(stream, b"END\r\n")));
        let more = ["--reads", "10", "--writes", "0", "--rate", "5", "--mode", mode];
        let reported = ten(&server.address(), &more);
        assert_eq!(errors(&reported.report), vec![None; 10], "{mode}: {}", reported.stderr);
        assert_eq!((reported.code, &reported.report["counters"]["misses"]), (0, &10.into()), "{mode}");
        assert!(server.connections() >= 10, "{mode}: {}", server.connections());
    }
}

#[test]
fn connections_that_could_not_be_opened_are_told_though_the_others_did_all_the_work() {
    let server = Server::raw(|_, stream| {
        let mut stream = say(stream, b"END\r\n");
        while stream.peek(&mut [0]).is_ok_and(|size| size > 0) {
            stream = say(stream, b"END\r\n");
        }
    });
    let options = ["--allow", "loopback", "--max-sockets", "1"];
    let args = ["--connections", "3", "--reads", "10", "--writes", "0", "--reconnect", "0", "--servers"];
    let reported = report(&options, "cache-client", &[&args[..], &[&server.address()]].concat());
    assert_eq!(errors(&reported.report), vec![None; 10], "{}", reported.stderr);
    // A guest that failed after it was refused sockets.
    assert_eq!(reported.code, 122, "{}", reported.stderr);
    assert!(reported.stderr.contains("2 of 3 connections were given up, one because: "), "{}", reported.stderr);
    assert!(reported.report["notes"].to_string().contains("2 of 3 connections were given up"));
}

#[test]
fn more_requests_in_flight_than_a_guest_can_count_are_refused() {
    // Their product is 2^32, which is 0 in 32 bits.
    let servers: Vec<String> = (1..=1024).map(|port| format!("127.0.0.1:{port}")).collect();
    let more = ["--connections", "512", "--pipeline", "8192"];
    let reported = ten(&servers.join(","), &more);
    assert_eq!(reported.code, 1);
    assert!(reported.stderr.contains("4294967296 requests in flight"), "{}", reported.stderr);
}

#[test]
fn a_refusal_is_that_operations_error_in_the_servers_words_and_the_connection_stays() {
    let words = "SERVER_ERROR out of memory storing object";
    let server = Server::cache(move |_, _, _| Some(format!("{words}\r\n").into_bytes()));
    for pipeline in ["1", "5"] {
        let before = server.connections();
        let reported = ten(&server.address(), &["--pipeline", pipeline]);
        all_failed("refusals", &reported, words);
        assert_eq!(reported.report["counters"]["retries"], 0);
        assert_eq!(server.connections() - before, 2);
    }
}

#[test]
fn a_server_that_dies_in_the_middle_of_an_answer_costs_what_was_in_flight_and_no_more() {
    for (pipeline, most) in [("1", 1), ("4", 4)] {
        let died = AtomicBool::new(false);
        let server = Server::raw(move |_, stream| {
            // The first connection only.
            if died.swap(true, Ordering::SeqCst) {
                hold_cache(stream);
            } else {
                drop(say(stream, b"VALUE key-0 0 100\r\nhalf of the va"));
            }
        });
        let reported = ten(&server.address(), &["--pipeline", pipeline, "--connections", "1"]);
        let failed = errors(&reported.report).into_iter().flatten().count();
        assert!((1..=most).contains(&failed), "{failed} failed: {}", reported.stderr);
        assert_eq!(reported.report["counters"]["errors"], failed);
        assert_eq!(reported.report["counters"]["reconnects"], 1);
        assert_eq!(reported.code, 1);
    }
}

/// Answers every read with a miss and every write with success.
fn hold_cache(stream: TcpStream) {
    use std::io::{BufRead, BufReader};
    let Ok(mut writer) = stream.try_clone() else { return };
    for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
        let answer: &[u8] = match &line {
            line if line.starts_with(b"get ") => b"END\r\n",
            line if line.starts_with(b"set ") => b"STORED\r\n",
            // A value, which may look like several lines.
            _ => continue,
        };
        if writer.write_all(answer).is_err() {
            return;
        }
    }
}

#[test]
fn nothing_waits_past_its_timeout_for_a_silent_or_a_slow_server() {
    let silent = Server::raw(|_, stream| hold(stream));
    let slow = Server::raw(|_, stream| {
        let mut stream = say(stream, b"VALUE key-");
        // A byte now and then, so that the connection is never idle for long.
        while stream.write_all(b"0").is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    });
    for (what, server) in [("silent", silent), ("slow", slow)] {
        let reported = ten(&server.address(), &["--reconnect", "100", "--timeout", "400ms"]);
        let waits = ["timed out after 400ms", "`VALUE key-", "for an answer"];
        assert_eq!(errors(&reported.report).len(), 10, "{what}");
        none_took_longer_than(Duration::from_millis(4000), &reported);
        for error in errors(&reported.report) {
            let error = error.unwrap_or_else(|| panic!("{what}: one went well"));
            assert!(waits.iter().any(|wait| error.contains(wait)), "{what}: {error}");
        }
        assert_eq!(reported.code, 1);
    }
}

/// No operation did; for a limit that is far above what it was told and far below what a server here would keep it waiting.
fn none_took_longer_than(limit: Duration, reported: &Reported) {
    for sample in reported.report["samples"].as_array().unwrap() {
        let took = Duration::from_nanos(sample["duration_ns"].as_u64().unwrap());
        assert!(took < limit, "{took:?}: {sample}");
    }
}

#[test]
fn a_server_that_does_not_read_holds_up_no_run() {
    // Values that do not fit into the buffers between the two.
    let server = Server::raw(|_, stream| {
        thread::sleep(Duration::from_secs(30));
        drop(stream);
    });
    let args = ["--value-size", "32M", "--reads", "0", "--writes", "4", "--reconnect", "100", "--timeout", "400ms"];
    let reported = ten(&server.address(), &args);
    let errors = errors(&reported.report);
    assert_eq!(errors.len(), 4);
    none_took_longer_than(Duration::from_millis(4000), &reported);
    assert!(errors.iter().flatten().all(|error| error.contains("timed out after 400ms")), "{errors:#?}");
    assert_eq!(reported.code, 1);
}

#[test]
fn a_server_that_closes_at_once_or_is_not_there_is_given_up_after_so_many_attempts() {
    let server = Server::raw(|_, stream| drop(stream));
    let reported = ten(&server.address(), &["--reconnect", "3"]);
    all_failed("closes at once", &reported, "");
    assert!(server.connections() <= 2 * 4, "{}", server.connections());
    assert_eq!(reported.report["counters"]["errors"], 10);

    let nobody = format!("127.0.0.1:{}", crate::real_peers::free_port());
    for reconnect in ["0", "2"] {
        let reported = ten(&nobody, &["--reconnect", reconnect, "--rate", "1"]);
        // At a rate of one a second this would take ten, if there were something to wait for.
        all_failed("nobody", &reported, "connection-refused");
        assert_eq!(reported.report["counters"]["retries"], 2 * reconnect.parse::<u32>().unwrap());
    }
}

#[test]
fn one_server_of_two_that_is_gone_fails_its_own_keys_only() {
    let good = Server::cache(|_, _, right| Some(right));
    let servers = format!("{},127.0.0.1:{}", good.address(), crate::real_peers::free_port());
    let more = ["--keys", "200", "--reads", "100", "--writes", "100", "--reconnect", "1", "--verify"];
    let reported = ten(&servers, &more);
    let errors = errors(&reported.report);
    let failed = errors.iter().flatten().count();
    assert_eq!(errors.len(), 200);
    assert!((20..180).contains(&failed), "{failed} of 200");
    assert!(errors.iter().flatten().all(|error| error.contains("connection-refused")), "{errors:#?}");
    assert_eq!(reported.code, 1);
}

#[test]
fn at_a_rate_what_waits_behind_a_stall_has_the_wait_in_its_time_and_its_service_apart() {
    const STALL: Duration = Duration::from_millis(250);
    let stalled = AtomicBool::new(false);
    let server = Server::cache(move |_, _, right| {
        if !stalled.swap(true, Ordering::SeqCst) {
            thread::sleep(STALL);
        }
        Some(right)
    });
    // Due every 5 ms on one connection: all ten before the stall is over.
    let reported = ten(&server.address(), &["--connections", "1", "--rate", "200"]);
    assert_eq!(reported.code, 0, "{}", reported.stderr);
    let samples = reported.report["samples"].as_array().unwrap();
    let mut due = Vec::new();
    for sample in samples {
        let phase = |name: &str| {
            let phases = sample["phases"].as_array().unwrap();
            phases.iter().find(|phase| phase["name"] == name).unwrap()["duration_ns"].as_u64().unwrap()
        };
        let whole = sample["duration_ns"].as_u64().unwrap();
        assert_eq!(phase("queue") + phase("service"), whole);
        // Each in its turn is behind the stall, in one phase or the other.
        assert!(u128::from(whole) > (STALL - Duration::from_millis(5) * 10).as_nanos(), "{sample}");
        due.push(sample["start_ns"].as_u64().unwrap());
    }
    let waited = samples.iter().filter(|sample| sample["phases"][0]["duration_ns"].as_u64().unwrap() > 100_000_000);
    assert_eq!(waited.count(), 9, "all but the one that stalled waited to be sent");
    // They began when they were due, however late they were sent.
    assert!(due.windows(2).all(|two| two[1] > two[0] && two[1] - two[0] < 50_000_000), "{due:?}");
}
