//! What a cache client, a cache server and their peers share, without a socket or a clock: whoever uses it brings bytes
//! and the time.
//!
//! - [`client`]: a client's side of a connection, in each protocol, and which of several servers holds a key;
//! - [`server`]: a server's side of a connection: all three protocols on one port;
//! - [`store`]: what is kept, within a bound of memory;
//! - [`key`]: what a key may be; [`number`]: decimal numbers; `binary`: what the binary protocol is made of.
//!
//! Left out: the service over gRPC, which is the crate `cache-rpc`; authentication (SASL), which memcached leaves out too
//! unless it is built for it.

mod binary;
pub mod client;
pub mod key;
pub mod number;
pub mod server;
pub mod store;
