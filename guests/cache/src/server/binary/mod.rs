//! The binary protocol: a header of 24 bytes, extras, a key and a value.

mod counting;
mod frame;
mod retrieval;
mod storage;
mod upkeep;

pub use frame::Asked;

use super::session::{State, Step};
use super::{Cache, Wants};
use crate::binary::{HEADER, REQUEST, opcode};
use frame::{Frame, Status};

/// What is waited for behind a header, at most. More than extras and the longest key.
const LONGEST_START: usize = 1024;

/// Does the command at the start of `input`, if it is there but for its value.
pub fn command(input: &[u8], output: &mut Vec<u8>, cache: &mut Cache) -> (usize, Step) {
    let Some((header, rest)) = input.split_first_chunk::<HEADER>() else {
        // Nothing is waited for behind a byte that begins no header.
        let begins = input.first().is_none_or(|magic| *magic == REQUEST);
        return if begins { (0, Step::Wait(Wants::Input)) } else { (input.len(), Step::Next(State::Closed)) };
    };
    let Some(asked) = Asked::read(header) else { return (input.len(), Step::Next(State::Closed)) };
    let before_value = asked.extras_length + asked.key_length;
    if rest.len() < before_value.min(LONGEST_START) {
        return (0, Step::Wait(Wants::Input));
    }
    cache.traffic.commands += 1;
    if asked.key_length > crate::key::MAX_LENGTH {
        // Nobody has to send the longest of those keys whole.
        let status = if asked.lengths_agree() { Status::BadArguments } else { Status::UnknownCommand };
        return refuse(asked, status, input, output, cache);
    }
    let (extras, rest) = rest.split_at(asked.extras_length);
    let key = &rest[..asked.key_length];
    let frame = Frame { asked, extras, key };
    match dispatch(frame, output, cache) {
        Ok(state) => (HEADER + before_value, Step::Next(state)),
        Err(Closes(status)) => refuse(asked, status, input, output, cache),
    }
}

/// Says what is wrong, and closes: where the next command begins is not known.
fn refuse(asked: Asked, status: Status, input: &[u8], output: &mut Vec<u8>, cache: &mut Cache) -> (usize, Step) {
    cache.traffic.errors += 1;
    asked.error(status, output);
    (input.len(), Step::Next(State::Closed))
}

/// A frame that is answered with this, and nothing after it.
struct Closes(Status);

fn dispatch(frame: Frame<'_>, output: &mut Vec<u8>, cache: &mut Cache) -> Result<State, Closes> {
    let Frame { asked, extras, key } = frame;
    if !asked.lengths_agree() {
        return Err(Closes(Status::UnknownCommand));
    }
    let value = asked.value_length();
    let key_only = extras.is_empty() && !key.is_empty() && value == 0;
    let nothing = extras.is_empty() && key.is_empty() && value == 0;
    match asked.command {
        opcode::GET | opcode::GETK if key_only => retrieval::get(frame, output, cache),
        opcode::TOUCH | opcode::GAT | opcode::GATK if extras.len() == 4 && !key.is_empty() => {
            retrieval::touch(frame, output, cache);
        }
        opcode::SET | opcode::ADD | opcode::REPLACE if extras.len() == 8 && !key.is_empty() => {
            return Ok(storage::store(frame, output, cache));
        }
        opcode::APPEND | opcode::PREPEND if extras.is_empty() && !key.is_empty() => {
            return Ok(storage::store(frame, output, cache));
        }
        opcode::DELETE if key_only => upkeep::delete(frame, output, cache),
        opcode::INCREMENT | opcode::DECREMENT if extras.len() == 20 && !key.is_empty() && value == 0 => {
            counting::count(frame, output, cache);
        }
        opcode::QUIT if nothing => {
            asked.done(output);
            return Ok(State::Closed);
        }
        opcode::FLUSH if key.is_empty() && value == 0 && matches!(extras.len(), 0 | 4) => {
            upkeep::flush(frame, output, cache);
        }
        opcode::NOOP if nothing => asked.done(output),
        opcode::VERSION if nothing => upkeep::version(asked, output),
        opcode::STAT if extras.is_empty() => upkeep::stat(frame, output, cache),
        known if opcode::is_known(known) => return Err(Closes(Status::BadArguments)),
        _ => {
            cache.traffic.errors += 1;
            asked.error(Status::UnknownCommand, output);
            return Ok(if value == 0 { State::Ready } else { State::Skip(value as u64) });
        }
    }
    Ok(State::Ready)
}
