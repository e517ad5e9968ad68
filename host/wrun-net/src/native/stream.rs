//! A connected TCP socket.

use std::io;
use std::net::{Shutdown, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::{Context, Poll};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown as Direction, recv, send, shutdown};
use tokio::io::Interest;
use tokio::net::TcpStream as TokioStream;

use super::ask::ask;
use super::{close, options, queue};
use crate::backend::{Closed, Family, OptionKind, Options, Pending, SocketOption, TcpStream, now};
use crate::error::{Error, Result};
use crate::transport::Transport;

pub struct Stream {
    io: TokioStream,
    family: Family,
    /// What has happened to it, as bits. The hot path only looks at [`CLOSED`].
    past: AtomicU8,
    /// The last read by tokio's readiness took all there was, and nobody has asked since.
    drained: AtomicBool,
}

/// Closed by an explicit close.
const CLOSED: u8 = 1;
/// This side has ended its sending.
const SEND_ENDED: u8 = 2;
/// An error has ended the connection.
const CUT: u8 = 4;

impl Stream {
    pub fn new(io: TokioStream, family: Family) -> Self {
        Self { io, family, past: AtomicU8::new(0), drained: AtomicBool::new(false) }
    }

    /// The socket, unless it was closed.
    fn open(&self) -> Result<&TokioStream> {
        if self.has(CLOSED) { Err(Error::InvalidState) } else { Ok(&self.io) }
    }

    fn has(&self, event: u8) -> bool {
        // Each bit stands for itself and publishes nothing else.
        self.past.load(Ordering::Relaxed) & event != 0
    }

    fn note(&self, event: u8) -> u8 {
        self.past.fetch_or(event, Ordering::Relaxed)
    }

    fn failure(&self, error: io::Error) -> Error {
        let error = Error::from(error);
        if !matches!(error, Error::WouldBlock | Error::InvalidState) {
            self.note(CUT);
        }
        error
    }
}

impl Options for Stream {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        now(self.open().and_then(|io| options::get(io, Transport::Tcp, self.family, kind)))
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        now(self.open().and_then(|io| options::set(io, Transport::Tcp, self.family, option)))
    }
}

impl TcpStream for Stream {
    fn try_read(&self, buffer: &mut [u8]) -> Result<usize> {
        let io = self.open()?;
        let room = buffer.len();
        let mut read = || -> io::Result<usize> { Ok(recv(io, &mut *buffer, RecvFlags::empty())?.0) };
        let mut asked = false;
        let mut short = None;
        let answer = io.try_io(Interest::READABLE, || {
            asked = true;
            let count = read()?;
            if count > 0 && count < room {
                // There is no more, so what comes next is an edge of its own. Saying so now, as tokio's own reads do,
                // saves the next read a call that would only find that out.
                short = Some(count);
                return Err(io::ErrorKind::WouldBlock.into());
            }
            Ok(count)
        });
        if short.is_some() {
            self.drained.store(true, Ordering::Relaxed);
        }
        let answer = match short {
            Some(count) => Ok(count),
            None if asked => answer,
            // Once only, since somebody who never waits is to see what has come meanwhile: as in `ask`.
            None if self.drained.load(Ordering::Relaxed) => {
                self.drained.store(false, Ordering::Relaxed);
                answer
            }
            None => read(),
        };
        answer.map_err(|error| self.failure(error))
    }

    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        // An explicit close keeps the socket registered, and what it does to it wakes whoever waits here.
        if self.has(CLOSED) { Poll::Ready(()) } else { self.io.poll_read_ready(cx).map(drop) }
    }

    fn try_write(&self, data: &[u8]) -> Result<usize> {
        let io = self.open()?;
        // Without the flag a peer that is gone would be told to the process, as a signal.
        let write = || Ok(send(io, data, SendFlags::NOSIGNAL)?);
        ask(write, |write| io.try_io(Interest::WRITABLE, write)).map_err(|error| {
            let own_end = self.has(SEND_ENDED) && Errno::from_io_error(&error) == Some(Errno::PIPE);
            if own_end { Error::InvalidState } else { self.failure(error) }
        })
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.has(CLOSED) { Poll::Ready(()) } else { self.io.poll_write_ready(cx).map(drop) }
    }

    fn shutdown(&self, how: Shutdown) -> Result<()> {
        let io = self.open()?;
        let direction = match how {
            Shutdown::Read => Direction::Read,
            Shutdown::Write => Direction::Write,
            Shutdown::Both => Direction::Both,
        };
        if how != Shutdown::Read {
            self.note(SEND_ENDED);
        }
        match shutdown(io, direction) {
            // The connection is over in both directions already: what was asked for is so.
            Err(Errno::NOTCONN) => Ok(()),
            result => Ok(result?),
        }
    }

    fn close(&self) -> Pending<Closed> {
        let past = self.note(CLOSED);
        if past & CLOSED != 0 {
            return now(Err(Error::InvalidState));
        }
        close::close(&self.io, past & CUT != 0)
    }

    fn queued(&self) -> Result<u64> {
        Ok(queue::queued(self.open()?)?)
    }

    fn local_address(&self) -> Result<SocketAddr> {
        Ok(self.open()?.local_addr()?)
    }

    fn peer_address(&self) -> Result<SocketAddr> {
        Ok(self.open()?.peer_addr()?)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // An explicit close has done this.
        if !self.has(CLOSED) {
            close::unobserved(&self.io);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::backend::Ending;

    #[tokio::test]
    async fn a_close_after_any_error_of_the_network_says_reset() {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        for errno in [Errno::HOSTUNREACH, Errno::NETUNREACH, Errno::TIMEDOUT, Errno::CONNRESET, Errno::PROTO] {
            let io = TokioStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let stream = Stream::new(io, Family::V4);
            stream.set_option(SocketOption::Linger(Some(std::time::Duration::from_secs(30)))).await.unwrap();
            // Loopback has no such errors, so this stands for a call that met one.
            stream.failure(errno.into());
            assert_eq!(stream.close().await.unwrap().ending, Ending::Reset, "{errno}");
        }
    }
}
