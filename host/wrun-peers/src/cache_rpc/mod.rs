//! The cache as a service over gRPC, on tonic.

/// The service's trait and its server, as made from the schema.
#[expect(clippy::all, reason = "made by a generator")]
mod service {
    include!(concat!(env!("OUT_DIR"), "/cache.v1.rs"));
}
