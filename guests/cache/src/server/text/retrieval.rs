//! get, gets, gat, gats, and touch.

use super::{BAD_FORMAT, Command, ERROR, MOST_BLANKS, answer, is_key, reply};
use crate::key;
use crate::number::{signed32, write};
use crate::server::session::{HIGH_WATER, State, Step};
use crate::server::{Cache, Wants};
use crate::store::{Expiry, Item};

const BAD_EXPIRY: &[u8] = b"CLIENT_ERROR invalid exptime argument\r\n";

/// Begins a get, whose keys are then read one by one, with room for answers in between.
pub fn get(name: &[u8], line: &[u8], arguments: &[&[u8]], output: &mut Vec<u8>, cache: &mut Cache) -> Command {
    if arguments.is_empty() {
        return answer(ERROR, output);
    }
    let touches = name.starts_with(b"gat");
    let with_cas = name.ends_with(b"s");
    let mut words = line.split(|byte| *byte == b' ');
    // Where the keys begin: behind the name, and the expiry if there is one.
    let mut at = 0;
    let mut to_pass = 1 + usize::from(touches);
    while to_pass > 0 {
        let Some(word) = words.next() else { break };
        at += word.len() + 1;
        to_pass -= usize::from(!word.is_empty());
    }
    let mut touch = None;
    if touches {
        let Some(expiry) = signed32(arguments[0]) else { return answer(BAD_EXPIRY, output) };
        touch = Some(Expiry::from_client(expiry.into(), cache.now));
    }
    if !words.clone().all(is_key) {
        // No value is given, but those before the wrong key are used.
        for word in words.take_while(|word| is_key(word)).filter(|word| !word.is_empty()) {
            look_up(word, touch, cache);
        }
        return answer(BAD_FORMAT, output);
    }
    Command::Keys(State::Keys { with_cas, touch }, at.min(line.len()))
}

/// If a line whose end has not come is a get, which may be as long as it likes: where its keys begin, and what it is.
pub fn begins(input: &[u8]) -> Option<(usize, State)> {
    let blanks = input.iter().take_while(|byte| **byte == b' ').count();
    if blanks > MOST_BLANKS {
        return None;
    }
    let line = &input[blanks..];
    let name = [&b"get "[..], b"gets "].into_iter().find(|name| line.starts_with(name))?;
    Some((blanks + name.len(), State::Keys { with_cas: name == b"gets ", touch: None }))
}

/// Answers keys, until their line ends or there is no room for more answers.
pub fn keys(
    input: &[u8],
    with_cas: bool,
    touch: Option<Expiry>,
    output: &mut Vec<u8>,
    cache: &mut Cache,
) -> (usize, Step) {
    let mut at = 0;
    loop {
        let rest = &input[at..];
        let Some(end) = rest.iter().position(|byte| matches!(byte, b' ' | b'\n' | 0)) else {
            if rest.len() > key::MAX_LENGTH + 1 {
                output.extend_from_slice(BAD_FORMAT);
                return (at, Step::Next(State::SkipLine));
            }
            return (at, Step::Wait(Wants::Input));
        };
        let last = rest[end] == b'\n';
        let word = match &rest[..end] {
            [word @ .., b'\r'] if last => word,
            word => word,
        };
        if !is_key(word) {
            output.extend_from_slice(BAD_FORMAT);
            return (at, Step::Next(State::SkipLine));
        }
        if !word.is_empty() {
            if output.len() >= HIGH_WATER {
                return (at, Step::Wait(Wants::Room));
            }
            look_up(word, touch, cache).into_iter().for_each(|item| value(word, item, with_cas, output));
        }
        at += end + 1;
        match rest[end] {
            b'\n' => {
                output.extend_from_slice(b"END\r\n");
                return (at, Step::Next(State::Ready));
            }
            0 => {
                output.extend_from_slice(b"END\r\n");
                return (at, Step::Next(State::SkipLine));
            }
            _ => {}
        }
    }
}

fn look_up<'a>(key: &[u8], touch: Option<Expiry>, cache: &'a mut Cache) -> Option<Item<'a>> {
    match touch {
        None => cache.store.get(key, cache.now),
        Some(expiry) => cache.store.touch(key, expiry, cache.now),
    }
}

fn value(key: &[u8], item: Item<'_>, with_cas: bool, output: &mut Vec<u8>) {
    output.reserve(key.len() + item.length() + 64);
    output.extend_from_slice(b"VALUE ");
    output.extend_from_slice(key);
    output.push(b' ');
    write(output, item.flags().into());
    output.push(b' ');
    write(output, item.length() as u64);
    if with_cas {
        output.push(b' ');
        write(output, item.cas());
    }
    output.extend_from_slice(b"\r\n");
    item.value().for_each(|piece| output.extend_from_slice(piece));
    output.extend_from_slice(b"\r\n");
}

pub fn touch(arguments: &[&[u8]], quiet: bool, output: &mut Vec<u8>, cache: &mut Cache) {
    let ([key, expiry] | [key, expiry, _]) = arguments else { return output.extend_from_slice(ERROR) };
    if !is_key(key) {
        return reply(quiet, BAD_FORMAT, output);
    }
    let Some(expiry) = signed32(expiry) else { return reply(quiet, BAD_EXPIRY, output) };
    let expiry = Expiry::from_client(expiry.into(), cache.now);
    let touched = cache.store.touch(key, expiry, cache.now).is_some();
    reply(quiet, if touched { b"TOUCHED\r\n" } else { b"NOT_FOUND\r\n" }, output);
}
