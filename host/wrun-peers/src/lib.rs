//! Peers on loopback: the other end of the demo and the tests, and what `wrun peer` serves.
//!
//! - [`http`]: a server with a body of any size, a delay, and on request a [`fault`] that a client must survive;
//! - [`cache_server`]: a cache that speaks memcached's protocols; [`cache_rpc`]: the same as a service over gRPC;
//! - [`tls`]: a certificate authority made for the run, for good, expired and mismatched certificates;
//! - [`echo`]: TCP and UDP servers that send back what they get, on a thread of their own.
//!
//! HTTP, gRPC and TLS are hyper's, tonic's and rustls's; only faults that they are too well-behaved to commit are written by hand.
//! What is left out: flags, printing and addresses. Whoever serves chooses where to [`listen`] and says where it is.

mod accept;
pub mod cache_rpc;
pub mod cache_server;
pub mod echo;
pub mod fault;
mod filler;
pub mod http;
mod listen;
pub mod tls;

pub use echo::Echo;
pub use fault::Fault;
pub use http::Http;
pub use listen::listen;
pub use tls::Authority;
