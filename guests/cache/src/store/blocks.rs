//! Memory for items: blocks of one size, in pages that are asked for once and never given back.
//!
//! An item is a chain of blocks, so any free block fits any item: nothing is lost to fragmentation, the bound is a number
//! of blocks, and one order of eviction serves values of every size. What it costs is a link in each block, and half a
//! block of an item on average.
//!
//! A block is named by its number. What stands in it, but for the link, is the business of [`super::head`].

/// Bytes of a block, its link included. So much that a small key and a value of 100 bytes need one.
pub const SIZE: usize = 192;

/// No block.
pub const NONE: u32 = u32::MAX;

/// Where the bytes of a block begin that goes on with another's; its link is before them.
pub const CONTINUED: usize = 4;

/// Blocks of a page.
const PAGE: u32 = 1 << PAGE_BITS;
const PAGE_BITS: u32 = 10;

type Block = [u8; SIZE];

/// All blocks there are.
#[derive(Debug)]
pub struct Blocks {
    pages: Vec<Box<[Block]>>,
    /// How many there may be.
    limit: u32,
    /// Blocks from here on were never used since the last [`Self::reset`].
    fresh: u32,
    /// The first of those that were given back, linked.
    free: u32,
    /// How many were given back and not taken again.
    given_back: u32,
}

impl Blocks {
    /// As many blocks as `bytes` hold.
    pub fn new(bytes: usize) -> Self {
        let limit = u32::try_from(bytes / SIZE).unwrap_or(NONE).min(NONE - 1);
        Self { pages: Vec::new(), limit, fresh: 0, free: NONE, given_back: 0 }
    }

    /// How many are in use.
    pub fn used(&self) -> u32 {
        self.fresh - self.given_back
    }

    /// A block whose link is [`NONE`], if one is left.
    pub fn take(&mut self) -> Option<u32> {
        let block = match self.free {
            NONE => self.take_fresh()?,
            free => {
                self.free = self.word(free, 0);
                self.given_back -= 1;
                free
            }
        };
        self.set_word(block, 0, NONE);
        Some(block)
    }

    fn take_fresh(&mut self) -> Option<u32> {
        if self.fresh == self.limit {
            return None;
        }
        let block = self.fresh;
        if block >> PAGE_BITS == self.pages.len() as u32 {
            let blocks = PAGE.min(self.limit - block);
            self.pages.push(vec![[0; SIZE]; blocks as usize].into_boxed_slice());
        }
        self.fresh += 1;
        Some(block)
    }

    /// Gives back a chain, from `first` on.
    pub fn give_back(&mut self, first: u32) {
        let mut last = first;
        let mut blocks = 1;
        loop {
            match self.word(last, 0) {
                NONE => break,
                next => last = next,
            }
            blocks += 1;
        }
        self.set_word(last, 0, self.free);
        self.free = first;
        self.given_back += blocks;
    }

    pub fn block(&self, block: u32) -> &Block {
        &self.pages[(block >> PAGE_BITS) as usize][(block & (PAGE - 1)) as usize]
    }

    pub fn block_mut(&mut self, block: u32) -> &mut Block {
        &mut self.pages[(block >> PAGE_BITS) as usize][(block & (PAGE - 1)) as usize]
    }

    /// The four bytes of a block from `at` on, as a number. At 0 that is its link.
    pub fn word(&self, block: u32, at: usize) -> u32 {
        let block = self.block(block);
        u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
    }

    pub fn set_word(&mut self, block: u32, at: usize, word: u32) {
        self.block_mut(block)[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }

    /// The `length` bytes of a chain that begin `at` so many bytes into its block `block`, counted without the links of
    /// the blocks after it.
    pub fn pieces(&self, mut block: u32, mut at: usize, length: usize) -> Pieces<'_> {
        while at >= SIZE && length > 0 {
            block = self.word(block, 0);
            at -= SIZE - CONTINUED;
        }
        Pieces { blocks: self, block, at, left: length }
    }
}

/// Bytes of a chain, as far as each block has them.
#[derive(Debug, Clone)]
pub struct Pieces<'a> {
    blocks: &'a Blocks,
    block: u32,
    at: usize,
    left: usize,
}

impl Pieces<'_> {
    /// Where the next piece begins, for [`Blocks::pieces`].
    pub(super) fn place(&self) -> (u32, usize) {
        (self.block, self.at)
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.left == 0 {
            return None;
        }
        let block = self.blocks.block(self.block);
        let end = SIZE.min(self.at + self.left);
        let piece = &block[self.at..end];
        self.left -= piece.len();
        if self.left > 0 {
            self.block = self.blocks.word(self.block, 0);
            self.at = CONTINUED;
        }
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_blocks_are_taken_as_the_bytes_hold_and_each_is_another() {
        let mut blocks = Blocks::new(SIZE * 1500 + SIZE - 1);
        let mut taken: Vec<u32> = std::iter::from_fn(|| blocks.take()).collect();
        assert_eq!(blocks.used(), 1500);
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), 1500);
    }

    #[test]
    fn a_chain_that_was_given_back_is_taken_again() {
        let mut blocks = Blocks::new(SIZE * 3);
        let chain: Vec<u32> = std::iter::from_fn(|| blocks.take()).collect();
        blocks.set_word(chain[0], 0, chain[1]);
        blocks.set_word(chain[1], 0, chain[2]);
        blocks.give_back(chain[0]);
        assert_eq!(blocks.used(), 0);
        assert_eq!(std::iter::from_fn(|| blocks.take()).count(), 3);
    }
}
