//! What impairment does to traffic: pure arithmetic.
//!
//! [`profile`] says, as plain data, what is to be done. The other files are one effect each. An effect is given the time
//! and a seed and says *when*: it reads no clock, sleeps nowhere and does no I/O, so that whoever tests it owns time.
//! Times are since the start of the run, and chances are [`dice`] of one socket and effect each.
//!
//! - What an operation meets: [`rules`] (which rule), [`schedule`] (which of its regimes now).
//! - The way of bytes: [`mod@line`] puts together [`rate`], [`loss`] and [`delay`] for one direction of a link, and
//!   [`lane`] is what one socket keeps of its own on it; [`retransmission`] is how a stream meets loss.
//! - Beginnings: [`opening`], and [`handshake`] over two lines.
//! - Waits and quirks: [`mixture`], [`nagle`], [`send_queue`].
//!
//! What is left out: sockets and waiting, which are [`crate::throttled`]'s, and the text a profile is written as, which
//! is `wrun`'s.

pub mod delay;
pub mod dice;
pub mod handshake;
pub mod lane;
pub mod line;
pub mod loss;
pub mod mixture;
pub mod nagle;
mod nanos;
pub mod opening;
pub mod profile;
pub mod rate;
pub mod retransmission;
pub mod rules;
pub mod schedule;
pub mod send_queue;
mod trace;

#[cfg(test)]
mod tests;

pub use profile::Profile;
