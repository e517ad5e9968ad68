//! The HTTP peer: one listener, one task a connection, HTTP/1.1 and 1.0 by hyper, TLS by rustls.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};

use crate::accept::{Stream, accept, secure};
use crate::fault::Fault;
use crate::filler::Filler;

/// How to answer, whatever the path.
#[derive(Clone)]
pub struct Http {
    /// Length of the body in bytes. It is made as it is sent, so it may be larger than memory.
    pub body: u64,
    /// Time between a whole request head and the first byte of the answer.
    pub delay: Duration,
    /// Sends the body in chunks, without saying how long it is. An HTTP/1.0 client gets it ended by close.
    pub chunked: bool,
    /// From 200 to 599. With 204 and 304 there is no body, as the standard has it.
    pub status: u16,
    /// What to do in place of an answer.
    pub fault: Option<Fault>,
    /// Serves HTTPS with these settings, which [`crate::Authority`] makes.
    pub tls: Option<Arc<ServerConfig>>,
}

impl Default for Http {
    fn default() -> Self {
        Self { body: 1024, delay: Duration::ZERO, chunked: false, status: 200, fault: None, tls: None }
    }
}

impl Http {
    /// The delay. None at all where there is none: a timer would take a millisecond.
    pub(crate) async fn wait(&self) {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
    }
}

/// Serves until `shutdown` is ready, and then cuts what is open.
///
/// A connection that fails is that client's affair, and a failed accept is waited out. The only error is a status
/// out of range.
pub async fn serve(listener: TcpListener, settings: Http, shutdown: impl Future<Output = ()>) -> Result<()> {
    ensure!(
        (200..=599).contains(&settings.status),
        "status {} cannot be served; write one from 200 to 599",
        settings.status
    );
    let settings = Arc::new(settings);
    accept(listener, |stream| connection(stream, settings.clone()), shutdown).await;
    Ok(())
}

/// One connection to its end. Errors are not answered: the peer has nobody to tell, and the client sees them.
async fn connection(stream: TcpStream, settings: Arc<Http>) {
    if settings.fault == Some(Fault::Reset) && stream.set_zero_linger().is_err() {
        return;
    }
    if let Some(stream) = secure(stream, settings.tls.clone()).await {
        converse(stream, settings).await;
    }
}

async fn converse(stream: Box<dyn Stream>, settings: Arc<Http>) {
    if let Some(fault) = settings.fault {
        let _ = fault.commit(stream, &settings).await;
        return;
    }
    let service = service_fn(move |request: Request<Incoming>| {
        let settings = settings.clone();
        async move { Ok::<_, Infallible>(answer(request, &settings).await) }
    });
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(_: Request<Incoming>, settings: &Http) -> Response<Filler> {
    settings.wait().await;
    let mut response = Response::new(Filler::new(settings.body, !settings.chunked));
    // `serve` has refused every status that is not one.
    *response.status_mut() = StatusCode::from_u16(settings.status).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}
