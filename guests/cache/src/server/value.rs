//! A value on its way in: it is written into the store as it comes, and stored when it is complete.

use super::session::State;
use super::{Cache, binary, meta, text};
use crate::store::{Draft, Mode, Outcome, Refusal, Store};

/// What ends a value in the text protocols.
const LINE_END: &[u8; 2] = b"\r\n";

/// A value, as far as it is there.
#[derive(Debug)]
pub struct Incoming {
    draft: Draft,
    /// Bytes of the value that are still to come.
    left: usize,
    /// What came behind it, in the text protocols.
    end: [u8; 2],
    /// How many of those came, of how many.
    ended: usize,
    ends: usize,
    mode: Mode,
    reply: Reply,
}

/// How it is answered.
#[derive(Debug)]
pub enum Reply {
    Text { quiet: bool },
    Meta(meta::Stashed),
    Binary(binary::Asked),
}

/// What came of a value.
#[derive(Debug, Clone, Copy)]
pub enum Ending {
    Is(Outcome),
    /// It did not end with the end of a line.
    BadEnd,
    NoRoom,
}

impl Incoming {
    pub fn new(draft: Draft, mode: Mode, length: usize, reply: Reply) -> Self {
        let ends = if matches!(reply, Reply::Binary(_)) { 0 } else { LINE_END.len() };
        Self { draft, left: length, end: [0; 2], ended: 0, ends, mode, reply }
    }

    /// Takes bytes, and says how many of them, and what comes next.
    pub fn receive(mut self, input: &[u8], output: &mut Vec<u8>, cache: &mut Cache) -> (usize, State) {
        let (value, rest) = input.split_at(self.left.min(input.len()));
        if let Err(Refusal::NoRoom | Refusal::TooLarge) = cache.store.write(&mut self.draft, value) {
            // What was there under the key is forgotten: everything was that is not being written, to make room.
            let left = self.left - value.len() + self.ends;
            cache.store.statistics_mut().cmd_set += 1;
            self.reply.write(Ending::NoRoom, output);
            cache.store.discard(self.draft);
            return (value.len(), if left == 0 { State::Ready } else { State::Skip(left as u64) });
        }
        self.left -= value.len();
        if self.left > 0 {
            return (value.len(), State::Value(self));
        }
        let end = rest.len().min(self.ends - self.ended);
        self.end[self.ended..self.ended + end].copy_from_slice(&rest[..end]);
        self.ended += end;
        let used = value.len() + end;
        if self.ended < self.ends {
            return (used, State::Value(self));
        }
        self.complete(output, cache);
        (used, State::Ready)
    }

    fn complete(self, output: &mut Vec<u8>, cache: &mut Cache) {
        let statistics = cache.store.statistics_mut();
        statistics.cmd_set += 1;
        if self.ends > 0 && self.end != *LINE_END {
            cache.store.discard(self.draft);
            cache.traffic.errors += 1;
            self.reply.write(Ending::BadEnd, output);
            return;
        }
        let outcome = cache.store.finish(self.draft, cache.now);
        if self.mode == Mode::Cas {
            let statistics = cache.store.statistics_mut();
            match outcome {
                Outcome::Stored(_) => statistics.cas_hits += 1,
                Outcome::Exists => statistics.cas_badval += 1,
                Outcome::NotFound | Outcome::NotStored => statistics.cas_misses += 1,
            }
        }
        self.reply.write(Ending::Is(outcome), output);
    }

    pub fn give_up(self, store: &mut Store) {
        store.discard(self.draft);
    }
}

impl Reply {
    fn write(&self, ending: Ending, output: &mut Vec<u8>) {
        match self {
            Self::Text { quiet } => text::stored(ending, *quiet, output),
            Self::Meta(stashed) => stashed.write(ending, output),
            Self::Binary(asked) => asked.stored(ending, output),
        }
    }
}
