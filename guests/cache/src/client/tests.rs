//! Claims about all three protocols.

use proptest::prelude::*;

use super::{Answer, Binary, Broken, Conversation, Meta, Request, Text};

/// The longest value of these conversations, in bytes.
const LONGEST: usize = 1000;

fn conversations() -> [(&'static str, Box<dyn Conversation>); 3] {
    [
        ("text", Box::new(Text::new(LONGEST))),
        ("meta", Box::new(Meta::new(LONGEST))),
        ("binary", Box::new(Binary::new(LONGEST))),
    ]
}

/// What one conversation says of one request's answer.
fn answer(mut conversation: impl Conversation, request: Request<'_>, bytes: &[u8]) -> String {
    conversation.ask(request);
    conversation.received(bytes);
    match conversation.answer() {
        Ok(None) => "not yet".to_owned(),
        Ok(Some(answer)) => format!("{answer:?}"),
        Err(Broken(why)) => why,
    }
}

const GET: Request<'_> = Request::Get { key: b"k" };
const SET: Request<'_> = Request::Set { key: b"k", value: b"abc", flags: 7, expiry: -1 };
const DELETE: Request<'_> = Request::Delete { key: b"k" };
const ADD: Request<'_> = Request::Increment { key: b"k", by: 5 };

#[test]
fn requests_are_written_as_memcached_reads_them() {
    let written = |mut conversation: Box<dyn Conversation>| {
        [GET, SET, DELETE, ADD].into_iter().for_each(|request| conversation.ask(request));
        conversation.outgoing().escape_ascii().to_string()
    };
    let [(_, text), (_, meta), (_, binary)] = conversations();
    assert_eq!(written(text), r"get k\r\nset k 7 -1 3\r\nabc\r\ndelete k\r\nincr k 5\r\n");
    assert_eq!(written(meta), r"mg k v f k O0\r\nms k 3 F7 T-1 k O1\r\nabc\r\nmd k k O2\r\nma k v D5 k O3\r\n");
    let header = |opcode, extras, body, number| {
        format!(
            r"\x80\x0{opcode}\x00\x01\x{extras}\x00\x00\x00\x00\x00\x00\x{body}\x00\x00\x00\x0{number}{}",
            r"\x00".repeat(8)
        )
    };
    let expected = [
        header('c', "00", "01", 0) + "k",
        header('1', "08", "0c", 1) + r"\x00\x00\x00\x07\x00\'\x8d\x01kabc",
        header('4', "00", "01", 2) + "k",
        header('5', "14", "15", 3) + &r"\x00".repeat(7) + r"\x05" + &r"\x00".repeat(8) + r"\xff\xff\xff\xffk",
    ];
    assert_eq!(written(binary), expected.concat());
}

#[test]
fn text_answers_are_what_was_asked_or_broken() {
    for (request, bytes, expected) in [
        (GET, "VALUE k 7 3\r\nabc\r\nEND\r\n", "Value { flags: 7, value: [97, 98, 99] }"),
        (GET, "VALUE k 0 0\r\n\r\nEND\r\n", "Value { flags: 0, value: [] }"),
        (GET, "VALUE k 7 3\r\nabc\r\nEND\r", "not yet"),
        (GET, "END\r\n", "Miss"),
        (GET, "SERVER_ERROR busy\r\n", "Refused(\"SERVER_ERROR busy\")"),
        (GET, "SERVER_ERRORS\r\n", "`SERVER_ERRORS` for an answer"),
        (GET, "STORED\r\n", "`STORED` for an answer"),
        (GET, "VALUE K 7 3\r\nabc\r\nEND\r\n", "the value of `K` for that of `k`"),
        (GET, "VALUE k 7\r\n", "no length: ``"),
        (GET, "VALUE k x 3\r\n", "no flags in `VALUE k x 3`"),
        (GET, "VALUE k 4294967296 3\r\n", "no flags in `VALUE k 4294967296 3`"),
        (GET, "VALUE k 7 3 4\r\n", "more than was asked for in `VALUE k 7 3 4`"),
        (GET, "VALUE  k 7 3\r\n", "the value of `` for that of `k`"),
        (GET, "VALUE k 7 1001\r\n", "a value of 1001 bytes, of which 1000 are taken"),
        (GET, "VALUE k 7 2\r\nabc", "a value that goes on after the 2 bytes it was to have"),
        (GET, "VALUE k 7 3\r\nabc\r\nENE", "`ENE` where a value's answer ends"),
        (SET, "STORED\r\n", "Done"),
        (SET, "NOT_STORED\r\n", "Refused(\"NOT_STORED\")"),
        (SET, "DELETED\r\n", "`DELETED` for an answer"),
        (DELETE, "DELETED\r\n", "Done"),
        (DELETE, "NOT_FOUND\r\n", "Miss"),
        (ADD, "12\r\n", "Number(12)"),
        (ADD, "NOT_FOUND\r\n", "Miss"),
        (ADD, "12 \r\n", "`12 ` for an answer"),
        (ADD, "CLIENT_ERROR non-numeric\r\n", "Refused(\"CLIENT_ERROR non-numeric\")"),
    ] {
        assert_eq!(answer(Text::new(LONGEST), request, bytes.as_bytes()), expected, "{request:?}: {bytes:?}");
    }
}

#[test]
fn meta_answers_are_what_was_asked_or_broken() {
    for (request, bytes, expected) in [
        (GET, "VA 3 f7 kk O0\r\nabc\r\n", "Value { flags: 7, value: [97, 98, 99] }"),
        (GET, "VA 3 O0 kk f7 W Z\r\nabc\r\n", "Value { flags: 7, value: [97, 98, 99] }"),
        (GET, "VA 3 f7 kk O0\r\nabc", "not yet"),
        (GET, "EN\r\n", "Miss"),
        (GET, "EN O1\r\n", "the answer to request `1` for 0"),
        (GET, "HD\r\n", "`HD` for an answer"),
        (GET, "VA 3 f7 kK O0\r\nabc\r\n", "an answer about `K` for `k`"),
        (GET, "VA 3 f7 kk O1\r\nabc\r\n", "the answer to request `1` for 0"),
        (GET, "VA 3 f7 kk\r\nabc\r\n", "`VA 3 f7 kk` without the key and number that were asked for"),
        (GET, "VA 3 f7 O0\r\nabc\r\n", "`VA 3 f7 O0` without the key and number that were asked for"),
        (GET, "VA 3 kk O0\r\nabc\r\n", "no flags in `VA 3 kk O0`"),
        (GET, "VA f7 kk O0\r\nabc\r\n", "no length: `f7`"),
        (GET, "VA 1001 f7 kk O0\r\n", "a value of 1001 bytes, of which 1000 are taken"),
        (GET, "VA 2 f7 kk O0\r\nabc", "a value that goes on after the 2 bytes it was to have"),
        (SET, "HD kk O0\r\n", "Done"),
        (SET, "HD\r\n", "`HD` without the key and number that were asked for"),
        (SET, "NS kk O0\r\n", "Refused(\"NS kk O0\")"),
        (SET, "EN\r\n", "`EN` for an answer"),
        (DELETE, "HD kk O0\r\n", "Done"),
        (DELETE, "NF kk O0\r\n", "Miss"),
        (DELETE, "NF kK O0\r\n", "an answer about `K` for `k`"),
        (ADD, "VA 2 kk O0\r\n12\r\n", "Number(12)"),
        (ADD, "VA 2 kk O0\r\n1x\r\n", "`1x` for a number"),
        (ADD, "NF\r\n", "Miss"),
        (ADD, "CLIENT_ERROR cannot increment\r\n", "Refused(\"CLIENT_ERROR cannot increment\")"),
    ] {
        assert_eq!(answer(Meta::new(LONGEST), request, bytes.as_bytes()), expected, "{request:?}: {bytes:?}");
    }
}

/// An answer of the binary protocol.
fn binary(opcode: u8, status: u8, lengths: (u8, u8, u8), number: u8, body: &[u8]) -> Vec<u8> {
    let (extras, key, all) = lengths;
    let header = [0x81, opcode, 0, key, extras, 0, 0, status, 0, 0, 0, all, 0, 0, 0, number];
    [&header[..], &[0; 8], body].concat()
}

#[test]
fn binary_answers_are_what_was_asked_or_broken() {
    let flags = [0, 0, 0, 7];
    let value = [&flags[..], b"kabc"].concat();
    for (request, bytes, expected) in [
        (GET, binary(0x0c, 0, (4, 1, 8), 0, &value), "Value { flags: 7, value: [97, 98, 99] }"),
        (GET, binary(0x0c, 0, (4, 1, 8), 0, &value[..7]), "not yet"),
        (GET, binary(0x0c, 1, (0, 0, 9), 0, b"Not found"), "Miss"),
        (GET, binary(0x0c, 1, (0, 1, 1), 0, b"k"), "Miss"),
        (GET, binary(0x0c, 1, (0, 1, 1), 0, b"K"), "an answer about `K` for `k`"),
        (GET, binary(0x0c, 0x85, (0, 0, 4), 0, b"busy"), "Refused(\"busy\")"),
        (GET, binary(0x0c, 0x81, (0, 0, 0), 0, b""), "Refused(\"status 0x0081\")"),
        (GET, binary(0x0c, 0, (4, 0, 7), 0, b"\0\0\0\x07abc"), "a value without its key, `k`"),
        (GET, binary(0x0c, 0, (0, 1, 4), 0, b"kabc"), "a value with 0 bytes of flags"),
        (GET, binary(0x0c, 0, (4, 1, 8), 1, &value), "the answer to request 1 for 0"),
        (GET, binary(0x00, 0, (4, 1, 8), 0, &value), "an answer to operation 0x00 for 0x0c"),
        (GET, binary(0x0c, 0, (4, 5, 8), 0, &value), "4 bytes of extras and 5 of key in a body of 8"),
        (GET, b"\x80".to_vec(), "the byte 0x80 where an answer begins: `\\x80`"),
        (GET, b"END\r\n".to_vec(), "the byte 0x45 where an answer begins: `END\\r\\n`"),
        (GET, b"\x81\x0c".to_vec(), "not yet"),
        (SET, binary(1, 0, (0, 0, 0), 0, b""), "Done"),
        (SET, binary(1, 0, (0, 0, 2), 0, b"hm"), "`hm` where nothing more was to be said"),
        (SET, binary(1, 3, (0, 0, 9), 0, b"Too large"), "Refused(\"Too large\")"),
        (DELETE, binary(4, 0, (0, 0, 0), 0, b""), "Done"),
        (DELETE, binary(4, 1, (0, 0, 9), 0, b"Not found"), "Miss"),
        (ADD, binary(5, 0, (0, 0, 8), 0, &12_u64.to_be_bytes()), "Number(12)"),
        (ADD, binary(5, 0, (0, 0, 4), 0, &flags), "`\\x00\\x00\\x00\\x07` for a number of 8 bytes"),
    ] {
        assert_eq!(answer(Binary::new(LONGEST), request, &bytes), expected, "{request:?}: {bytes:?}");
    }
    let mut huge = binary(0x0c, 0, (4, 1, 8), 0, &[]);
    huge[8..12].fill(0xff);
    let expected = "an answer of 4294967295 bytes, of which 1254 are taken";
    assert_eq!(answer(Binary::new(LONGEST), GET, &huge), expected);
}

#[test]
fn what_is_broken_stays_so_and_bytes_that_nobody_asked_for_break_it() {
    for (name, mut conversation) in conversations() {
        assert_eq!(conversation.answer(), Ok(None));
        conversation.received(b"x");
        let first = conversation.answer().map(|_| ()).expect_err(name);
        conversation.ask(GET);
        conversation.received(b"END\r\n");
        assert_eq!(conversation.answer().map(|_| ()), Err(first), "{name}");
        assert_eq!(conversation.unanswered(), 1, "{name}");
    }
}

/// An answer that a server can give, without its borrowing.
#[derive(Debug, Clone, PartialEq)]
enum Given {
    Value(u32, Vec<u8>),
    Miss,
    Done,
    Number(u64),
    Refused,
}

impl Given {
    fn of(answer: &Answer<'_>) -> Self {
        match answer {
            Answer::Value { flags, value } => Self::Value(*flags, value.to_vec()),
            Answer::Miss => Self::Miss,
            Answer::Done => Self::Done,
            Answer::Number(number) => Self::Number(*number),
            Answer::Refused(_) => Self::Refused,
        }
    }

    fn request<'a>(&self, key: &'a [u8]) -> Request<'a> {
        match self {
            Self::Value(..) | Self::Miss | Self::Refused => Request::Get { key },
            Self::Done => Request::Delete { key },
            Self::Number(_) => Request::Increment { key, by: 1 },
        }
    }

    /// As a server of each protocol says it, to the request of this number.
    fn said(&self, key: &[u8], number: u8) -> [Vec<u8>; 3] {
        let name = String::from_utf8_lossy(key).into_owned();
        let line = |words: &str| format!("{words}\r\n").into_bytes();
        let size = |bytes: usize| u8::try_from(bytes).expect("small in these tests");
        match self {
            Self::Value(flags, value) => [
                [line(&format!("VALUE {name} {flags} {}", value.len())), value.clone(), b"\r\nEND\r\n".to_vec()]
                    .concat(),
                [line(&format!("VA {} f{flags} k{name} O{number}", value.len())), value.clone(), b"\r\n".to_vec()]
                    .concat(),
                binary(
                    0x0c,
                    0,
                    (4, size(key.len()), size(4 + key.len() + value.len())),
                    number,
                    &[&flags.to_be_bytes(), key, value].concat(),
                ),
            ],
            Self::Miss => [line("END"), line("EN"), binary(0x0c, 1, (0, 0, 0), number, &[])],
            Self::Done => {
                [line("DELETED"), line(&format!("HD k{name} O{number}")), binary(4, 0, (0, 0, 0), number, &[])]
            }
            Self::Number(value) => {
                let digits = value.to_string();
                let meta = line(&format!("VA {} k{name} O{number}", digits.len()));
                let body = value.to_be_bytes();
                [line(&digits), [meta, line(&digits)].concat(), binary(5, 0, (0, 0, 8), number, &body)]
            }
            Self::Refused => {
                [line("SERVER_ERROR busy"), line("SERVER_ERROR busy"), binary(0x0c, 0x85, (0, 0, 4), number, b"busy")]
            }
        }
    }
}

fn given() -> impl Strategy<Value = Given> {
    prop_oneof![
        (any::<u32>(), prop::collection::vec(any::<u8>(), 0..100))
            .prop_map(|(flags, value)| Given::Value(flags, value)),
        Just(Given::Miss),
        Just(Given::Done),
        any::<u64>().prop_map(Given::Number),
        Just(Given::Refused),
    ]
}

/// Hands bytes over in pieces that end at these places, and collects the answers.
fn in_pieces(conversation: &mut dyn Conversation, bytes: &[u8], cuts: &[usize]) -> Result<Vec<Given>, Broken> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    let mut answers = Vec::new();
    for piece in cuts.windows(2) {
        conversation.received(&bytes[piece[0]..piece[1]]);
        while let Some(answer) = conversation.answer()? {
            answers.push(Given::of(&answer));
        }
    }
    Ok(answers)
}

proptest! {
    #[test]
    fn answers_come_whole_and_in_order_however_the_bytes_are_cut(
        given in prop::collection::vec((given(), "[!-~]{1,20}"), 0..20),
        cuts in prop::collection::vec(any::<usize>(), 0..30),
    ) {
        for (protocol, (name, mut conversation)) in conversations().into_iter().enumerate() {
            let mut bytes = Vec::new();
            for (number, (given, key)) in given.iter().enumerate() {
                conversation.ask(given.request(key.as_bytes()));
                bytes.extend_from_slice(&given.said(key.as_bytes(), number as u8)[protocol]);
            }
            let answers = in_pieces(conversation.as_mut(), &bytes, &cuts);
            let expected: Vec<Given> = given.iter().map(|(given, _)| given.clone()).collect();
            prop_assert_eq!(answers, Ok(expected), "{}", name);
            prop_assert_eq!(conversation.unanswered(), 0);
        }
    }

    #[test]
    fn no_bytes_make_a_client_panic_or_answer_more_than_was_asked(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..300),
            "(VALUE|VA|HD|EN|END|STORED|NF|[ kO0-9f-]|\r\n|\r|\n|k){0,60}".prop_map(String::into_bytes),
            prop::collection::vec(prop_oneof![Just(0x81), Just(0x0c), 0_u8..9], 0..100),
        ],
        cuts in prop::collection::vec(any::<usize>(), 0..10),
    ) {
        for (name, mut conversation) in conversations() {
            [GET, SET, DELETE, ADD].into_iter().for_each(|request| conversation.ask(request));
            let answers = in_pieces(conversation.as_mut(), &bytes, &cuts);
            prop_assert!(answers.is_err() || answers.is_ok_and(|answers| answers.len() <= 4), "{}", name);
        }
    }

    #[test]
    fn an_answer_with_a_byte_missing_or_changed_is_never_another_value_of_the_same_length(
        value in prop::collection::vec(any::<u8>(), 0..100),
        place in any::<prop::sample::Index>(),
        change in 1_u8..,
    ) {
        let right = Given::Value(7, value.clone());
        for (protocol, (name, _)) in conversations().into_iter().enumerate() {
            let said = &right.said(b"key", 0)[protocol];
            // What a protocol without a checksum can be asked to notice: everything but the value and its flags.
            let body = said.len() - value.len() - [7, 2, 0][protocol];
            let at = place.index(said.len());
            if (body..body + value.len()).contains(&at) {
                continue;
            }
            let mut changed = said.clone();
            changed[at] ^= change;
            let mut conversation = conversations().into_iter().nth(protocol).expect("one of the three").1;
            conversation.ask(Request::Get { key: b"key" });
            if let Ok(answers) = in_pieces(conversation.as_mut(), &changed, &[]) {
                for answer in answers {
                    let same = matches!(&answer, Given::Value(_, read) if *read == value);
                    prop_assert!(same || !matches!(answer, Given::Value(..)), "{}: {:?} from {}", name, answer, changed.escape_ascii());
                }
            }
        }
    }
}
