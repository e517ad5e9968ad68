//! The cache client that the guest is held against: the same requests in memcached's text protocol, with epoll directly.
//!
//! [`connection`] is one connection with its requests and answers; [`load`] is the measured loop, [`fill`] and [`idle`]
//! are for what a server's memory and its waiting are measured with.

mod connection;
mod fill;
mod idle;
mod load;

pub use fill::fill;
pub use idle::idle;
pub use load::load;

/// Numbers that look random and are the same in every run: SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(u64);

impl Random {
    /// Any seed will do.
    pub const SEED: u64 = 20_261_130;

    pub fn new() -> Self {
        Self(Self::SEED)
    }

    /// From 0 to below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }
}
