//! Sessions whose bytes come in any pieces, and bytes that are no protocol's.

use proptest::prelude::*;

use super::session::HIGH_WATER;
use super::{Cache, Session, Wants};
use crate::store::{Flush, Store};

const NOW: u32 = 1_700_000_000;

fn cache() -> Cache {
    Cache::new(Store::new(4 << 20, 1 << 20), NOW)
}

/// What a session answers to pieces, whatever it leaves of them being given again; and whether it closes.
fn talk<'a>(cache: &mut Cache, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, bool) {
    let mut session = Session::default();
    let (mut input, mut answers) = (Vec::new(), Vec::new());
    for piece in pieces {
        input.extend_from_slice(piece);
        loop {
            let mut output = Vec::new();
            let (used, wants) = session.receive(&input, &mut output, cache);
            input.drain(..used);
            answers.append(&mut output);
            match wants {
                Wants::Room => {}
                Wants::Input => break,
                Wants::Close => return (answers, true),
            }
        }
        assert!(input.len() < 3000, "{} bytes are kept", input.len());
    }
    session.close(&mut cache.store);
    (answers, false)
}

/// Requests in the three protocols, whole and broken. No line is so long that it matters whether it came at once.
fn requests() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        "(get|gets|mg|me|delete|incr|touch|gat 0) k[0-3]( k[0-3]){0,30}( v| q| 5){0,2}\r\n",
        "(set|add|append|prepend) k[0-3] 7 0 5( noreply)?\r\nhello\r\n",
        "ms k[0-3] 5( T90| c| k| q| ME){0,3}\r\nhello\r\n",
        "ma k[0-3]( N0| J5| v| t| MD){0,3}\r\n",
        "[ -~]{0,40}\r\n",
    ];
    let text = proptest::collection::vec(text, 1..12).prop_map(|lines| lines.concat().into_bytes());
    let frame = (0..0x30_u8, 0..24_u8, 0..9_u16, 0..60_u32, proptest::collection::vec(any::<u8>(), 0..60)).prop_map(
        |(opcode, extras, key, body, rest)| {
            let [high, low] = key.to_be_bytes();
            [&[0x80, opcode, high, low, extras, 0, 0, 0][..], &body.to_be_bytes(), &[7; 12], &rest].concat()
        },
    );
    let binary = proptest::collection::vec(frame, 1..6).prop_map(|frames| frames.concat());
    prop_oneof![3 => text, 2 => binary, 1 => proptest::collection::vec(any::<u8>(), 0..2000)]
}

proptest! {
    #[test]
    fn answers_do_not_depend_on_how_the_bytes_come(request in requests(), sizes in proptest::collection::vec(1..40_usize, 1..20)) {
        let whole = talk(&mut cache(), [request.as_slice()]);
        let mut pieces = Vec::new();
        let mut rest = request.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at(rest.len().min(*size));
            pieces.push(piece);
            rest = after;
        }
        let split = talk(&mut cache(), pieces);
        prop_assert_eq!(split, whole);
    }

    #[test]
    fn no_bytes_make_a_session_panic_or_keep_memory(request in requests()) {
        let mut cache = cache();
        talk(&mut cache, [request.as_slice()]);
        cache.store.flush(Flush::Now, NOW);
        // What is left is items that were flushed, and no value that was never finished.
        let items = cache.store.items();
        prop_assert!(cache.store.bytes() <= items * 192 * 20);
    }
}

#[test]
fn a_value_for_which_there_is_no_room_in_its_middle_leaves_nothing_old_and_is_counted_and_passed_over() {
    let mut cache = Cache::new(Store::new(64 << 10, 32 << 10), NOW);
    let begun = |key: &str| [format!("set {key} 0 0 30000\r\n").as_bytes(), &[b'v'; 28_000]].concat();
    assert_eq!(talk(&mut cache, [&b"set k 0 0 3\r\nold\r\n"[..]]).0, b"STORED\r\n");
    // Values that are being written cannot make room.
    let mut held = Session::default();
    let mut output = Vec::new();
    held.receive(&begun("held"), &mut output, &mut cache);
    assert_eq!(talk(&mut cache, [&b"get k\r\n"[..]]).0, b"VALUE k 0 3\r\nold\r\nEND\r\n");
    let before = cache.store.statistics().cmd_set;
    let request = [&b"get k\r\n"[..], &begun("other")].concat();
    let mut other = Session::default();
    other.receive(&request, &mut output, &mut cache);
    let refused = [&b"set k 0 0 30000\r\n"[..], &[b'n'; 30_000], b"\r\nget k\r\n"].concat();
    let answers = talk(&mut cache, [refused.as_slice()]).0;
    assert_eq!(answers, b"SERVER_ERROR out of memory storing object\r\nEND\r\n");
    assert_eq!(cache.store.statistics().cmd_set, before + 1);
    held.close(&mut cache.store);
    other.close(&mut cache.store);
    assert_eq!(cache.store.bytes(), 0);
}

#[test]
fn what_is_counted_since_a_reset_is_listed_and_all_of_it_is_kept() {
    let mut cache = cache();
    let request = b"set a 0 0 1\r\nx\r\nget a b\r\nstats reset\r\nget a\r\nstats\r\n";
    let answers = String::from_utf8(talk(&mut cache, [&request[..]]).0).expect("text");
    for line in ["get_hits 1", "get_misses 0", "cmd_get 1", "cmd_set 0", "total_items 0", "curr_items 1"] {
        assert!(answers.contains(&format!("STAT {line}\r\n")), "{line} in {answers}");
    }
    let counts = cache.store.statistics();
    assert_eq!((counts.get_hits, counts.get_misses, counts.cmd_set, cache.traffic.commands), (2, 1, 1, 5));
}

#[test]
fn answers_wait_for_room_and_go_on_where_they_stopped() {
    let mut cache = cache();
    let value = vec![b'v'; 20_000];
    let set = [&b"set a 0 0 20000\r\n"[..], &value, b"\r\n"].concat();
    assert_eq!(talk(&mut cache, [set.as_slice()]).0, b"STORED\r\n");
    let mut session = Session::default();
    let request = b"get a a a a a a a a a a\r\nmn\r\n";
    let (mut input, mut answers, mut stops) = (&request[..], Vec::new(), 0);
    loop {
        let mut output = Vec::new();
        let (used, wants) = session.receive(input, &mut output, &mut cache);
        input = &input[used..];
        assert!(output.len() < HIGH_WATER + value.len() + 100);
        answers.extend_from_slice(&output);
        match wants {
            Wants::Room => stops += 1,
            Wants::Input => break,
            Wants::Close => panic!("it closes"),
        }
    }
    assert_eq!(stops, 2);
    assert_eq!(answers.len(), 10 * (value.len() + b"VALUE a 0 20000\r\n\r\n".len()) + b"END\r\nMN\r\n".len());
}

#[test]
fn a_get_may_be_as_long_as_it_likes_and_other_lines_may_not() {
    let mut cache = cache();
    let get = format!("get{}\r\n", " key".repeat(5000));
    let pieces = get.as_bytes().chunks(1000);
    assert_eq!(talk(&mut cache, pieces), (b"END\r\n".to_vec(), false));
    let line = "x".repeat(5000);
    assert_eq!(talk(&mut cache, line.as_bytes().chunks(1000)), (Vec::new(), true));
}

#[test]
fn a_negative_expiry_is_at_once_in_text_and_meta() {
    let mut cache = cache();
    let request = b"set a 0 -1 1\r\nx\r\nget a\r\nms b 1 T-1\r\nx\r\nmg b v\r\nset c 0 2592001 1\r\nx\r\nget c\r\n";
    let (answers, _) = talk(&mut cache, [&request[..]]);
    assert_eq!(answers, b"STORED\r\nEND\r\nHD\r\nEN\r\nSTORED\r\nEND\r\n");
}

/// What memcached 1.6.18 answers to the same.
#[test]
fn what_was_joined_to_forgets_that_its_key_came_in_base64() {
    for (change, key) in [
        (&b""[..], &b"HD kYWJj b\r\n"[..]),
        (b"ms YWJj 1 b MR\r\n0\r\n", b"HD kYWJj b\r\n"),
        (b"ms YWJj 1 b MA\r\n0\r\n", b"HD kabc\r\n"),
        (b"ms YWJj 1 b MP\r\n0\r\n", b"HD kabc\r\n"),
        (b"append abc 0 0 1\r\n0\r\n", b"HD kabc\r\n"),
        (b"incr abc 1\r\n", b"HD kYWJj b\r\n"),
        (b"incr abc 12345678901\r\n", b"HD kabc\r\n"),
    ] {
        let (answers, _) = talk(&mut cache(), [&b"ms YWJj 1 b\r\n0\r\n"[..], change, b"mg abc k\r\n"]);
        assert!(answers.ends_with(key), "{}", String::from_utf8_lossy(&answers));
    }
}

/// Of what memcached 1.6.18 has no words of its own for.
#[test]
fn a_wrong_client_flag_is_told_in_each_command_s_own_words() {
    for (line, said) in [
        (&b"ma k F-1\r\n"[..], &b"CLIENT_ERROR invalid or duplicate flag\r\n"[..]),
        (b"md k F-1\r\n", b"CLIENT_ERROR invalid or duplicate flag\r\n"),
        (b"mg k F-1\r\n", b"CLIENT_ERROR bad command line format\r\n"),
        (b"mg k TX F-1\r\n", b"CLIENT_ERROR bad token in command line format\r\n"),
    ] {
        assert_eq!(talk(&mut cache(), [line]).0, said, "{}", String::from_utf8_lossy(line));
    }
}
