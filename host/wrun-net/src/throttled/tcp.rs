//! Throttled TCP.
//!
//! One file each: `socket` (before it is anything, and connecting), `listener`, `stream` (what the guest holds) and
//! `connection` (what goes on after the guest let go), its two directions `up` and `down`, the `pipe` and the `route` that either has,
//! `closing`, and `settings` (what is remembered of the guest's options).
//!
//! A direction that no rule changes goes straight to the connection inside. One that is changed has a task, its pump,
//! which lives while there is something to do: `up`'s while something is in hand, `down`'s while the guest holds the
//! stream. A direction that has had a pump keeps its order when the rules change, whatever they say then.

mod closing;
mod connection;
mod down;
mod listener;
mod pipe;
mod route;
mod settings;
mod socket;
mod stream;
mod up;

pub use socket::Socket;
