//! What memcached's binary protocol is made of, to either side: what begins a frame, and what commands are called.
//!
//! Left out: statuses, of which each side knows others.

/// What a request begins with.
pub const REQUEST: u8 = 0x80;
/// What an answer begins with.
pub const RESPONSE: u8 = 0x81;

/// Bytes of a header.
pub const HEADER: usize = 24;

/// An increment's expiry that says: do not make the key if it is not there.
pub const DO_NOT_CREATE: u32 = u32::MAX;

/// Commands, in their loud forms.
pub mod opcode {
    pub const GET: u8 = 0x00;
    pub const SET: u8 = 0x01;
    pub const ADD: u8 = 0x02;
    pub const REPLACE: u8 = 0x03;
    pub const DELETE: u8 = 0x04;
    pub const INCREMENT: u8 = 0x05;
    pub const DECREMENT: u8 = 0x06;
    pub const QUIT: u8 = 0x07;
    pub const FLUSH: u8 = 0x08;
    pub const NOOP: u8 = 0x0a;
    pub const VERSION: u8 = 0x0b;
    pub const GETK: u8 = 0x0c;
    pub const APPEND: u8 = 0x0e;
    pub const PREPEND: u8 = 0x0f;
    pub const STAT: u8 = 0x10;
    pub const TOUCH: u8 = 0x1c;
    pub const GAT: u8 = 0x1d;
    pub const GATK: u8 = 0x23;

    /// A command in its loud form, and whether it was the quiet one.
    pub fn loud(opcode: u8) -> (u8, bool) {
        let loud = match opcode {
            0x09 => GET,
            0x0d => GETK,
            0x11 => SET,
            0x12 => ADD,
            0x13 => REPLACE,
            0x14 => DELETE,
            0x15 => INCREMENT,
            0x16 => DECREMENT,
            0x17 => QUIT,
            0x18 => FLUSH,
            0x19 => APPEND,
            0x1a => PREPEND,
            0x1e => GAT,
            0x24 => GATK,
            loud => return (loud, false),
        };
        (loud, true)
    }

    /// Whether it is one of the above. SASL and verbosity are not, nor with memcached unless it is told.
    pub fn is_known(opcode: u8) -> bool {
        matches!(opcode, GET..=FLUSH | NOOP..=GETK | APPEND..=STAT | TOUCH | GAT | GATK)
    }
}
