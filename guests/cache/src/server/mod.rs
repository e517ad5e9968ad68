//! A server's side of a connection: bytes become commands on a store, and their answers become bytes.
//!
//! - [`Session`]: one connection. Its first byte says which protocol it speaks, as with memcached;
//! - [`Cache`]: what all of them share: the store, the time, and what was counted;
//! - `text`, `meta`, `binary`: the protocols; `value`: a value on its way in; `statistics`: what `stats` lists.
//!
//! What is answered is what memcached 1.6.18 answers, byte for byte where the protocol says what that is, and where it does
//! not, too, but for this: answers to earlier commands are never taken back; what was flushed does not come back with a
//! later flush that is still to come; the time that `ma` sets is kept where the number gets more digits; an unknown binary
//! command is skipped whole, so that the one behind it is understood; that a value is refused is told before it has come;
//! and a key that came in base64 goes out so, even if the meta commands made its item themselves.
//!
//! Left out: what is about memcached's own insides (`slabs`, `lru`, `lru_crawler`, `cache_memlimit`, `watch`), whose
//! answer is `ERROR`; SASL; UDP; `shutdown`, which memcached refuses too unless it is told otherwise.

mod binary;
mod meta;
mod session;
mod statistics;
mod text;
mod value;

#[cfg(test)]
mod tests;

pub use session::{Session, Wants};

use crate::store::{Seconds, Store};

/// What `version` answers: the memcached whose answers these are, and that they are not its own.
pub const VERSION: &str = "1.6.18-wrun";

/// What all sessions of a server share.
#[derive(Debug)]
pub struct Cache {
    pub store: Store,
    /// The time, kept up by whoever has a clock.
    pub now: Seconds,
    /// When the server started.
    pub started: Seconds,
    pub traffic: Traffic,
    /// What was counted when a client had the counts reset, which is not listed any more.
    reset: statistics::Reset,
}

/// What is counted of connections, by whoever has them; and of commands, by the sessions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Traffic {
    /// How many there may be at once.
    pub connections_limit: u64,
    /// How many there are.
    pub connections: u64,
    /// How many there have been.
    pub connections_accepted: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// Commands, those included that were not understood.
    pub commands: u64,
    /// Commands that broke the protocol.
    pub errors: u64,
}

impl Cache {
    pub fn new(store: Store, now: Seconds) -> Self {
        Self { store, now, started: now, traffic: Traffic::default(), reset: statistics::Reset::default() }
    }
}
