//! ma: counts up or down.

use super::delete::{BAD_FLAGS, about_flags};
use super::flags::Flags;
use super::{Key, read, write_echoes, write_opaque, write_ttl};
use crate::number::{self, write};
use crate::server::Cache;
use crate::server::text::{NO_NUMBER, NO_ROOM_TO_COUNT};
use crate::store::{Change, Counted, Intent};

const TOO_MANY: &[u8] = b"CLIENT_ERROR options flags too long\r\n";
const BAD_MODE: &[u8] = b"CLIENT_ERROR invalid mode for ma M token\r\n";
const NO_ROOM_FOR_ITEM: &[u8] = b"SERVER_ERROR Out of memory allocating new item\r\n";

pub fn arithmetic(arguments: &[&[u8]], output: &mut Vec<u8>, cache: &mut Cache) {
    let (key, flags) = match read(arguments, 0, cache.now, TOO_MANY, BAD_FLAGS) {
        Ok(read) => read,
        Err(words) => return output.extend_from_slice(about_flags(words, TOO_MANY)),
    };
    let start = output.len();
    if let Err(words) = count(&key, &flags, output, cache) {
        output.truncate(start);
        output.extend_from_slice(words);
    }
}

fn count(key: &Key, flags: &Flags<'_>, output: &mut Vec<u8>, cache: &mut Cache) -> Result<(), &'static [u8]> {
    let change = match flags.mode {
        None | Some(b'I' | b'+') => Change::Up(flags.delta),
        Some(b'D' | b'-') => Change::Down(flags.delta),
        Some(_) => return Err(BAD_MODE),
    };
    let (code, number) = match cache.store.count(key.as_slice(), change, flags.compare.unwrap_or(0), cache.now) {
        Counted::Number(number) => (&b"HD"[..], Some((number, false))),
        Counted::NoNumber => return Err(NO_NUMBER),
        Counted::NoRoom => return Err(NO_ROOM_TO_COUNT),
        Counted::Exists => (&b"EX"[..], None),
        Counted::NotFound => match flags.vivify {
            None => (&b"NF"[..], None),
            Some(_) => {
                let (digits, first) = number::digits(flags.initial);
                let intent = Intent { base64: key.base64, ..Intent::default() };
                let begun = cache.store.put_value(key.as_slice(), &digits[first..], intent, cache.now);
                begun.map_err(|_| NO_ROOM_FOR_ITEM)?;
                (&b"HD"[..], Some((flags.initial, true)))
            }
        },
    };
    let Some((number, created)) = number else {
        output.extend_from_slice(code);
        write_echoes(flags, key, output)?;
        output.extend_from_slice(b"\r\n");
        return Ok(());
    };
    let start = output.len();
    counted(key, flags, number, created, output, cache)?;
    if flags.quiet && !created {
        output.truncate(start);
    }
    Ok(())
}

/// Answers with a number, and what else is asked for.
fn counted(
    key: &Key,
    flags: &Flags<'_>,
    number: u64,
    created: bool,
    output: &mut Vec<u8>,
    cache: &mut Cache,
) -> Result<(), &'static [u8]> {
    let now = cache.now;
    let (digits, first) = number::digits(number);
    let digits = &digits[first..];
    if flags.value {
        output.extend_from_slice(b"VA ");
        write(output, digits.len() as u64);
    } else {
        output.extend_from_slice(b"HD");
    }
    // It was there a moment ago.
    let found = cache.store.find(key.as_slice(), now);
    for word in flags.words {
        match (word[0], found) {
            (b'c', Some(found)) => {
                output.extend_from_slice(b" c");
                write(output, cache.store.look(found).cas());
            }
            (b't', Some(found)) => {
                output.extend_from_slice(b" t");
                write_ttl(cache.store.look(found).expiry(), now, output);
            }
            (b'T', Some(found)) => {
                flags.expiry.into_iter().for_each(|expiry| cache.store.set_expiry(found, expiry));
            }
            (b'N', Some(found)) if created => {
                flags.vivify.into_iter().for_each(|expiry| cache.store.set_expiry(found, expiry));
            }
            (b'O', _) => write_opaque(word, output)?,
            (b'k', _) => key.write(output),
            _ => {}
        }
    }
    output.extend_from_slice(b"\r\n");
    if flags.value {
        output.extend_from_slice(digits);
        output.extend_from_slice(b"\r\n");
    }
    Ok(())
}
