//! What a cache client, a cache server and their peers share, without a socket or a clock: whoever uses it brings bytes
//! and the time.
//!
//! - [`client`]: a client's side of a connection, in each protocol, and which of several servers holds a key;
//! - [`server`]: a server's side of a connection: all three protocols on one port;
//! - [`store`]: what is kept, within a bound of memory;
//! - [`key`]: what a key may be.
//!
//! Left out: the service over gRPC, which is the crate `cache-rpc`; authentication (SASL), which memcached leaves out too
//! unless it is built for it.

pub mod client;
pub mod key;
pub mod server;
pub mod store;
