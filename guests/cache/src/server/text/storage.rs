//! set, add, replace, append, prepend, cas.

use super::{BAD_FORMAT, ERROR, NO_ROOM, TOO_LARGE, is_key, reply};
use crate::number::{signed32, unsigned, unsigned32};
use crate::server::Cache;
use crate::server::session::State;
use crate::server::value::{Ending, Incoming, Reply};
use crate::store::{Expiry, Intent, Mode, Outcome, Refusal};

/// The longest value that can be announced; whether it can be stored is asked after that.
pub const LONGEST_VALUE: usize = i32::MAX as usize - 2;

/// Reads the line before a value, and begins the value.
pub fn store(name: &[u8], arguments: &[&[u8]], quiet: bool, output: &mut Vec<u8>, cache: &mut Cache) -> State {
    let numbers = if name == b"cas" { 5 } else { 4 };
    if !(numbers..=numbers + 1).contains(&arguments.len()) {
        output.extend_from_slice(ERROR);
        return State::Ready;
    }
    let key = arguments[0];
    let read = read(name, arguments, cache);
    let Some((intent, length)) = read.filter(|_| is_key(key)) else {
        reply(quiet, BAD_FORMAT, output);
        return State::Ready;
    };
    match cache.store.draft(key, length, intent, cache.now) {
        Ok(draft) => State::Value(Incoming::new(draft, intent.mode, length, Reply::Text { quiet })),
        Err(refusal) => {
            reply(quiet, refused(refusal), output);
            State::Skip(length as u64 + 2)
        }
    }
}

/// The numbers behind the key.
fn read(name: &[u8], arguments: &[&[u8]], cache: &Cache) -> Option<(Intent, usize)> {
    let flags = unsigned32(arguments[1])?;
    let expiry = signed32(arguments[2])?;
    let length = usize::try_from(signed32(arguments[3])?).ok().filter(|length| *length <= LONGEST_VALUE)?;
    let (mode, compare) = match name {
        b"set" => (Mode::Set, 0),
        b"add" => (Mode::Add, 0),
        b"replace" => (Mode::Replace, 0),
        b"append" => (Mode::Append, 0),
        b"prepend" => (Mode::Prepend, 0),
        _ => (Mode::Cas, unsigned(arguments[4])?),
    };
    let expiry = Expiry::from_client(expiry.into(), cache.now);
    Some((Intent { mode, flags, expiry, compare, ..Intent::default() }, length))
}

pub fn refused(refusal: Refusal) -> &'static [u8] {
    match refusal {
        Refusal::TooLarge => TOO_LARGE,
        Refusal::NoRoom => NO_ROOM,
    }
}

/// What came of a value.
pub fn stored(ending: Ending, quiet: bool, output: &mut Vec<u8>) {
    let words: &[u8] = match ending {
        Ending::Is(Outcome::Stored(_)) => b"STORED\r\n",
        Ending::Is(Outcome::NotStored) => b"NOT_STORED\r\n",
        Ending::Is(Outcome::Exists) => b"EXISTS\r\n",
        Ending::Is(Outcome::NotFound) => b"NOT_FOUND\r\n",
        Ending::BadEnd => b"CLIENT_ERROR bad data chunk\r\n",
        Ending::NoRoom => NO_ROOM,
    };
    reply(quiet, words, output);
}
