//! In which order items were used, so that the one that was used longest ago is forgotten first.

use super::blocks::{Blocks, NONE};
use super::head::{NEWER, OLDER};

/// The two ends of a list that goes through the items.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    newest: u32,
    oldest: u32,
}

impl Order {
    pub fn new() -> Self {
        Self { newest: NONE, oldest: NONE }
    }

    /// The item that was used longest ago.
    pub fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Puts an item first that is not in the order.
    pub fn insert(&mut self, blocks: &mut Blocks, item: u32) {
        blocks.set_word(item, NEWER, NONE);
        blocks.set_word(item, OLDER, self.newest);
        match self.newest {
            NONE => self.oldest = item,
            newest => blocks.set_word(newest, NEWER, item),
        }
        self.newest = item;
    }

    pub fn remove(&mut self, blocks: &mut Blocks, item: u32) {
        let (newer, older) = (blocks.word(item, NEWER), blocks.word(item, OLDER));
        match newer {
            NONE => self.newest = older,
            newer => blocks.set_word(newer, OLDER, older),
        }
        match older {
            NONE => self.oldest = newer,
            older => blocks.set_word(older, NEWER, newer),
        }
    }

    /// Puts an item first that is in the order.
    pub fn renew(&mut self, blocks: &mut Blocks, item: u32) {
        if self.newest != item {
            self.remove(blocks, item);
            self.insert(blocks, item);
        }
    }
}
