//! increment and decrement.

use super::frame::{Frame, Status};
use crate::binary::{DO_NOT_CREATE, opcode};
use crate::number;
use crate::server::Cache;
use crate::store::{Change, Counted, Expiry, Intent};

pub fn count(frame: Frame<'_>, output: &mut Vec<u8>, cache: &mut Cache) {
    let Frame { asked, extras, key } = frame;
    let Some((by, rest)) = extras.split_first_chunk() else { return };
    let Some((initial, rest)) = rest.split_first_chunk() else { return };
    let Some((expiry, _)) = rest.split_first_chunk() else { return };
    let by = u64::from_be_bytes(*by);
    let change = if asked.command == opcode::INCREMENT { Change::Up(by) } else { Change::Down(by) };
    let number = match cache.store.count(key, change, asked.cas, cache.now) {
        Counted::Number(number) => number,
        Counted::NotFound => {
            let expiry = u32::from_be_bytes(*expiry);
            if expiry == DO_NOT_CREATE {
                return asked.error(Status::NotFound, output);
            }
            let initial = u64::from_be_bytes(*initial);
            let (digits, first) = number::digits(initial);
            let expiry = Expiry::from_client(expiry.into(), cache.now);
            let intent = Intent { expiry, ..Intent::default() };
            return match cache.store.put_value(key, &digits[first..], intent, cache.now) {
                Ok(cas) => asked.done_with(&initial.to_be_bytes(), cas, output),
                Err(_) => asked.error(Status::NoRoom, output),
            };
        }
        Counted::NoNumber => return asked.error(Status::NoNumber, output),
        Counted::Exists => return asked.error(Status::Exists, output),
        Counted::NoRoom => return asked.error(Status::NoRoom, output),
    };
    let found = cache.store.find(key, cache.now);
    let cas = found.map_or(0, |found| cache.store.look(found).cas());
    asked.done_with(&number.to_be_bytes(), cas, output);
}
