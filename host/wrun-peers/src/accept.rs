//! The loop that every peer on TCP has: a task a connection.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// A connection, with TLS or without.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Gives each connection a task, until `shutdown` is ready, and then cuts what is open.
///
/// A connection that fails is that client's affair, and a failed accept is waited out.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    connection: impl Fn(TcpStream) -> F,
    shutdown: impl Future<Output = ()>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => return,
            // Only to let go of what has ended; its outcome is the client's affair.
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // Else an answer of two writes waits for the client's delayed acknowledgement.
                    let _ = stream.set_nodelay(true);
                    connections.spawn(connection(stream));
                }
                // Out of file descriptors, mostly: connections that end give some back.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
        }
    }
}

/// The connection with TLS, where there are settings for it. `None` for a client that fails at that.
pub(crate) async fn secure(stream: TcpStream, tls: Option<Arc<ServerConfig>>) -> Option<Box<dyn Stream>> {
    match tls {
        None => Some(Box::new(stream)),
        Some(config) => Some(Box::new(TlsAcceptor::from(config).accept(stream).await.ok()?)),
    }
}
