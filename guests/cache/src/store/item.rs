//! What the store knows of an item, to look at.

use super::blocks::{Blocks, Pieces};
use super::expiry::{Expiry, Seconds};
use super::head;

/// An item of the store.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    blocks: &'a Blocks,
    first: u32,
}

impl<'a> Item<'a> {
    pub(super) fn new(blocks: &'a Blocks, first: u32) -> Self {
        Self { blocks, first }
    }

    /// The client's own number.
    pub fn flags(&self) -> u32 {
        self.blocks.word(self.first, head::FLAGS)
    }

    /// Another with each change of the item.
    pub fn cas(&self) -> u64 {
        head::cas(self.blocks, self.first)
    }

    pub fn expiry(&self) -> Expiry {
        Expiry::from_word(self.blocks.word(self.first, head::EXPIRY))
    }

    pub fn last_used(&self) -> Seconds {
        self.blocks.word(self.first, head::LAST_USED)
    }

    /// Whether all of `mark`, bits of [`super::mark`], are set.
    pub fn has(&self, mark: u8) -> bool {
        head::marks(self.blocks, self.first) & mark == mark
    }

    /// Bytes of the value.
    pub fn length(&self) -> usize {
        self.blocks.word(self.first, head::LENGTH) as usize
    }

    pub fn key(&self) -> Pieces<'a> {
        self.blocks.pieces(self.first, head::BYTES, self.key_length())
    }

    /// The value, in the pieces in which it is kept.
    pub fn value(&self) -> Pieces<'a> {
        self.blocks.pieces(self.first, head::BYTES + self.key_length(), self.length())
    }

    /// Bytes that it takes, whole blocks.
    pub fn footprint(&self) -> usize {
        super::footprint(self.key_length() + self.length())
    }

    fn key_length(&self) -> usize {
        head::key_length(self.blocks, self.first)
    }
}
