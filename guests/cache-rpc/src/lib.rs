//! The cache as a service over gRPC: the messages of `cache.proto`, for the client in a guest and the server on the host.
//!
//! - the messages, made from the schema;
//! - [`path`]: what the methods are called on the wire;
//! - [`reliable`]: calls that are executed once even if their connection is lost.
//!
//! Left out: gRPC itself, which is h2's on the client's side and tonic's on the server's.

pub mod path;
pub mod reliable;

include!(concat!(env!("OUT_DIR"), "/cache.v1.rs"));

/// The schema, for whoever makes a service of it.
pub const SCHEMA: &str = include_str!("../cache.proto");
