//! delete, and what is about the server rather than a key.

use super::frame::{Asked, Frame, Lengths, Status};
use crate::server::statistics::{self, Kind};
use crate::server::{Cache, VERSION};
use crate::store::Flush;

pub fn delete(frame: Frame<'_>, output: &mut Vec<u8>, cache: &mut Cache) {
    let Frame { asked, key, .. } = frame;
    let found = cache.store.find(key, cache.now);
    if found.is_some_and(|found| asked.cas != 0 && asked.cas != cache.store.look(found).cas()) {
        return asked.error(Status::Exists, output);
    }
    if cache.store.delete(key, cache.now) {
        asked.done(output);
    } else {
        asked.error(Status::NotFound, output);
    }
}

pub fn flush(frame: Frame<'_>, output: &mut Vec<u8>, cache: &mut Cache) {
    let delay = match *frame.extras {
        [a, b, c, d] => u32::from_be_bytes([a, b, c, d]),
        _ => 0,
    };
    cache.store.flush(Flush::from_client(delay.into(), cache.now, cache.started), cache.now);
    frame.asked.done(output);
}

pub fn version(asked: Asked, output: &mut Vec<u8>) {
    asked.done_with(VERSION.as_bytes(), 0, output);
}

/// A list of statistics: an answer for each, and an empty one at the end. The key says which.
pub fn stat(frame: Frame<'_>, output: &mut Vec<u8>, cache: &mut Cache) {
    let Frame { asked, key, .. } = frame;
    if key.starts_with(b"reset") {
        statistics::reset(cache);
        return end(asked, output);
    }
    if let Some(what) = key.strip_prefix(b"detail") {
        let known = [&b" on"[..], b" off", b" dump"].iter().any(|known| what.starts_with(known));
        return if known { end(asked, output) } else { asked.error(Status::NotFound, output) };
    }
    let kind = if key.is_empty() { Some(Kind::General) } else { Kind::named(key) };
    let Some(kind) = kind else { return asked.error(Status::NotFound, output) };
    statistics::list(kind, cache, |name, value| {
        asked.header(0, Lengths { key: name.len(), value: value.len(), extras: 0 }, 0, output);
        output.extend_from_slice(name.as_bytes());
        output.extend_from_slice(value.as_bytes());
    });
    end(asked, output);
}

fn end(asked: Asked, output: &mut Vec<u8>) {
    asked.header(0, Lengths::default(), 0, output);
}
