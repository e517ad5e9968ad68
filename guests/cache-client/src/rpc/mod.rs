//! The cache's service over gRPC, as one more protocol of a conversation.
//!
//! HTTP/2 is the crate h2's, which is written for a runtime that waits on sockets. Here it has neither: what it reads and
//! writes is memory ([`pipe`]), and it is polled whenever there are new bytes or new requests, so that calls run in the same
//! loop as the requests of every other protocol.
//!
//! By kind: [`conversation`] is the queue of calls and their order; [`link`] is HTTP/2 on one connection; [`call`] is one
//! call on it; [`method`], [`frame`] and [`status`] are what gRPC puts into HTTP/2, and take it apart again.
//!
//! Left out: compression, deadlines (the loop has its own), keepalive, and retrying what is not in a reliable session.

mod call;
mod conversation;
mod flag;
mod frame;
mod link;
mod method;
mod pipe;
mod status;
#[cfg(test)]
mod tests;

pub use conversation::Conversation;
pub use link::Target;
