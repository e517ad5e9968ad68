//! An item that is being written. Its value may come in pieces, and is kept within the store's bound from the first.

use super::blocks::{CONTINUED, SIZE};
use super::expiry::Expiry;
use super::{LONGEST_KEY, Seconds, Store, head, mark};

/// When an item is stored, as far as what is there already is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Always.
    #[default]
    Set,
    /// Where there is none.
    Add,
    /// Where there is one.
    Replace,
    /// Behind the one that is there, whose flags and expiry stay.
    Append,
    /// In front of it.
    Prepend,
    /// Where there is one with [`Intent::compare`].
    Cas,
}

/// What is to become of a draft.
#[derive(Debug, Clone, Copy)]
pub struct Intent {
    pub mode: Mode,
    pub flags: u32,
    pub expiry: Expiry,
    /// The cas that the item there must have; 0 is any, except with [`Mode::Cas`], which no item meets then.
    pub compare: u64,
    /// With [`Mode::Cas`]: an older cas is good too, and marks what is stored as stale.
    pub stale_if_older: bool,
    /// The key came in base64.
    pub base64: bool,
}

impl Default for Intent {
    fn default() -> Self {
        let (mode, expiry) = (Mode::Set, Expiry::NEVER);
        Self { mode, flags: 0, expiry, compare: 0, stale_if_older: false, base64: false }
    }
}

/// Why nothing could be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The item is larger than an item may be.
    TooLarge,
    /// Everything else that is in memory is being written too.
    NoRoom,
}

/// What became of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// With this cas.
    Stored(u64),
    /// What was there, or was not, did not suit the mode.
    NotStored,
    /// Another cas than the one to compare with.
    Exists,
    /// Nothing to compare with.
    NotFound,
}

/// An item that is being written, and in no order yet: [`Store::finish`] it or [`Store::discard`] it, else its memory is
/// lost to the store.
#[derive(Debug)]
#[must_use = "a draft that is dropped keeps its memory for ever"]
pub struct Draft {
    pub(super) first: u32,
    last: u32,
    /// Where the next byte goes in the last block.
    at: usize,
    pub(super) intent: Intent,
}

impl Store {
    /// Begins an item whose value will have `length` bytes.
    ///
    /// # Errors
    /// Where it cannot be stored. A set that is refused removes what was there: it would be out of date.
    pub fn draft(&mut self, key: &[u8], length: usize, intent: Intent, now: Seconds) -> Result<Draft, Refusal> {
        let refusal = match self.begin(key, length, intent) {
            Ok(draft) => return Ok(draft),
            Err(refusal) => refusal,
        };
        if intent.mode == Mode::Set {
            self.remove(key, now);
        }
        Err(refusal)
    }

    fn begin(&mut self, key: &[u8], length: usize, intent: Intent) -> Result<Draft, Refusal> {
        if !self.fits(key.len(), length, intent.flags) {
            return Err(Refusal::TooLarge);
        }
        let key_length = u8::try_from(key.len()).map_err(|_| Refusal::TooLarge)?;
        let first = self.take_block().ok_or(Refusal::NoRoom)?;
        let marks = if intent.base64 { mark::BASE64 } else { 0 };
        let hash = self.index.hash(key);
        let blocks = &mut self.blocks;
        blocks.set_word(first, head::HASH, hash);
        blocks.set_word(first, head::LENGTH, 0);
        blocks.set_word(first, head::FLAGS, intent.flags);
        blocks.set_word(first, head::EXPIRY, intent.expiry.word());
        head::set_key_length(blocks, first, key_length);
        head::set_marks(blocks, first, marks);
        let mut draft = Draft { first, last: first, at: head::BYTES, intent };
        match self.push(&mut draft, key) {
            Ok(()) => Ok(draft),
            Err(refusal) => {
                self.discard(draft);
                Err(refusal)
            }
        }
    }

    /// Goes on with the value of a draft.
    ///
    /// # Errors
    /// [`Refusal::NoRoom`]; the draft is then good for [`Self::discard`] only.
    pub fn write(&mut self, draft: &mut Draft, bytes: &[u8]) -> Result<(), Refusal> {
        self.push(draft, bytes)?;
        let length = self.blocks.word(draft.first, head::LENGTH) + bytes.len() as u32;
        self.blocks.set_word(draft.first, head::LENGTH, length);
        Ok(())
    }

    fn push(&mut self, draft: &mut Draft, mut bytes: &[u8]) -> Result<(), Refusal> {
        while !bytes.is_empty() {
            if draft.at == SIZE {
                let block = self.take_block().ok_or(Refusal::NoRoom)?;
                self.blocks.set_word(draft.last, 0, block);
                (draft.last, draft.at) = (block, CONTINUED);
            }
            let (piece, rest) = bytes.split_at(bytes.len().min(SIZE - draft.at));
            self.blocks.block_mut(draft.last)[draft.at..][..piece.len()].copy_from_slice(piece);
            draft.at += piece.len();
            bytes = rest;
        }
        Ok(())
    }

    /// Gives up a draft.
    pub fn discard(&mut self, draft: Draft) {
        self.blocks.give_back(draft.first);
    }

    /// Stores a draft if it is to be stored.
    pub fn finish(&mut self, draft: Draft, now: Seconds) -> Outcome {
        let old = self.item_of(draft.first, now);
        let Intent { mode, compare, .. } = draft.intent;
        let outcome = match (mode, old) {
            (Mode::Set | Mode::Add, None) | (Mode::Set | Mode::Replace, Some(_)) => {
                return Outcome::Stored(self.put(draft.first, old, now));
            }
            (Mode::Add, Some(old)) => {
                self.order.renew(&mut self.blocks, old);
                Outcome::NotStored
            }
            (Mode::Replace | Mode::Append | Mode::Prepend, None) => Outcome::NotStored,
            (Mode::Cas, None) => Outcome::NotFound,
            (Mode::Append | Mode::Prepend, Some(old)) => {
                if compare == 0 || compare == head::cas(&self.blocks, old) {
                    return self.join(draft, old, now);
                }
                Outcome::Exists
            }
            (Mode::Cas, Some(old)) => {
                let cas = head::cas(&self.blocks, old);
                if compare != 0 && compare == cas {
                    return Outcome::Stored(self.put(draft.first, Some(old), now));
                }
                if compare != 0 && compare < cas && draft.intent.stale_if_older {
                    self.inherit_staleness(draft.first, old);
                    return Outcome::Stored(self.put(draft.first, Some(old), now));
                }
                Outcome::Exists
            }
        };
        self.discard(draft);
        outcome
    }

    /// What is stored although it is older than what it replaces: that one's expiry stays, and who was told to renew it.
    fn inherit_staleness(&mut self, new: u32, old: u32) {
        let expiry = self.blocks.word(old, head::EXPIRY);
        self.blocks.set_word(new, head::EXPIRY, expiry);
        let won = head::marks(&self.blocks, old) & mark::WON;
        let marks = head::marks(&self.blocks, new) | mark::STALE | won;
        head::set_marks(&mut self.blocks, new, marks);
    }

    /// An item of the values of `old` and `draft`, in the draft's order.
    fn join(&mut self, draft: Draft, old: u32, now: Seconds) -> Outcome {
        // What is in no order is not forgotten to make room.
        self.order.remove(&mut self.blocks, old);
        let flags = self.blocks.word(old, head::FLAGS);
        let expiry = Expiry::from_word(self.blocks.word(old, head::EXPIRY));
        let (front, back) = match draft.intent.mode {
            Mode::Prepend => (draft.first, old),
            _ => (old, draft.first),
        };
        // As memcached does, it forgets that its key came in base64.
        let joined = self.joined(front, back, Intent { flags, expiry, base64: false, ..draft.intent });
        self.discard(draft);
        self.order.insert(&mut self.blocks, old);
        match joined {
            Ok(joined) => Outcome::Stored(self.put(joined.first, Some(old), now)),
            Err(_) => Outcome::NotStored,
        }
    }

    fn joined(&mut self, front: u32, back: u32, intent: Intent) -> Result<Draft, Refusal> {
        let mut key = [0; LONGEST_KEY];
        let key = copy(self.item(front).key(), &mut key);
        let lengths = [front, back].map(|part| self.item(part).length());
        let mut draft = self.begin(key, lengths[0] + lengths[1], intent)?;
        for part in [front, back] {
            if let Err(refusal) = self.write_from(&mut draft, part) {
                self.discard(draft);
                return Err(refusal);
            }
        }
        Ok(draft)
    }

    /// Goes on with the value of another item, which stays where it is.
    fn write_from(&mut self, draft: &mut Draft, item: u32) -> Result<(), Refusal> {
        let length = self.item(item).length();
        let at = head::BYTES + head::key_length(&self.blocks, item);
        let (mut block, mut at, mut left) = (item, at, length);
        while left > 0 {
            let mut piece = [0; SIZE];
            let mut pieces = self.blocks.pieces(block, at, left);
            let Some(bytes) = pieces.next() else { break };
            let size = bytes.len();
            piece[..size].copy_from_slice(bytes);
            (block, at) = pieces.place();
            left -= size;
            self.write(draft, &piece[..size])?;
        }
        Ok(())
    }
}

/// Pieces, put together in `into`, which has room for them.
pub(super) fn copy<'a>(pieces: impl Iterator<Item = &'a [u8]>, into: &mut [u8]) -> &[u8] {
    let mut length = 0;
    for piece in pieces {
        into[length..length + piece.len()].copy_from_slice(piece);
        length += piece.len();
    }
    &into[..length]
}
