//! The cache as a service over gRPC: the messages of `cache.proto`, for the client in a guest and the server on the host.

include!(concat!(env!("OUT_DIR"), "/cache.v1.rs"));

/// The schema, for whoever makes a service of it.
pub const SCHEMA: &str = include_str!("../cache.proto");
