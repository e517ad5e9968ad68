//! A listening TCP socket.

use std::net::{SocketAddr, TcpListener as StdListener, TcpStream as StdStream};
use std::sync::Arc;
use std::task::{Context, Poll};

use rustix::net::{SocketFlags, accept_with};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::{TcpListener as TokioListener, TcpStream as TokioStream};

use super::ask::ask;
use super::options;
use super::stream::Stream;
use crate::backend::{Family, OptionKind, Options, Pending, SocketOption, TcpListener, TcpStream, now};
use crate::error::Result;
use crate::transport::Transport;
use crate::watched::watched;

/// Not tokio's listener: that one accepts and waits in one step, and cannot be asked for either alone.
pub struct Listener {
    io: AsyncFd<StdListener>,
    family: Family,
}

impl Listener {
    pub fn new(io: TokioListener, family: Family) -> Result<Self> {
        Ok(Self { io: watched(io.into_std()?, Interest::READABLE)?, family })
    }
}

impl Options for Listener {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        now(options::get(&self.io, Transport::Tcp, self.family, kind))
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        now(options::set(&self.io, Transport::Tcp, self.family, option))
    }
}

impl TcpListener for Listener {
    fn try_accept(&self) -> Result<Arc<dyn TcpStream>> {
        // A blocked accept clears the readiness, so that the next poll waits for a connection.
        let accepted = ask(
            || Ok(accept_with(&self.io, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?),
            |accept| self.io.try_io(Interest::READABLE, |_| accept()),
        )?;
        let stream = TokioStream::from_std(StdStream::from(accepted))?;
        Ok(Arc::new(Stream::new(stream, self.family)))
    }

    fn poll_accept_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.io.poll_read_ready(cx).map(drop)
    }

    fn local_address(&self) -> Result<SocketAddr> {
        Ok(self.io.get_ref().local_addr()?)
    }
}
