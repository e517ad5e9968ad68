//! A listening TCP socket.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use wasip2::sockets::tcp;

use crate::address::Family;
use crate::error::{refused, timed_out};
use crate::poll::{Deadline, Interest};
use crate::tcp::{TcpOptions, TcpSocket, TcpStream};

/// A listening TCP socket.
#[derive(Debug)]
pub struct TcpListener {
    socket: TcpSocket,
}

impl TcpListener {
    /// Binds to a local address, port 0 for any free one, and listens.
    pub fn bind(local: SocketAddr) -> io::Result<Self> {
        let socket = TcpSocket::new(Family::of(local))?;
        socket.bind(local)?;
        socket.listen(None)
    }

    pub(super) fn new(socket: TcpSocket) -> Self {
        Self { socket }
    }

    /// The address it listens on, with the port it got.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The next connection. `None` waits for ever for it.
    ///
    /// # Errors
    /// `connection-aborted` and the like are of that one connection, and the listener goes on.
    pub fn accept(&self, timeout: Option<Duration>) -> io::Result<TcpStream> {
        let answer = match self.socket.raw().accept() {
            // The clock is read only when there is something to wait for.
            Err(tcp::ErrorCode::WouldBlock) => {
                self.socket.until(&Deadline::after(timeout), || self.socket.raw().accept())
            }
            answer => answer.map(Some),
        };
        let (raw, input, output) = answer
            .map_err(|code| refused(code, asked))?
            .ok_or_else(|| timed_out(timeout.unwrap_or_default(), asked))?;
        Ok(TcpStream::new(input, output, raw))
    }

    /// The next connection if there is one; [`io::ErrorKind::WouldBlock`] otherwise.
    pub fn try_accept(&self) -> io::Result<TcpStream> {
        let (raw, input, output) = self.socket.raw().accept().map_err(|code| refused(code, asked))?;
        Ok(TcpStream::new(input, output, raw))
    }

    /// Connections for ever, or errors of single ones.
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self }
    }

    /// Ready when [`Self::try_accept`] would not block.
    pub fn acceptable(&self) -> Interest<'_> {
        Interest(self.socket.pollable())
    }
}

impl TcpOptions for TcpListener {
    fn raw(&self) -> &tcp::TcpSocket {
        self.socket.raw()
    }
}

/// The connections of a listener, one after the other; it never ends.
#[derive(Debug)]
pub struct Incoming<'a> {
    listener: &'a TcpListener,
}

impl Iterator for Incoming<'_> {
    type Item = io::Result<TcpStream>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.listener.accept(None))
    }
}

fn asked() -> String {
    "accept".to_owned()
}
