//! Throttled UDP.
//!
//! `socket` is what the guest holds, `up` and `down` are its two directions, each with its `route`, and `sending` is what
//! may hold a send up. As
//! with TCP, what no rule changes goes straight to the socket inside, and a direction that is changed has a task: `up`'s
//! lives while something is in hand or the guest waits to send, `down`'s while the guest has the socket.

mod down;
mod route;
mod sending;
mod socket;
mod up;

pub use socket::Datagrams;

/// What a datagram takes in memory besides its bytes, so that empty ones are bounded too.
const OVERHEAD: usize = 256;
