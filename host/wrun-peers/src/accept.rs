//! The loop that every peer on TCP has: a task a connection.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Most connections at once; more wait to be accepted.
const CONNECTIONS: usize = 4096;

/// How long a client may take for the handshake of TLS.
const HANDSHAKE: Duration = Duration::from_secs(10);

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
    accept_within(CONNECTIONS, listener, connection, shutdown).await;
}

async fn accept_within<F>(
    most: usize,
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
            accepted = listener.accept(), if connections.len() < most => match accepted {
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

/// The connection with TLS, where there are settings for it. `None` for a client that fails at that, or takes too long.
pub(crate) async fn secure<S: Stream + 'static>(stream: S, tls: Option<Arc<ServerConfig>>) -> Option<Box<dyn Stream>> {
    let Some(config) = tls else { return Some(Box::new(stream)) };
    let secured = timeout(HANDSHAKE, TlsAcceptor::from(config).accept(stream)).await.ok()?.ok()?;
    Some(Box::new(secured))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::Instant;

    use super::*;
    use crate::Authority;
    use crate::tls::LOOPBACK;

    /// How long a client that says `said` and then nothing is waited for.
    async fn waits_for(said: &[u8]) -> Duration {
        let config = Authority::new().unwrap().server(LOOPBACK).unwrap();
        let (mut client, server) = tokio::io::duplex(1 << 10);
        client.write_all(said).await.unwrap();
        let began = Instant::now();
        assert!(secure(server, Some(config)).await.is_none());
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_says_nothing_or_half_a_greeting_of_tls_is_let_go() {
        for said in [&b""[..], &[22, 3, 1, 2, 0, 1]] {
            let waited = waits_for(said).await;
            assert!(waited >= HANDSHAKE && waited < HANDSHAKE * 2, "{waited:?}");
        }
    }

    #[tokio::test]
    async fn one_connection_more_than_may_be_waits_for_another_to_end() {
        let listener = crate::listen((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let address = listener.local_addr().unwrap();
        // Greets, and goes on until its client is gone.
        let connection = |mut stream: TcpStream| async move {
            let _ = stream.write_all(b"x").await;
            let _ = stream.read(&mut [0]).await;
        };
        let clients = async {
            let mut first = TcpStream::connect(address).await.unwrap();
            let mut second = TcpStream::connect(address).await.unwrap();
            let mut third = TcpStream::connect(address).await.unwrap();
            for stream in [&mut first, &mut second] {
                assert_eq!(stream.read_u8().await.unwrap(), b'x');
            }
            // The loop has had its turns, and would have greeted it long ago.
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            assert_eq!(third.try_read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
            drop(second);
            assert_eq!(third.read_u8().await.unwrap(), b'x');
        };
        tokio::select! {
            () = accept_within(2, listener, connection, std::future::pending()) => panic!("it ended"),
            () = clients => {}
        }
    }
}
