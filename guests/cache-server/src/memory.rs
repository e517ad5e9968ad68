//! How much memory may be used, and whether it is there.

use std::hint::black_box;

use crate::args::Settings;

/// Answers that nobody takes may fill the store's bound divided by this, or this many bytes if that is more, in all.
const UNSENT_SHARE: usize = 4;
const UNSENT_LEAST: usize = 4 << 20;

/// Memory is asked for in pieces of so many bytes: none may be larger than half of what can be addressed.
const PIECE: usize = 64 << 20;

/// Bytes of answers that nobody takes, at most.
pub fn most_unsent(settings: &Settings) -> usize {
    (settings.memory / UNSENT_SHARE).max(UNSENT_LEAST)
}

/// Asks for as much memory as may be used, and gives it back: a guest's memory does not shrink, so it is there from then
/// on, and resident as it is used. A wrun with less ends the guest here, and not when it serves.
///
/// # Errors
/// Where there is not so much even without a bound of wrun's.
pub fn reserve(settings: &Settings) -> Result<(), String> {
    let bytes = settings.memory + most_unsent(settings);
    let mut pieces = Vec::new();
    let mut left = bytes;
    while left > 0 {
        let size = left.min(PIECE);
        let mut piece: Vec<u8> = Vec::new();
        piece.try_reserve_exact(size).map_err(|_| {
            format!("there are not {bytes} bytes of memory, the part for answers included: give less --memory")
        })?;
        // Nothing is ever in it, but it is not to be left out for that.
        pieces.push(black_box(piece));
        left -= size;
    }
    Ok(())
}
