//! The wrapper that impairs: the sockets of the backend inside it, with the behaviour of a [`crate::shape::Profile`].
//!
//! Law: with an empty profile it is indistinguishable from the backend inside. It narrows capabilities, never widens them.

mod account;

pub use account::{Account, Occurrences, PathAccount, QuirkAccount, Way};
