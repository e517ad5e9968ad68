//! A connected TCP socket: one end of a connection, with its addresses.

use std::future::poll_fn;
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use super::connection::{Closing, End};
use super::network::Lease;
use crate::backend::{Closed, Ending, OptionKind, Options, Pending, SocketOption, TcpStream, now};
use crate::error::Result;
use crate::transport::Transport;

pub struct Stream {
    /// Shared only with a close that lingers. Its drop closes, if that was not done.
    end: Arc<End>,
    local: SocketAddr,
    peer: SocketAddr,
    /// The connecting side keeps its port to itself. The accepting side's is the listener's.
    _lease: Option<Lease>,
}

impl Stream {
    pub fn new(end: End, local: SocketAddr, peer: SocketAddr, lease: Option<Lease>) -> Self {
        Self { end: Arc::new(end), local, peer, _lease: lease }
    }
}

impl Options for Stream {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        now(self.end.settings(|settings| settings.get(Transport::Tcp, kind)))
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        now(self.end.settings(|settings| settings.set(Transport::Tcp, option)))
    }
}

impl TcpStream for Stream {
    fn try_read(&self, buffer: &mut [u8]) -> Result<usize> {
        self.end.read(buffer)
    }

    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.end.poll_readable(cx)
    }

    fn try_write(&self, data: &[u8]) -> Result<usize> {
        self.end.write(data)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.end.poll_writable(cx)
    }

    fn shutdown(&self, how: Shutdown) -> Result<()> {
        self.end.shutdown(how)
    }

    fn close(&self) -> Pending<Closed> {
        let (closing, unsent) = match self.end.close() {
            Ok(begun) => begun,
            Err(error) => return now(Err(error)),
        };
        let unsent = Some(unsent);
        match closing {
            Closing::Over(ending) => now(Ok(Closed { ending, unsent })),
            Closing::Lingering(linger) => {
                let end = self.end.clone();
                Box::pin(async move {
                    let lingered = tokio::time::timeout(linger, poll_fn(|cx| end.poll_lingered(cx))).await;
                    Ok(Closed { ending: lingered.unwrap_or(Ending::TimedOut), unsent })
                })
            }
        }
    }

    fn queued(&self) -> Result<u64> {
        self.end.queued()
    }

    fn local_address(&self) -> Result<SocketAddr> {
        self.end.open().map(|()| self.local)
    }

    fn peer_address(&self) -> Result<SocketAddr> {
        self.end.open().map(|()| self.peer)
    }
}
