//! The bytes of one connection, between its socket and its conversation. Nothing here waits.

use std::io::ErrorKind;

use cache::client::Conversation;
use wrun_guest::{Interest, TcpStream, reason};

/// Bytes that are read at a time.
const PIECE: usize = 64 * 1024;

/// A connection's socket.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    /// There was no room for all that was to be sent.
    full: bool,
}

/// How many bytes went by.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    pub sent: u64,
    pub received: u64,
}

/// Where what is received lies for a moment; one for all connections.
#[derive(Debug)]
pub struct Piece(Vec<u8>);

impl Default for Piece {
    fn default() -> Self {
        Self(vec![0; PIECE])
    }
}

impl Wire {
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, full: false }
    }

    /// Sends what a conversation has to send and there is room for.
    ///
    /// # Errors
    /// In words, after which the connection is of no use.
    pub fn send(&mut self, from: &mut dyn Conversation, moved: &mut Moved) -> Result<(), String> {
        self.full = false;
        loop {
            // Asked again and again: a conversation may keep some back until what is here has gone.
            let outgoing = from.outgoing();
            if outgoing.is_empty() {
                return Ok(());
            }
            let (sent, outcome) = self.write(outgoing);
            // Once, since what is left is moved to the front.
            outgoing.drain(..sent);
            moved.sent += sent as u64;
            if self.full || outcome.is_err() {
                return outcome;
            }
        }
    }

    /// Writes what there is room for, and says how much that was.
    fn write(&mut self, bytes: &[u8]) -> (usize, Result<(), String>) {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.stream.try_write(&bytes[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.full = true;
                    break;
                }
                Err(error) => return (sent, Err(format!("send: {}", reason(&error)))),
            }
        }
        (sent, Ok(()))
    }

    /// Hands on one piece of what has come. Says whether there may be more.
    ///
    /// # Errors
    /// In words, also for the end: no protocol here lets the server end.
    pub fn receive(&self, to: &mut dyn Conversation, piece: &mut Piece, moved: &mut Moved) -> Result<bool, String> {
        match self.stream.try_read(&mut piece.0) {
            Ok(0) => Err("receive: connection closed by the server".to_owned()),
            Ok(count) => {
                moved.received += count as u64;
                to.received(&piece.0[..count]);
                Ok(count == piece.0.len())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(format!("receive: {}", reason(&error))),
        }
    }

    /// Lets go of the connection at once, whatever is still on its way to a server that may not read it.
    pub fn cut(self) {
        // Where nothing can be cut it is dropped, which may wait for some seconds.
        _ = self.stream.cut();
    }

    pub fn readable(&self) -> Interest<'_> {
        self.stream.readable()
    }

    /// `None` when nothing waits to be sent.
    pub fn writable(&self) -> Option<Interest<'_>> {
        self.full.then(|| self.stream.writable())
    }
}
