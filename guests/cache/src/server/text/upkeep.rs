//! delete, and what is about the server rather than a key.

use super::{BAD_FORMAT, ERROR, is_key, reply};
use crate::number::{signed32, unsigned32};
use crate::server::statistics::{self, Kind};
use crate::server::{Cache, VERSION};
use crate::store::Flush;

pub fn delete(arguments: &[&[u8]], quiet: bool, output: &mut Vec<u8>, cache: &mut Cache) {
    let key = match arguments {
        [key] | [key, b"0"] | [key, b"noreply"] | [key, b"0", b"noreply"] => key,
        [_, _] | [_, _, _] => {
            let usage = b"CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n";
            return reply(quiet, usage, output);
        }
        _ => return output.extend_from_slice(ERROR),
    };
    // The only word is the key, whatever it is.
    let quiet = quiet && arguments.len() > 1;
    if !is_key(key) {
        return reply(quiet, BAD_FORMAT, output);
    }
    let deleted = cache.store.delete(key, cache.now);
    reply(quiet, if deleted { b"DELETED\r\n" } else { b"NOT_FOUND\r\n" }, output);
}

pub fn flush(arguments: &[&[u8]], quiet: bool, output: &mut Vec<u8>, cache: &mut Cache) {
    let mut when = Flush::Now;
    match arguments {
        [] => {}
        [_] if quiet => {}
        [delay] | [delay, _] => {
            let Some(delay) = signed32(delay) else {
                return reply(quiet, b"CLIENT_ERROR invalid exptime argument\r\n", output);
            };
            when = Flush::from_client(delay.into(), cache.now, cache.started);
        }
        _ => return output.extend_from_slice(ERROR),
    }
    cache.store.flush(when, cache.now);
    reply(quiet, b"OK\r\n", output);
}

/// There is nothing to say more of; the level is accepted, as clients expect.
pub fn verbosity(arguments: &[&[u8]], quiet: bool, output: &mut Vec<u8>) {
    let ([level] | [level, _]) = arguments else { return output.extend_from_slice(ERROR) };
    let words = if unsigned32(level).is_some() { b"OK\r\n" } else { BAD_FORMAT };
    reply(quiet, words, output);
}

pub fn version(output: &mut Vec<u8>) {
    output.extend_from_slice(b"VERSION ");
    output.extend_from_slice(VERSION.as_bytes());
    output.extend_from_slice(b"\r\n");
}

pub fn stats(arguments: &[&[u8]], output: &mut Vec<u8>, cache: &mut Cache) {
    let kind = match arguments {
        [] => Kind::General,
        [b"reset", ..] => {
            statistics::reset(cache);
            return output.extend_from_slice(b"RESET\r\n");
        }
        [b"detail", b"on" | b"off", ..] => return output.extend_from_slice(b"OK\r\n"),
        [b"detail", b"dump", ..] => return output.extend_from_slice(b"END\r\n"),
        [b"detail", ..] => return output.extend_from_slice(b"CLIENT_ERROR usage: stats detail on|off|dump\r\n"),
        [b"cachedump", ..] => return output.extend_from_slice(b"CLIENT_ERROR stats cachedump not allowed\r\n"),
        [name, ..] => match Kind::named(name) {
            Some(kind) => kind,
            None => return output.extend_from_slice(ERROR),
        },
    };
    statistics::list(kind, cache, |name, value| {
        for part in [b"STAT ", name.as_bytes(), b" ", value.as_bytes(), b"\r\n"] {
            output.extend_from_slice(part);
        }
    });
    output.extend_from_slice(b"END\r\n");
}
