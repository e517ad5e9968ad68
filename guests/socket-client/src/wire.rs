//! A connection, plain or with TLS, on which every wait is within the request's budget.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use wrun_guest::{Closed, TcpOptions, TcpStream};

use crate::budget::Budget;
use crate::tls;

/// Errors are words: what was asked is known to the caller, by its phase.
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
        let mut tls = ClientConnection::new(config, name).map_err(|error| tls::reason(&error))?;
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

    /// Says farewell where TLS wants it, and closes. A linger time, which is the one that the stream has, is cut to what
    /// is left of the budget; with nothing left the close goes on in the background.
    pub fn close(mut self, linger: Option<Duration>, budget: &Budget) -> Result<Closed, String> {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            let mut timed = Timed { stream: &self.stream, budget };
            while tls.wants_write() {
                // The answer is complete: a peer that has gone already needs no farewell.
                if tls.write_tls(&mut timed).is_err() {
                    break;
                }
            }
            // The peer's farewell, if it is there.
            self.drain();
        }
        let left = budget.left().ok();
        if linger.unwrap_or_default() > left.unwrap_or_default() {
            self.stream.set_linger(left).map_err(|error| words(&error, budget))?;
        }
        self.stream.close().map_err(|error| words(&error, budget))
    }

    /// Drops what is there, without waiting: a close with something left unread would reset the connection.
    pub fn drain(&self) {
        let mut rest = [0; 1024];
        // Bounded, for a peer that sends for ever.
        let _ = (0..16).all(|_| self.stream.try_read(&mut rest).is_ok_and(|read| read > 0));
    }
}

fn words(error: &io::Error, budget: &Budget) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(error) => tls::reason(error),
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
