//! set, add, replace, append, prepend.

use super::frame::{Frame, Status};
use crate::binary::opcode;
use crate::server::Cache;
use crate::server::session::State;
use crate::server::value::{Incoming, Reply};
use crate::store::{Expiry, Intent, Mode, Refusal};

/// Begins a value, whose bytes come next.
pub fn store(frame: Frame<'_>, output: &mut Vec<u8>, cache: &mut Cache) -> State {
    let Frame { asked, extras, key } = frame;
    // Append and prepend have none, and keep what is there.
    let (flags, expiry) = match *extras {
        [a, b, c, d, e, f, g, h] => (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])),
        _ => (0, 0),
    };
    let mode = match asked.command {
        opcode::APPEND => Mode::Append,
        opcode::PREPEND => Mode::Prepend,
        _ if asked.cas != 0 => Mode::Cas,
        opcode::ADD => Mode::Add,
        opcode::REPLACE => Mode::Replace,
        _ => Mode::Set,
    };
    let expiry = Expiry::from_client(expiry.into(), cache.now);
    let intent = Intent { mode, flags, expiry, compare: asked.cas, ..Intent::default() };
    let length = asked.value_length();
    match cache.store.draft(key, length, intent, cache.now) {
        Ok(draft) => {
            let incoming = Incoming::new(draft, mode, length, Reply::Binary(asked));
            // There is nothing to wait for behind a value of no bytes.
            if length > 0 {
                return State::Value(incoming);
            }
            incoming.receive(&[], output, cache).1
        }
        Err(refusal) => {
            if mode == Mode::Cas && asked.command == opcode::SET {
                cache.store.remove(key, cache.now);
            }
            asked.error(refused(refusal), output);
            if length == 0 { State::Ready } else { State::Skip(length as u64) }
        }
    }
}

fn refused(refusal: Refusal) -> Status {
    match refusal {
        Refusal::TooLarge => Status::TooLarge,
        Refusal::NoRoom => Status::NoRoom,
    }
}
