//! A TCP connection.

use std::cell::{Cell, OnceCell};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

use wasip2::io::poll::Pollable;
use wasip2::io::streams::{InputStream, OutputStream, StreamError};
use wasip2::sockets::tcp::{self, ShutdownType};

use crate::address::{Family, from_wasi};
use crate::error::{broken, refused};
use crate::poll::{Interest, attempt};
use crate::tcp::{Closed, TcpOptions, TcpSocket, options};

/// The standard's limit for one `blocking-write-and-flush`.
const SMALL: usize = 4096;

/// A TCP connection. `&TcpStream` reads and writes as well, so both directions can be used side by side.
///
/// Dropping it closes it, unobserved; [`Self::close`] says how that went. A large write may return with its last piece
/// still in the host's hands, which goes on to send it: flush to wait for that, or close to hear how it went.
#[derive(Debug)]
pub struct TcpStream {
    // Dropped in this order: pollables before their stream, streams before their socket.
    readable: OnceCell<Pollable>,
    writable: OnceCell<Pollable>,
    input: InputStream,
    output: OutputStream,
    raw: tcp::TcpSocket,
    read_timeout: Cell<Option<Duration>>,
    write_timeout: Cell<Option<Duration>>,
}

impl TcpStream {
    /// Connects. `timeout` is for the whole of it; `None` waits as long as the network does.
    ///
    /// # Errors
    /// As for [`TcpSocket::connect`], which also takes options before.
    pub fn connect(remote: SocketAddr, timeout: Option<Duration>) -> io::Result<Self> {
        TcpSocket::new(Family::of(remote))?.connect(remote, timeout)
    }

    pub(super) fn new(input: InputStream, output: OutputStream, raw: tcp::TcpSocket) -> Self {
        Self {
            readable: OnceCell::new(),
            writable: OnceCell::new(),
            input,
            output,
            raw,
            read_timeout: Cell::new(None),
            write_timeout: Cell::new(None),
        }
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.raw.local_address().map(from_wasi).map_err(|code| refused(code, || "local address".to_owned()))
    }

    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.raw.remote_address().map(from_wasi).map_err(|code| refused(code, || "peer address".to_owned()))
    }

    /// How long a read may wait; `None`, as it starts, is for ever. A read that waited longer answers
    /// [`ErrorKind::TimedOut`], and the connection goes on. Zero is [`ErrorKind::InvalidInput`]: use [`Self::try_read`].
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.read_timeout.set(not_zero(timeout)?);
        Ok(())
    }

    /// How long a write or flush may wait, in the same way.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.write_timeout.set(not_zero(timeout)?);
        Ok(())
    }

    /// Reads what is there: 0 is the end, [`ErrorKind::WouldBlock`] is nothing yet.
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        match self.input.read(buffer.len() as u64) {
            Ok(data) if data.is_empty() => Err(ErrorKind::WouldBlock.into()),
            answer => self.received(answer, buffer),
        }
    }

    /// Writes what there is room for; [`ErrorKind::WouldBlock`] when there is none.
    pub fn try_write(&self, data: &[u8]) -> io::Result<usize> {
        if data.is_empty() {
            return Ok(0);
        }
        // A permit is for the next write only, so nothing is kept of it.
        let room = self.output.check_write().map_err(|error| self.not_sent(error))?;
        if room == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let size = data.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.output.write(&data[..size]).map_err(|error| self.not_sent(error))?;
        Ok(size)
    }

    /// Ends one direction, or both, and does not wait. Ending the sending side tells the peer behind everything that was
    /// written; the peer can still send. Ending the receiving side drops what was not read.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let how = match how {
            Shutdown::Read => ShutdownType::Receive,
            Shutdown::Write => ShutdownType::Send,
            Shutdown::Both => ShutdownType::Both,
        };
        self.raw.shutdown(how).map_err(|code| refused(code, || "shut down".to_owned()))
    }

    /// Closes now and says how that went. It waits for the linger time at most.
    pub fn close(self) -> io::Result<Closed> {
        options::close(&self.raw).map_err(|code| refused(code, || format!("close{}", self.of_peer(" to"))))
    }

    /// Cuts the connection now: what was not sent is dropped, and the peer sees a reset. Where a stream is dropped, or
    /// closed without this, a peer that does not read is waited for, some seconds at most.
    ///
    /// # Errors
    /// `not-supported` where the backend has no linger, which this is with a time of zero; it is dropped then.
    pub fn cut(self) -> io::Result<Closed> {
        self.set_linger(Some(Duration::ZERO))?;
        self.close()
    }

    /// Ready when [`Self::try_read`] would not block, at the end and on errors too.
    pub fn readable(&self) -> Interest<'_> {
        Interest(self.readable.get_or_init(|| self.input.subscribe()))
    }

    /// Ready when [`Self::try_write`] would not block, on errors too.
    pub fn writable(&self) -> Interest<'_> {
        Interest(self.writable.get_or_init(|| self.output.subscribe()))
    }

    fn received(&self, answer: Result<Vec<u8>, StreamError>, buffer: &mut [u8]) -> io::Result<usize> {
        match answer {
            Ok(data) => {
                buffer[..data.len()].copy_from_slice(&data);
                Ok(data.len())
            }
            Err(StreamError::Closed) => Ok(0),
            Err(error) => Err(broken(error, || format!("receive{}", self.of_peer(" from")))),
        }
    }

    fn not_sent(&self, error: StreamError) -> io::Error {
        broken(error, || format!("send{}", self.of_peer(" to")))
    }

    /// For messages; a connection that is gone may have no peer any more.
    fn of_peer(&self, word: &str) -> String {
        self.raw.remote_address().map(|peer| format!("{word} {}", from_wasi(peer))).unwrap_or_default()
    }
}

impl TcpOptions for TcpStream {
    fn raw(&self) -> &tcp::TcpSocket {
        &self.raw
    }
}

impl Read for &TcpStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let timeout = self.read_timeout.get();
        if timeout.is_some() {
            let asked = || format!("receive{}", self.of_peer(" from"));
            return attempt(self.readable(), timeout, asked, || self.try_read(buffer));
        }
        // What is there already needs no call that may wait, which costs more; and while nothing is there, one call more
        // is part of the waiting.
        let mut answer = self.input.read(buffer.len() as u64);
        while answer.as_ref().is_ok_and(Vec::is_empty) {
            answer = self.input.blocking_read(buffer.len() as u64);
        }
        self.received(answer, buffer)
    }
}

impl Write for &TcpStream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let timeout = self.write_timeout.get();
        if timeout.is_none() && data.len() <= SMALL {
            // One call of the host for the permit, the wait and the data.
            self.output.blocking_write_and_flush(data).map_err(|error| self.not_sent(error))?;
            return Ok(data.len());
        }
        let asked = || format!("send{}", self.of_peer(" to"));
        attempt(self.writable(), timeout, asked, || self.try_write(data))
    }

    /// Waits until everything written is with the backend's socket; that the peer has it is another matter.
    ///
    /// With a write timeout it also waits until the socket takes more, since the standard tells a flush that is done
    /// from one under way by nothing else. So it may time out where a flush without a limit would not wait.
    fn flush(&mut self) -> io::Result<()> {
        let Some(timeout) = self.write_timeout.get() else {
            return self.output.blocking_flush().map_err(|error| self.not_sent(error));
        };
        self.output.flush().map_err(|error| self.not_sent(error))?;
        let asked = || format!("send{}", self.of_peer(" to"));
        attempt(self.writable(), Some(timeout), asked, || {
            // Until it is flushed a stream has no room.
            match self.output.check_write().map_err(|error| self.not_sent(error))? {
                0 => Err(ErrorKind::WouldBlock.into()),
                _ => Ok(()),
            }
        })
    }
}

impl Read for TcpStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl Write for TcpStream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        (&*self).write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self).flush()
    }
}

/// As std has it: a timeout of zero is a mistake, not a way to look.
pub(crate) fn not_zero(timeout: Option<Duration>) -> io::Result<Option<Duration>> {
    match timeout {
        Some(Duration::ZERO) => Err(io::Error::new(ErrorKind::InvalidInput, "a timeout of zero: use the try_ call")),
        timeout => Ok(timeout),
    }
}
