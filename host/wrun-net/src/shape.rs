//! What impairment does to traffic: pure arithmetic.
//!
//! [`profile`] says, as plain data, what is to be done. The other files are one effect each. An effect is given the time
//! and a seed and says *when*: it reads no clock, sleeps nowhere and does no I/O, so that whoever tests it owns time.
//!
//! What is left out: sockets and waiting, which are [`crate::throttled`]'s, and the text a profile is written as, which
//! is `wrun`'s.

pub mod profile;

pub use profile::Profile;
