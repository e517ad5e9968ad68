//! The cache as a service over gRPC: tonic on hyper's HTTP/2, in front of the store that the other protocols have too.
//!
//! - [`serve`]: the connections;
//! - `calls`: the four methods, on the store;
//! - `answer`: what a call came to, as it is kept in a reliable session. What such a session is, the crate `cache-rpc` says.
//!
//! Left out: compression, reflection, and telling the client that the server ends.

mod answer;
mod calls;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use cache_rpc::reliable::{IDLE, Limits};
use hyper::server::conn::http2::Builder;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use tokio::net::TcpListener;

use crate::accept::{Stream, accept, secure};
use crate::cache_server::MAX_ITEM;
use calls::Calls;
use service::cache_server::CacheServer;

/// The service's trait and its server, as made from the schema.
#[expect(clippy::allow_attributes, reason = "made by a generator")]
mod service {
    include!(concat!(env!("OUT_DIR"), "/cache.v1.rs"));
}

/// What a request has beside its item, generously: a key, and what the schema puts around both.
const AROUND: usize = 1 << 10;

/// Calls that a connection may have under way.
const CALLS: u32 = 1000;

/// How long a client may be silent before it is asked whether it is there, and how long it has to answer that.
const SILENCE: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(20);

/// A session takes some 200 bytes beside its answers.
const SESSIONS: Limits = Limits { sessions: 16 << 10, bytes: 64 << 20, idle: IDLE };

/// How to serve.
#[derive(Clone)]
pub struct CacheRpc {
    /// Most bytes that the store takes.
    pub memory: usize,
    /// Serves over TLS with these settings, which [`crate::Authority`] makes.
    pub tls: Option<Arc<ServerConfig>>,
}

/// Serves until `shutdown` is ready, and then cuts what is open. Has to be called in a tokio runtime.
pub async fn serve(listener: TcpListener, settings: CacheRpc, shutdown: impl Future<Output = ()>) {
    let tls = settings.tls.map(|config| {
        let mut config = ServerConfig::clone(&config);
        config.alpn_protocols = vec![b"h2".to_vec()];
        Arc::new(config)
    });
    // What is longer than an item may be is refused before it is read.
    let service =
        CacheServer::new(Calls::new(settings.memory, MAX_ITEM, SESSIONS)).max_decoding_message_size(MAX_ITEM + AROUND);
    accept(listener, |stream| connection(secure(stream, tls.clone()), service.clone()), shutdown).await;
}

/// One connection to its end. Errors are not answered: the peer has nobody to tell, and the client sees them.
async fn connection(stream: impl Future<Output = Option<Box<dyn Stream>>>, service: CacheServer<Calls>) {
    let Some(stream) = stream.await else { return };
    let _ = Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(SILENCE)
        .keep_alive_timeout(PATIENCE)
        .max_concurrent_streams(CALLS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
        .await;
}
