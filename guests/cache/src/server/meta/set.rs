//! ms: a value to store.

use super::super::text::{BAD_FORMAT, ERROR, LONGEST_VALUE, NO_ROOM, is_key, refused};
use super::super::value::{Ending, Incoming, Reply};
use super::{MOST_WORDS, read, write_opaque};
use crate::number::{signed32, write};
use crate::server::Cache;
use crate::server::session::State;
use crate::store::{Expiry, Intent, Mode, Outcome};

const TOO_MANY: &[u8] = b"CLIENT_ERROR options flags too long\r\n";
const BAD_MODE: &[u8] = b"CLIENT_ERROR invalid mode for ms M token\r\n";

/// Stands for the cas that is known only when the value is stored. No word of a line has it.
const CAS_HERE: u8 = 0;

/// What is told behind the outcome, written when the value begins: the line it is from is gone when the value is there.
#[derive(Debug)]
pub struct Stashed {
    echoes: Vec<u8>,
    quiet: bool,
}

pub fn set(arguments: &[&[u8]], output: &mut Vec<u8>, cache: &mut Cache) -> State {
    let length = match length(arguments) {
        Ok(length) => length,
        Err(words) => {
            output.extend_from_slice(words);
            return State::Ready;
        }
    };
    // From here on the value is passed over if it cannot be stored.
    match draft(arguments, length, cache) {
        Ok(incoming) => State::Value(incoming),
        Err(words) => {
            output.extend_from_slice(words);
            State::Skip(length as u64 + 2)
        }
    }
}

/// The length of the value.
fn length(arguments: &[&[u8]]) -> Result<usize, &'static [u8]> {
    let Some((key, rest)) = arguments.split_first() else { return Err(ERROR) };
    let Some(length) = rest.first().filter(|_| is_key(key)) else { return Err(BAD_FORMAT) };
    if arguments.len() > MOST_WORDS {
        return Err(TOO_MANY);
    }
    let length = signed32(length).and_then(|length| usize::try_from(length).ok());
    length.filter(|length| *length <= LONGEST_VALUE).ok_or(BAD_FORMAT)
}

fn draft(arguments: &[&[u8]], length: usize, cache: &mut Cache) -> Result<Incoming, &'static [u8]> {
    let (key, flags) = read(arguments, 1, cache.now, TOO_MANY, BAD_FORMAT)?;
    let mode = match flags.mode {
        None | Some(b'S') => Mode::Set,
        Some(b'E') => Mode::Add,
        Some(b'A') => Mode::Append,
        Some(b'P') => Mode::Prepend,
        Some(b'R') => Mode::Replace,
        Some(_) => return Err(BAD_MODE),
    };
    let mut echoes = Vec::new();
    for word in flags.words {
        match word[0] {
            b'O' => write_opaque(word, &mut echoes)?,
            b'k' => key.write(&mut echoes),
            b'c' => echoes.push(CAS_HERE),
            _ => {}
        }
    }
    let compares = flags.compare.is_some() && matches!(mode, Mode::Set | Mode::Replace);
    let intent = Intent {
        mode: if compares { Mode::Cas } else { mode },
        flags: flags.client_flags,
        expiry: flags.expiry.unwrap_or(Expiry::NEVER),
        compare: flags.compare.unwrap_or(0),
        stale_if_older: flags.stale,
        base64: key.base64,
    };
    match cache.store.draft(key.as_slice(), length, intent, cache.now) {
        Ok(draft) => {
            let reply = Reply::Meta(Stashed { echoes, quiet: flags.quiet });
            Ok(Incoming::new(draft, intent.mode, length, reply))
        }
        Err(refusal) => {
            // What is there would be out of date, whatever the mode.
            cache.store.remove(key.as_slice(), cache.now);
            Err(refused(refusal))
        }
    }
}

impl Stashed {
    pub fn write(&self, ending: Ending, output: &mut Vec<u8>) {
        let (code, cas) = match ending {
            Ending::Is(Outcome::Stored(_)) if self.quiet => return,
            Ending::Is(Outcome::Stored(cas)) => (b"HD", cas),
            Ending::Is(Outcome::NotStored) => (b"NS", 0),
            Ending::Is(Outcome::Exists) => (b"EX", 0),
            Ending::Is(Outcome::NotFound) => (b"NF", 0),
            Ending::BadEnd => return output.extend_from_slice(b"CLIENT_ERROR bad data chunk\r\n"),
            Ending::NoRoom => return output.extend_from_slice(NO_ROOM),
        };
        output.extend_from_slice(code);
        for byte in &self.echoes {
            if *byte == CAS_HERE {
                output.extend_from_slice(b" c");
                write(output, cas);
            } else {
                output.push(*byte);
            }
        }
        output.extend_from_slice(b"\r\n");
    }
}
