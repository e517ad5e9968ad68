//! incr and decr.

use super::{BAD_FORMAT, ERROR, is_key, reply};
use crate::number::{unsigned, write};
use crate::server::Cache;
use crate::store::{Change, Counted};

pub const NO_NUMBER: &[u8] = b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
pub const NO_ROOM: &[u8] = b"SERVER_ERROR out of memory\r\n";

pub fn count(up: bool, arguments: &[&[u8]], quiet: bool, output: &mut Vec<u8>, cache: &mut Cache) {
    let ([key, by] | [key, by, _]) = arguments else { return output.extend_from_slice(ERROR) };
    if !is_key(key) {
        return reply(quiet, BAD_FORMAT, output);
    }
    let Some(by) = unsigned(by) else {
        return reply(quiet, b"CLIENT_ERROR invalid numeric delta argument\r\n", output);
    };
    let change = if up { Change::Up(by) } else { Change::Down(by) };
    match cache.store.count(key, change, 0, cache.now) {
        Counted::Number(_) if quiet => {}
        Counted::Number(number) => {
            write(output, number);
            output.extend_from_slice(b"\r\n");
        }
        // No cas was given that it could have another of.
        Counted::NotFound | Counted::Exists => reply(quiet, b"NOT_FOUND\r\n", output),
        Counted::NoNumber => reply(quiet, NO_NUMBER, output),
        Counted::NoRoom => reply(quiet, NO_ROOM, output),
    }
}
