//! What the first block of an item begins with: its place in the index and in the order of use, and what is known of
//! it. Behind that come its key and, straight after, its value.
//!
//! The places of the numbers are here; [`Blocks::word`] reads them.

use super::blocks::Blocks;

/// The next item of the same bucket.
pub const CHAIN: usize = 4;
/// The item that was used next after this one.
pub const NEWER: usize = 8;
/// The item that was used last before this one.
pub const OLDER: usize = 12;
pub const HASH: usize = 16;
/// Bytes of the value.
pub const LENGTH: usize = 20;
/// The client's.
pub const FLAGS: usize = 24;
/// See [`super::Expiry`].
pub const EXPIRY: usize = 28;
/// Seconds since 1970.
pub const LAST_USED: usize = 32;
const CAS_LOW: usize = 36;
const CAS_HIGH: usize = 40;
const KEY_LENGTH: usize = 44;
const MARKS: usize = 45;
/// Where the key begins.
pub const BYTES: usize = 46;

/// What happened to an item, as bits.
pub mod mark {
    /// Read since it was stored.
    pub const FETCHED: u8 = 1;
    /// Said to be out of date, and kept.
    pub const STALE: u8 = 2;
    /// Somebody was told to renew it.
    pub const WON: u8 = 4;
    /// Its key came in base64, and goes out so.
    pub const BASE64: u8 = 8;
}

pub fn cas(blocks: &Blocks, item: u32) -> u64 {
    u64::from(blocks.word(item, CAS_LOW)) | u64::from(blocks.word(item, CAS_HIGH)) << 32
}

pub fn set_cas(blocks: &mut Blocks, item: u32, cas: u64) {
    blocks.set_word(item, CAS_LOW, cas as u32);
    blocks.set_word(item, CAS_HIGH, (cas >> 32) as u32);
}

pub fn key_length(blocks: &Blocks, item: u32) -> usize {
    usize::from(blocks.block(item)[KEY_LENGTH])
}

pub fn set_key_length(blocks: &mut Blocks, item: u32, length: u8) {
    blocks.block_mut(item)[KEY_LENGTH] = length;
}

pub fn marks(blocks: &Blocks, item: u32) -> u8 {
    blocks.block(item)[MARKS]
}

pub fn set_marks(blocks: &mut Blocks, item: u32, marks: u8) {
    blocks.block_mut(item)[MARKS] = marks;
}
