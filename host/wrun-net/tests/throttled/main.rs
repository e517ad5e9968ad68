//! What a profile does to sockets, in memory and on a paused clock: every time here is exact to tokio's millisecond.

mod any;
mod chances;
mod changing;
mod chaos;
mod delay;
mod kit;
mod nagle;
mod quirks;
mod rate;
mod streams;
