//! The same commands to memcached and to cache-server, chosen by chance: the answers are the same, byte for byte.
//!
//! What cannot be the same is made so: the version, and the cas, which each server counts on from where it was. Not asked
//! are: what depends on the second in which a thing happens, and where memcached answers what no client could use (see
//! the generators).

mod binary;
mod text;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

use super::{CacheServer, Memcached, connect, rest};

/// Sequences of each protocol.
const CASES: u32 = 1500;

/// Set to a number to look elsewhere than [`USUAL_SEED`] does.
const SEED: &str = "WRUN_CACHE_SEED";
/// The same in every run: one that fails is one that something was changed for.
const USUAL_SEED: u64 = 20_261_130;

/// A piece of what is sent.
#[derive(Debug, Clone)]
enum Part {
    Bytes(Vec<u8>),
    /// A key of this sequence.
    Key(u8),
    /// A key of this sequence that is so long.
    Long(usize),
    /// One of the first in base64.
    Base64(u8),
    /// A cas, counted from the one that the sequence began with.
    Cas(u8),
    /// A frame of the binary protocol, whose lengths are so much wrong.
    Frame {
        opcode: u8,
        extras: Vec<u8>,
        key: Option<u8>,
        literal: Vec<u8>,
        value: Vec<u8>,
        cas: Option<u8>,
        /// Of the extras, the key and the body.
        wrong: [i8; 3],
    },
}

/// Commands, each in parts.
type Sequence = Vec<Vec<Part>>;

/// What parts become for one server.
#[derive(Debug, Clone, Copy)]
struct Context {
    /// Each sequence has keys of its own.
    number: u64,
    /// The cas that the server had given when it began.
    base: u64,
}

impl Context {
    fn key(&self, key: u8) -> Vec<u8> {
        format!("n{}-{key}", self.number).into_bytes()
    }

    fn bytes(&self, sequence: &Sequence) -> Vec<u8> {
        sequence.iter().flatten().flat_map(|part| self.part(part)).collect()
    }

    fn part(&self, part: &Part) -> Vec<u8> {
        match part {
            Part::Bytes(bytes) => bytes.clone(),
            Part::Key(key) => self.key(*key),
            Part::Long(length) => {
                let mut key = self.key(0);
                key.resize(*length, b'k');
                key
            }
            Part::Base64(key) => base64(&self.key(*key)),
            Part::Cas(more) => (self.base + u64::from(*more)).to_string().into_bytes(),
            Part::Frame { opcode, extras, key, literal, value, cas, wrong } => {
                let key = key.map_or_else(|| literal.clone(), |key| self.key(key));
                let cas = cas.map_or(0, |more| self.base + u64::from(more));
                let [extras_more, key_more, body_more] = wrong.map(i64::from);
                let length = |length: usize, more: i64| (length as i64 + more).max(0);
                let body = extras.len() + key.len() + value.len();
                [
                    &[0x80, *opcode][..],
                    &(length(key.len(), key_more) as u16).to_be_bytes(),
                    &[length(extras.len(), extras_more) as u8, 0, 0, 0],
                    &(length(body, body_more) as u32).to_be_bytes(),
                    b"mark",
                    &cas.to_be_bytes(),
                    extras,
                    &key,
                    value,
                ]
                .concat()
            }
        }
    }
}

/// Padded, in the alphabet that memcached reads.
fn base64(bytes: &[u8]) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = Vec::new();
    for group in bytes.chunks(3) {
        let byte = |place: usize| u32::from(group.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= group.len() { letter } else { b'=' });
        }
    }
    text
}

/// Leaves out what memcached gives back flushed items for: a flush that is to come, or was over, behind one that was now.
fn what_is_flushed_stays_so(mut sequence: Sequence) -> Sequence {
    let mut flushed = false;
    sequence.retain(|command| {
        let now = match command.first() {
            Some(Part::Bytes(line)) if line.starts_with(b"flush_all") => !line.windows(4).any(is_number),
            Some(Part::Frame { opcode: 0x08 | 0x18, extras, .. }) => extras.iter().all(|byte| *byte == 0),
            _ => return true,
        };
        flushed |= now;
        now || !flushed
    });
    sequence
}

fn is_number(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
}

/// A protocol, as far as the comparison has to know it.
struct Protocol {
    /// Sets a key of its own, and says with which cas.
    begin: fn(&mut TcpStream, Context) -> u64,
    /// What is sent behind every sequence. memcached tells that a value is refused only when it is there, so that none may
    /// end with the sequence.
    end: &'static [u8],
    /// Whether it is made of frames, and what is none loses memcached's place.
    framed: bool,
    /// The answers, with every cas counted from `base`.
    normal: fn(&[u8], u64) -> Vec<u8>,
}

const TEXT: Protocol = Protocol { begin: begin_text, end: BLANKS, framed: false, normal: normal_text };
const BINARY: Protocol = Protocol { begin: begin_binary, end: &[], framed: true, normal: normal_binary };

/// A line that says nothing, longer than any value.
const BLANKS: &[u8] = &{
    let mut line = [b' '; 500];
    line[499] = b'\n';
    line
};

fn begin_text(stream: &mut TcpStream, context: Context) -> u64 {
    let number = context.number;
    write!(stream, "set base{number} 0 0 1\r\nx\r\ngets base{number}\r\n").unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"END\r\n") {
        let mut piece = [0; 256];
        let size = stream.read(&mut piece).unwrap();
        assert!(size > 0, "closed at the start");
        answer.extend_from_slice(&piece[..size]);
    }
    let answer = super::text(&answer);
    let head = answer.lines().nth(1).unwrap();
    head.rsplit(' ').next().unwrap().parse().unwrap()
}

fn begin_binary(stream: &mut TcpStream, context: Context) -> u64 {
    let literal = format!("base{}", context.number).into_bytes();
    let (extras, wrong) = (vec![0; 8], [0; 3]);
    let set = Part::Frame { opcode: 0x01, extras, key: None, literal, value: b"x".to_vec(), cas: None, wrong };
    stream.write_all(&context.part(&set)).unwrap();
    let mut answer = [0; 24];
    stream.read_exact(&mut answer).unwrap();
    u64::from_be_bytes(answer[16..].try_into().unwrap())
}

/// Lines, of which some have a cas in them; and values, which have none.
fn normal_text(mut answers: &[u8], base: u64) -> Vec<u8> {
    let mut normal = Vec::new();
    while let Some(end) = answers.windows(2).position(|two| two == b"\r\n") {
        let line = super::text(&answers[..end]);
        answers = &answers[end + 2..];
        let words: Vec<&str> = line.split(' ').collect();
        let counted = |cas: &str| match cas.parse::<u64>() {
            // memcached says 0 where nothing was stored.
            Ok(0) | Err(_) => cas.to_owned(),
            Ok(cas) => format!("base+{}", cas.wrapping_sub(base)),
        };
        let value = match words[..] {
            ["VALUE", _, _, length] | ["VALUE", _, _, length, _] | ["VA", length, ..] => length.parse::<usize>().ok(),
            _ => None,
        };
        let meta = ["VA", "HD", "EN", "NF", "NS", "EX"].contains(&words[0]);
        for (place, word) in words.iter().enumerate() {
            let word = match (words[0], place, word.chars().next()) {
                ("VALUE", 4, _) => counted(word),
                ("VERSION", 1, _) => "version".to_owned(),
                ("ME", 2, _) => format!("exp={}", left(word.trim_start_matches("exp="))),
                ("ME", 4, _) => format!("cas={}", counted(word.trim_start_matches("cas="))),
                (_, 1.., Some('t')) if meta => format!("t{}", left(&word[1..])),
                // Of memcached's own memory.
                ("ME", 6 | 7, _) => word.split('=').next().unwrap().to_owned(),
                (_, 1.., Some('c')) if meta => format!("c{}", counted(&word[1..])),
                _ => (*word).to_owned(),
            };
            normal.extend_from_slice(word.as_bytes());
            normal.push(b' ');
        }
        normal.push(b'\n');
        if let Some(length) = value {
            let (value, rest) = answers.split_at(answers.len().min(length + 2));
            normal.extend_from_slice(value);
            answers = rest;
        }
    }
    normal.extend_from_slice(answers);
    normal
}

/// What is left until an expiry, without the second in which it is: which of those that are chosen it was.
fn left(seconds: &str) -> &'static str {
    // me counts them negative.
    match if seconds == "-1" { Ok(-1) } else { seconds.trim_start_matches('-').parse::<i64>() } {
        Ok(-1) => "never",
        Ok(..50) => "seconds",
        Ok(..1000) => "minutes",
        Ok(..4000) => "hours",
        Ok(..2_600_000) => "a month",
        Ok(_) => "years",
        Err(_) => "no number",
    }
}

fn normal_binary(mut answers: &[u8], base: u64) -> Vec<u8> {
    let mut normal = Vec::new();
    while let Some((header, rest)) = answers.split_first_chunk::<24>() {
        let length = u32::from_be_bytes(header[8..12].try_into().unwrap()) as usize;
        let cas = u64::from_be_bytes(header[16..].try_into().unwrap());
        let is_version = header[1] == 0x0b && header[6..8] == [0, 0];
        let (body, rest) = rest.split_at(rest.len().min(length));
        normal.extend_from_slice(if is_version { &header[..8] } else { &header[..16] });
        normal.extend_from_slice(&if cas == 0 { 0 } else { cas.wrapping_sub(base) }.to_be_bytes());
        normal.extend_from_slice(if is_version { b"version" } else { body });
        answers = rest;
    }
    normal.extend_from_slice(answers);
    normal
}

/// What a server answers to a sequence of which it has not seen the keys.
fn ask(address: SocketAddr, protocol: &Protocol, sequence: &Sequence, number: u64) -> Vec<u8> {
    let mut stream = connect(address);
    let mut context = Context { number, base: 0 };
    context.base = (protocol.begin)(&mut stream, context);
    // A server that has closed already is not listening to the end.
    _ = stream.write_all(&[&context.bytes(sequence), protocol.end].concat());
    (protocol.normal)(&rest(stream), context.base)
}

/// The commands before the first that may be no frame, if there is one: at that memcached closes, without the answers
/// that it has not sent.
fn before_wrong(sequence: &Sequence) -> Option<Sequence> {
    let is_wrong = |part: &Part| match part {
        Part::Frame { wrong, .. } => *wrong != [0; 3],
        Part::Bytes(bytes) => bytes.starts_with(&[0x81]) || bytes.starts_with(&[0x80]),
        _ => false,
    };
    let wrong = sequence.iter().position(|command| command.iter().any(is_wrong))?;
    Some(sequence[..wrong].to_vec())
}

/// Compares the answers to many sequences.
fn compare(protocol: &Protocol, sequences: impl Strategy<Value = Sequence>) {
    let Some(memcached) = Memcached::start() else { return };
    let server = CacheServer::start(&[]);
    let chosen = std::env::var(SEED).ok().map(|seed| seed.parse().unwrap());
    let seed = chosen.unwrap_or(USUAL_SEED);
    eprintln!("{CASES} sequences; to have the same again: {SEED}={seed}");
    let config =
        Config { cases: CASES, failure_persistence: None, rng_seed: RngSeed::Fixed(seed), ..Config::default() };
    let number = std::cell::Cell::new(0);
    let outcome = TestRunner::new(config).run(&sequences, |sequence| {
        let before = protocol.framed.then(|| before_wrong(&sequence)).flatten();
        let mut difference = String::new();
        // Once more where a second may have ended for one of the two in between.
        for _ in 0..3 {
            number.set(number.get() + 1);
            let expected = ask(memcached.address, protocol, before.as_ref().unwrap_or(&sequence), number.get());
            let answered = ask(server.address, protocol, &sequence, number.get());
            let same = expected == answered || before.is_some() && answered.starts_with(&expected);
            if same {
                return Ok(());
            }
            let sent = Context { number: number.get(), base: 0 }.bytes(&sequence);
            difference = format!(
                "to {:?}\nmemcached answers\n  {:?}\nand cache-server\n  {:?}",
                sent.escape_ascii().to_string(),
                super::text(&expected),
                super::text(&answered)
            );
        }
        Err(TestCaseError::fail(difference))
    });
    if let Err(proptest::test_runner::TestError::Fail(why, _)) = &outcome {
        panic!("{SEED}={seed}\n{why}");
    }
    outcome.unwrap();
}

#[test]
fn text_commands_are_answered_as_memcached_answers_them() {
    compare(&TEXT, text::sequences());
}

#[test]
fn meta_commands_are_answered_as_memcached_answers_them() {
    compare(&TEXT, text::meta_sequences());
}

#[test]
fn binary_commands_are_answered_as_memcached_answers_them() {
    compare(&BINARY, binary::sequences());
}
