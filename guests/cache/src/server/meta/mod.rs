//! The meta commands: two letters, a key, and flags that say what is wanted.

mod arithmetic;
mod base64;
mod debug;
mod delete;
mod flags;
mod get;
mod set;

pub use set::Stashed;

use super::Cache;
use super::session::State;
use super::text::{BAD_FORMAT, ERROR, is_key};
use crate::store::Pieces;
use flags::Flags;

/// The most words of a line behind its name.
const MOST_WORDS: usize = 18;

/// The longest opaque token, its letter included.
const LONGEST_OPAQUE: usize = 32;

const OPAQUE_TOO_LONG: &[u8] = b"CLIENT_ERROR opaque token too long\r\n";

/// Does the command `m` and `kind`.
pub fn command(kind: u8, arguments: &[&[u8]], output: &mut Vec<u8>, cache: &mut Cache) -> State {
    match kind {
        b's' => return set::set(arguments, output, cache),
        b'g' => get::get(arguments, output, cache),
        b'd' => delete::delete(arguments, output, cache),
        b'a' => arithmetic::arithmetic(arguments, output, cache),
        b'e' => debug::debug(arguments, output, cache),
        b'n' => output.extend_from_slice(b"MN\r\n"),
        _ => output.extend_from_slice(ERROR),
    }
    State::Ready
}

/// The key of a command, as it is kept.
#[derive(Debug)]
struct Key {
    bytes: [u8; crate::key::MAX_LENGTH],
    length: usize,
    base64: bool,
}

impl Key {
    /// `None` where it is too long.
    fn plain(word: &[u8]) -> Option<Self> {
        let mut bytes = [0; crate::key::MAX_LENGTH];
        bytes.get_mut(..word.len())?.copy_from_slice(word);
        Some(Self { bytes, length: word.len(), base64: false })
    }

    /// `None` where it is not base64, or too long.
    fn base64(word: &[u8]) -> Option<Self> {
        let mut bytes = [0; crate::key::MAX_LENGTH];
        let length = base64::decode(word, &mut bytes)?;
        Some(Self { bytes, length, base64: true })
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// As it is given back.
    fn write(&self, output: &mut Vec<u8>) {
        write_key(std::iter::once(self.as_slice()), self.base64, output);
    }
}

fn write_key<'a>(pieces: impl Iterator<Item = &'a [u8]>, base64: bool, output: &mut Vec<u8>) {
    output.extend_from_slice(b" k");
    write_key_itself(pieces, base64, output);
    if base64 {
        output.extend_from_slice(b" b");
    }
}

fn write_key_itself<'a>(pieces: impl Iterator<Item = &'a [u8]>, base64: bool, output: &mut Vec<u8>) {
    if base64 {
        base64::encode(pieces.flatten().copied(), output);
    } else {
        pieces.for_each(|piece| output.extend_from_slice(piece));
    }
}

/// Gives back what was sent to tell answers apart; an error where it is too long.
fn write_opaque(word: &[u8], output: &mut Vec<u8>) -> Result<(), &'static [u8]> {
    if word.len() > LONGEST_OPAQUE {
        return Err(OPAQUE_TOO_LONG);
    }
    output.push(b' ');
    output.extend_from_slice(word);
    Ok(())
}

/// What is told of any key, found or not: the key itself, and what tells answers apart.
fn write_echoes(flags: &Flags<'_>, key: &Key, output: &mut Vec<u8>) -> Result<(), &'static [u8]> {
    for word in flags.words {
        match word[0] {
            b'O' => write_opaque(word, output)?,
            b'k' => key.write(output),
            _ => {}
        }
    }
    Ok(())
}

fn write_value(pieces: Pieces<'_>, output: &mut Vec<u8>) {
    pieces.for_each(|piece| output.extend_from_slice(piece));
    output.extend_from_slice(b"\r\n");
}

/// What is left until an expiry, as `t` tells it: -1 for ever.
fn write_ttl(expiry: crate::store::Expiry, now: u32, output: &mut Vec<u8>) {
    match expiry.at() {
        None => output.extend_from_slice(b"-1"),
        Some(at) => crate::number::write(output, at.saturating_sub(now).into()),
    }
}

/// The key and the flags, which stand `between` words behind it, or what is wrong with them.
fn read<'a>(
    words: &'a [&'a [u8]],
    between: usize,
    now: u32,
    too_many: &'static [u8],
    unsaid: &'static [u8],
) -> Result<(Key, Flags<'a>), &'static [u8]> {
    let Some((key, rest)) = words.split_first() else { return Err(ERROR) };
    if !is_key(key) {
        return Err(BAD_FORMAT);
    }
    if words.len() > MOST_WORDS {
        return Err(too_many);
    }
    Flags::read(key, rest.get(between..).unwrap_or_default(), now, unsaid)
}
