//! A connection, plain or with TLS, on which every wait is within the request's budget.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use wrun_guest::{Closed, TcpOptions, TcpStream};

use crate::budget::Budget;

/// How long a peer that has answered is given to close. Some wait for the other end to do it.
const MOMENT: Duration = Duration::from_millis(200);

/// Most reads of what nobody asked for: a peer may send for ever.
const PIECES: usize = 16;

/// A connection. Errors are words: what was asked is known to the caller, by its phase.
pub struct Wire {
    tls: Option<Box<ClientConnection>>,
    stream: TcpStream,
}

impl Wire {
    pub fn plain(stream: TcpStream) -> Self {
        Self { tls: None, stream }
    }

    /// Makes it a TLS connection, certificate and host name verified.
    pub fn secure(&mut self, config: Arc<ClientConfig>, host: &str, budget: &Budget) -> Result<(), String> {
        let name =
            ServerName::try_from(host.to_owned()).map_err(|_| format!("{host:?} is no name a certificate can have"))?;
        let mut tls = ClientConnection::new(config, name).map_err(|error| guest_tls::reason(&error))?;
        let mut timed = Timed { stream: &self.stream, budget };
        while tls.is_handshaking() {
            if let Err(error) = tls.complete_io(&mut timed) {
                return Err(match error.kind() {
                    ErrorKind::UnexpectedEof => "connection closed during the handshake".to_owned(),
                    _ => words(&error, budget),
                });
            }
        }
        self.tls = Some(Box::new(tls));
        Ok(())
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub fn write(&mut self, data: &[u8], budget: &Budget) -> Result<(), String> {
        let mut timed = Timed { stream: &self.stream, budget };
        let outcome = match &mut self.tls {
            Some(tls) => {
                let mut stream = rustls::Stream::new(&mut **tls, &mut timed);
                stream.write_all(data).and_then(|()| stream.flush())
            }
            None => timed.write_all(data),
        };
        outcome.map_err(|error| words(&error, budget))
    }

    /// Reads what is there, waiting for the first of it; 0 is the end.
    pub fn read(&mut self, buffer: &mut [u8], budget: &Budget) -> Result<usize, String> {
        let mut timed = Timed { stream: &self.stream, budget };
        let outcome = match &mut self.tls {
            Some(tls) => rustls::Stream::new(&mut **tls, &mut timed).read(buffer),
            None => timed.read(buffer),
        };
        outcome.map_err(|error| match error.kind() {
            // Without TLS's own farewell an end may be an attacker's cut.
            ErrorKind::UnexpectedEof => "connection cut without the farewell of TLS".to_owned(),
            _ => words(&error, budget),
        })
    }

    /// Closes. A linger time, which is the one that the stream has, is cut to what is left of the budget; with nothing
    /// left the close goes on in the background.
    ///
    /// Where there is TLS, the peer's end is waited for first, for a moment, and a peer that stays is told farewell:
    /// words to one that has closed are answered by a reset, and so is a close with its farewell unread.
    pub fn close(mut self, linger: Option<Duration>, budget: &Budget) -> Result<Closed, String> {
        if self.tls.is_some() && !self.ended(budget) {
            self.farewell(budget);
        }
        let left = budget.left().ok();
        if linger.unwrap_or_default() > left.unwrap_or_default() {
            self.stream.set_linger(left).map_err(|error| words(&error, budget))?;
        }
        self.stream.close().map_err(|error| words(&error, budget))
    }

    /// Says that nothing more will be sent, where TLS has a word for it; and drops, without waiting, what has come
    /// meanwhile.
    pub fn farewell(&mut self, budget: &Budget) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            let mut timed = Timed { stream: &self.stream, budget };
            // A peer that has gone needs no farewell.
            while tls.wants_write() && tls.write_tls(&mut timed).is_ok() {}
        }
        let mut rest = [0; 1024];
        let _ = (0..PIECES).all(|_| self.stream.try_read(&mut rest).is_ok_and(|read| read > 0));
    }

    /// Whether the peer's end, or its cut, comes within a moment; what comes before it is dropped.
    fn ended(&self, budget: &Budget) -> bool {
        let Ok(left) = budget.left() else { return false };
        let moment = Budget::start(left.min(MOMENT));
        let mut timed = Timed { stream: &self.stream, budget: &moment };
        let mut rest = [0; 1024];
        for _ in 0..PIECES {
            match timed.read(&mut rest) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return error.kind() != ErrorKind::TimedOut,
            }
        }
        false
    }
}

fn words(error: &io::Error, budget: &Budget) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(error) => guest_tls::reason(error),
        None => budget.reason(error),
    }
}

/// A stream each of whose calls may use what is left of the budget.
struct Timed<'a> {
    stream: &'a TcpStream,
    budget: &'a Budget,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.budget.left()?))?;
        self.stream.read(buffer)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.budget.left()?))?;
        self.stream.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.set_write_timeout(Some(self.budget.left()?))?;
        self.stream.flush()
    }
}
