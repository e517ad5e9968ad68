//! A TCP socket before it is anything.

use std::net::SocketAddr;
use std::sync::Arc;

use rustix::net::sockopt;
use tokio::net::TcpSocket as TokioSocket;

use super::listener::Listener;
use super::options;
use super::stream::Stream;
use crate::backend::{Family, OptionKind, Options, Pending, SocketOption, TcpListener, TcpSocket, TcpStream, now};
use crate::error::{Error, Result};
use crate::transport::Transport;

pub struct Socket {
    io: TokioSocket,
    family: Family,
}

impl Socket {
    pub fn new(family: Family) -> Result<Self> {
        let io = match family {
            Family::V4 => TokioSocket::new_v4()?,
            Family::V6 => TokioSocket::new_v6()?,
        };
        // So that an address left in TIME_WAIT can be bound again; two listeners still exclude each other.
        io.set_reuseaddr(true)?;
        if family == Family::V6 {
            sockopt::set_ipv6_v6only(&io, true)?;
        }
        Ok(Self { io, family })
    }
}

impl Options for Socket {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        now(options::get(&self.io, Transport::Tcp, self.family, kind))
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        now(options::set(&self.io, Transport::Tcp, self.family, option))
    }
}

impl TcpSocket for Socket {
    fn bind(&self, local: SocketAddr) -> Pending<SocketAddr> {
        now(self.io.bind(local).and_then(|()| self.io.local_addr()).map_err(Error::from))
    }

    fn connect(self: Box<Self>, remote: SocketAddr) -> Pending<Arc<dyn TcpStream>> {
        Box::pin(async move {
            let Self { io, family } = *self;
            let stream = io.connect(remote).await.map_err(|error| match Error::from(error) {
                // Connecting binds to a free port, and this says that there is none left.
                Error::AddressNotBindable => Error::AddressInUse,
                error => error,
            })?;
            Ok(Arc::new(Stream::new(stream, family)) as Arc<dyn TcpStream>)
        })
    }

    fn listen(self: Box<Self>, backlog: u32) -> Pending<Arc<dyn TcpListener>> {
        let Self { io, family } = *self;
        // The kernel holds one connection more than it is told, and takes a negative number for the most it can.
        let backlog = backlog.clamp(1, i32::MAX as u32);
        now(io
            .listen(backlog)
            .map_err(Error::from)
            .and_then(|io| Listener::new(io, family))
            .map(|listener| Arc::new(listener) as Arc<dyn TcpListener>))
    }
}
