//! Lines of the text and the meta protocol: good, odd and malformed.

use proptest::prelude::*;

use super::{Part, Sequence};

fn bytes(text: impl AsRef<[u8]>) -> Part {
    Part::Bytes(text.as_ref().to_vec())
}

/// A key, mostly one of a few; the lengths around the longest now and then.
fn key() -> impl Strategy<Value = Part> {
    prop_oneof![
        20 => (0..4_u8).prop_map(Part::Key),
        1 => prop_oneof![Just(250), Just(251)].prop_map(Part::Long),
    ]
}

/// A word in a number's place.
fn number(good: impl Strategy<Value = String> + 'static) -> impl Strategy<Value = String> {
    const ODD: &[&str] =
        &["-1", "x", "", "1x", "+3", "007", "4294967295", "4294967296", "2147483648", "18446744073709551616"];
    prop_oneof![12 => good, 1 => proptest::sample::select(ODD).prop_map(str::to_owned)]
}

/// An expiry; none that ends while the test runs.
fn expiry() -> impl Strategy<Value = String> {
    const SOME: &[&str] = &["0", "0", "0", "100", "3000", "2592000", "2147483647"];
    number(proptest::sample::select(SOME).prop_map(str::to_owned))
}

/// What is negative in 32 bits.
const OVER: &[&str] = &["-1", "4294967295", "2147483648"];

/// An expiry that may be over at once.
fn any_expiry() -> impl Strategy<Value = String> {
    prop_oneof![8 => expiry(), 1 => Just("-1".to_owned()), 1 => Just("2592001".to_owned())]
}

/// A value: numbers, words, bytes that mean something, and some that are large.
fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0..200_u64).prop_map(|number| number.to_string().into_bytes()),
        1 => proptest::sample::select(&["18446744073709551615", "99", " 7", "7 ", "-1", "", "x7"][..])
            .prop_map(|text| text.as_bytes().to_vec()),
        4 => "[a-z]{0,40}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..300),
        1 => Just(b"\r\nget a\r\n".to_vec()),
    ]
}

/// A length as it is announced, mostly the true one, and what ends the value.
fn announced(length: usize) -> impl Strategy<Value = (String, &'static str)> {
    let wrong = [length.saturating_sub(1), length + 1, i32::MAX as usize];
    let wrong = proptest::sample::select(wrong.to_vec()).prop_map(|length| length.to_string());
    let length = number(Just(length.to_string()));
    let length = prop_oneof![20 => length, 1 => wrong];
    let end = prop_oneof![20 => Just("\r\n"), 1 => Just("\n"), 1 => Just(""), 1 => Just("xx")];
    (length, end)
}

fn quiet() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 2 => Just(" noreply"), 1 => Just(" noreplx"), 1 => Just(" noreply x")]
}

fn storage() -> impl Strategy<Value = Vec<Part>> {
    const NAMES: &[&str] = &["set", "set", "set", "add", "replace", "append", "prepend", "cas"];
    let valued = value().prop_flat_map(|value| {
        let length = value.len();
        (Just(value), announced(length))
    });
    let flags = number((0..9_u32).prop_map(|flags| flags.to_string()));
    let cas = prop_oneof![6 => (0..12_u8).prop_map(Part::Cas), 1 => Just(bytes("0")), 1 => Just(bytes("x"))];
    (proptest::sample::select(NAMES), key(), flags, any_expiry(), valued, cas, quiet()).prop_map(
        |(name, key, flags, expiry, (value, (length, end)), cas, quiet)| {
            let mut parts = vec![bytes(format!("{name} ")), key, bytes(format!(" {flags} {expiry} {length}"))];
            if name == "cas" {
                parts.extend([bytes(" "), cas]);
            }
            parts.extend([bytes(format!("{quiet}\r\n")), bytes(value), bytes(end)]);
            parts
        },
    )
}

/// A get. memcached drops the answers before a bad one unless they are sent, and pads a number that got shorter unless it
/// is still to be sent; `mn` has everything sent. The first ones may end up in the value before it.
fn retrieval() -> impl Strategy<Value = Vec<Part>> {
    const NAMES: &[&str] = &["get", "gets", "gat", "gats"];
    let keys = proptest::collection::vec(key(), 0..5);
    let many = (20..60_usize).prop_map(|count| (0..count).map(|place| Part::Key(place as u8 % 5)).collect());
    let keys = prop_oneof![9 => keys, 1 => many];
    (proptest::sample::select(NAMES), any_expiry(), keys, " {0,2}").prop_map(|(name, expiry, keys, blanks)| {
        let mut parts = vec![bytes(format!("mn\r\nmn\r\nmn\r\n{name}"))];
        if name.starts_with("gat") {
            parts.push(bytes(format!(" {expiry}")));
        }
        for key in keys {
            parts.extend([bytes(" "), key]);
        }
        parts.push(bytes(format!("{blanks}\r\nmn\r\n")));
        parts
    })
}

fn keyed() -> impl Strategy<Value = Vec<Part>> {
    let delta = number((0..300_u64).prop_map(|delta| delta.to_string()));
    prop_oneof![
        (prop_oneof![Just("incr"), Just("decr")], key(), delta, quiet()).prop_map(|(name, key, delta, quiet)| {
            vec![bytes(format!("{name} ")), key, bytes(format!(" {delta}{quiet}\r\n"))]
        }),
        (key(), any_expiry(), quiet())
            .prop_map(|(key, expiry, quiet)| { vec![bytes("touch "), key, bytes(format!(" {expiry}{quiet}\r\n"))] }),
        (key(), proptest::sample::select(&["", "", " 0", " 1", " x y z"][..]), quiet())
            .prop_map(|(key, more, quiet)| { vec![bytes("delete "), key, bytes(format!("{more}{quiet}\r\n"))] }),
    ]
}

/// Whole lines, some of which are none.
fn others() -> impl Strategy<Value = Vec<Part>> {
    let lines: &[&str] = &[
        "version\r\n",
        "version x\n",
        "verbosity 1\r\n",
        "verbosity\r\n",
        "verbosity x\r\n",
        "verbosity 1 noreply\r\n",
        "flush_all\r\n",
        "flush_all 0 noreply\r\n",
        "flush_all -1\r\n",
        // Times that do not come while the test runs, and one that was over before it.
        "flush_all 3000\r\n",
        "flush_all 2147483647 noreply\r\n",
        "flush_all 2592001\r\n",
        "flush_all x\r\n",
        "flush_all 0 1 2\r\n",
        "stats reset\r\n",
        "stats nonsense\r\n",
        "stats detail\r\n",
        "shutdown\r\n",
        "\r\n",
        "\n",
        " \r\n",
        "g\r\n",
        "get\r\n",
        "set\r\n",
        "set a\r\n",
        "incr\r\n",
        "GET a\r\n",
        "gett a\r\n",
        "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c\r\n",
        "mn\r\n",
        "mz\r\n",
        "mg\r\n",
        "ms\r\n",
        "md\r\n",
        "ma\r\n",
        "me\r\n",
        "quit\r\n",
    ];
    let garbage = proptest::collection::vec(any::<u8>().prop_filter("binary", |byte| *byte != 0x80), 0..40);
    let garbage = garbage.prop_filter("`watch` ends the conversation", |bytes| !bytes.starts_with(b"watch"));
    prop_oneof![
        8 => proptest::sample::select(lines).prop_map(|text| vec![bytes(text)]),
        1 => garbage.prop_map(|mut garbage| { garbage.push(b'\n'); vec![bytes(garbage)] }),
    ]
}

/// Commands of the text protocol.
pub fn sequences() -> impl Strategy<Value = Sequence> {
    let one = prop_oneof![6 => storage(), 5 => retrieval(), 4 => keyed(), 2 => others()];
    proptest::collection::vec(one, 1..14).prop_map(super::what_is_flushed_stays_so)
}

/// One flag, with a token where it takes one.
fn flag(letters: &'static str) -> impl Strategy<Value = String> {
    let letter = proptest::sample::select(letters.chars().collect::<Vec<_>>());
    letter.prop_flat_map(|letter| {
        let token: BoxedStrategy<String> = match letter {
            'O' => prop_oneof![9 => "[a-z0-9]{0,8}", 1 => "[a-z]{30,33}"].boxed(),
            // With a time that is over, `t` is a number that depends on when memcached was started.
            'T' | 'N' | 'R' => expiry().prop_filter("over", |expiry| !OVER.contains(&expiry.as_str())).boxed(),
            'F' | 'J' | 'D' => number((0..300_u64).prop_map(|number| number.to_string())).boxed(),
            'M' => "[SEAPRIDseaprid+x-]{1,2}".boxed(),
            'P' | 'L' => "[a-z]{0,3}".boxed(),
            _ => Just(String::new()).boxed(),
        };
        token.prop_map(move |token| format!(" {letter}{token}"))
    })
}

/// Flags of which some may be there twice, may be of other commands, or unknown.
fn flags(letters: &'static str) -> impl Strategy<Value = Vec<Part>> {
    let own = prop_oneof![30 => flag(letters), 1 => flag("bcfhklOqstuvNRTCFIMJDPLxXZ1-")];
    let cas = (0..12_u8).prop_map(Part::Cas);
    (proptest::collection::vec(own, 0..6), proptest::option::weighted(0.15, cas)).prop_map(move |(own, cas)| {
        let mut parts = Vec::new();
        let mut seen = String::new();
        for flag in own {
            let letter = flag.chars().nth(1).unwrap();
            // Twice is an error, which once in a while is enough.
            if !seen.contains(letter) || seen.len() > 4 {
                parts.push(bytes(&flag));
            }
            seen.push(letter);
        }
        if let (Some(cas), true) = (cas, letters.contains('C')) {
            parts.extend([bytes(" C"), cas]);
        }
        parts
    })
}

/// A key as it is or in base64, with the flag that says so.
fn meta_key() -> impl Strategy<Value = (Part, &'static str)> {
    prop_oneof![
        8 => key().prop_map(|key| (key, "")),
        2 => (0..4_u8).prop_map(|key| (Part::Base64(key), " b")),
        1 => (0..4_u8).prop_map(|key| (Part::Base64(key), "")),
        1 => (0..4_u8).prop_map(|key| (Part::Key(key), " b")),
    ]
}

fn meta(name: &'static str, letters: &'static str) -> impl Strategy<Value = Vec<Part>> {
    (meta_key(), flags(letters)).prop_map(move |((key, base64), mut flags)| {
        flags.insert(0, bytes(base64));
        // memcached forgets of what N makes that its key was in base64, and gives it back as it is, line ends and all.
        let starts = |flag: &Part, text: &str| matches!(flag, Part::Bytes(bytes) if bytes.starts_with(text.as_bytes()));
        if flags.iter().any(|flag| starts(flag, " b")) {
            flags.retain(|flag| !starts(flag, " N"));
        }
        let mut parts = vec![bytes(format!("{name} ")), key];
        parts.extend(flags);
        parts.push(bytes("\r\nmn\r\n"));
        parts
    })
}

fn meta_set() -> impl Strategy<Value = Vec<Part>> {
    let valued = value().prop_flat_map(|value| {
        let length = value.len();
        (Just(value), announced(length))
    });
    (meta_key(), valued, flags("bcCFIkOqTMPL")).prop_map(|((key, base64), (value, (length, end)), flags)| {
        let mut parts = vec![bytes("ms "), key, bytes(format!(" {length}{base64}"))];
        parts.extend(flags);
        parts.extend([bytes("\r\n"), bytes(value), bytes(end)]);
        parts
    })
}

/// Commands of the meta protocol, and some of the text protocol between them.
pub fn meta_sequences() -> impl Strategy<Value = Sequence> {
    let one = prop_oneof![
        6 => meta_set(),
        6 => meta("mg", "cfhklOqstuvNRT"),
        2 => meta("md", "bCIkOqT"),
        // Without T, which memcached forgets where the number gets more digits.
        3 => meta("ma", "bCNJDMOqtcvk"),
        1 => meta("me", "b"),
        1 => storage(),
        1 => others(),
    ];
    proptest::collection::vec(one, 1..14).prop_map(super::what_is_flushed_stays_so)
}
