//! Which item has a key: buckets of chains. The chains go through the items, so the index has one size for life.

use std::hash::{BuildHasher, RandomState};

use super::blocks::{Blocks, NONE};
use super::head;

/// The first item of each bucket.
#[derive(Debug)]
pub struct Index {
    buckets: Vec<u32>,
    /// Keyed by chance, so that nobody can choose keys that all fall into one bucket.
    hasher: RandomState,
}

impl Index {
    /// Bytes of an index for a store of `bytes`: about two items of the smallest size to a bucket when it is full of them.
    pub fn bytes_for(bytes: usize) -> usize {
        let most = bytes / super::blocks::SIZE / 2;
        size_of::<u32>() * most.max(1).next_power_of_two()
    }

    pub fn new(bytes: usize) -> Self {
        let buckets = bytes / size_of::<u32>();
        debug_assert!(buckets.is_power_of_two(), "a hash is cut to a bucket's number by a mask");
        Self { buckets: vec![NONE; buckets], hasher: RandomState::new() }
    }

    pub fn hash(&self, key: &[u8]) -> u32 {
        self.hasher.hash_one(key) as u32
    }

    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }

    pub fn find(&self, blocks: &Blocks, hash: u32, key: &[u8]) -> Option<u32> {
        let mut item = self.buckets[self.bucket(hash)];
        while item != NONE {
            if blocks.word(item, head::HASH) == hash && has_key(blocks, item, key) {
                return Some(item);
            }
            item = blocks.word(item, head::CHAIN);
        }
        None
    }

    /// Puts an item into the index whose hash is in its head.
    pub fn insert(&mut self, blocks: &mut Blocks, item: u32) {
        let bucket = self.bucket(blocks.word(item, head::HASH));
        blocks.set_word(item, head::CHAIN, self.buckets[bucket]);
        self.buckets[bucket] = item;
    }

    /// Takes an item out that is in it.
    pub fn remove(&mut self, blocks: &mut Blocks, item: u32) {
        let bucket = self.bucket(blocks.word(item, head::HASH));
        let after = blocks.word(item, head::CHAIN);
        let mut before = self.buckets[bucket];
        if before == item {
            self.buckets[bucket] = after;
            return;
        }
        while blocks.word(before, head::CHAIN) != item {
            before = blocks.word(before, head::CHAIN);
        }
        blocks.set_word(before, head::CHAIN, after);
    }
}

fn has_key(blocks: &Blocks, item: u32, key: &[u8]) -> bool {
    if head::key_length(blocks, item) != key.len() {
        return false;
    }
    let mut rest = key;
    blocks.pieces(item, head::BYTES, key.len()).all(|piece| {
        let (same, after) = rest.split_at(piece.len());
        rest = after;
        same == piece
    })
}
