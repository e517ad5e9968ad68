//! One connection: what came and is not understood yet, and what is still to be sent.

use std::io::{self, ErrorKind};
use std::time::Instant;

use cache::server::{Cache, Session, Wants};
use cache::store::Store;
use wrun_guest::TcpStream;

use crate::args::Read;

/// What is asked for at once.
const READ: usize = 16 * 1024;

/// Reads in one turn, so that one busy client does not keep the others waiting; and of single bytes.
const READS: usize = 8;
const SINGLE_READS: usize = 4096;

/// How often answers are sent in one turn because there is no room for more; a little request can ask for much.
const SENDS: usize = 8;

/// Memory that all connections use one after the other.
#[derive(Debug)]
pub struct Buffers {
    input: Vec<u8>,
    output: Vec<u8>,
    piece: Vec<u8>,
    reads: usize,
}

impl Buffers {
    pub fn new(read: Read) -> Self {
        let (size, reads) = match read {
            Read::Byte => (1, SINGLE_READS),
            Read::Buffered => (READ, READS),
        };
        Self { input: Vec::new(), output: Vec::new(), piece: vec![0; size], reads }
    }
}

/// What came of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// There may be more to read at once.
    Busy,
    /// Something must come, or be taken, first.
    Waiting,
    /// It is over.
    Over,
}

/// A client.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    session: Session,
    /// What came and was not used: the beginning of a command, or what there was no room for the answers of.
    input: Vec<u8>,
    /// Answers that were not taken.
    output: Vec<u8>,
    /// Whether it ends when the answers are taken.
    ending: bool,
    /// When something last came or was taken.
    pub active: Instant,
}

impl Connection {
    pub fn new(stream: TcpStream, now: Instant) -> Self {
        let session = Session::default();
        Self { stream, session, input: Vec::new(), output: Vec::new(), ending: false, active: now }
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Bytes of answers that were not taken.
    pub fn unsent(&self) -> usize {
        self.output.len()
    }

    /// Reads, answers and writes, as far as that can be done without waiting and for as long as is fair.
    pub fn turn(&mut self, buffers: &mut Buffers, cache: &mut Cache, now: Instant) -> Turn {
        // An error of the connection is its end, and no more to the server.
        self.try_turn(buffers, cache, now).unwrap_or(Turn::Over)
    }

    fn try_turn(&mut self, buffers: &mut Buffers, cache: &mut Cache, now: Instant) -> io::Result<Turn> {
        if !self.output.is_empty() {
            // What was kept is sent from where it is kept, and what came meanwhile is answered only then.
            let mut kept = std::mem::take(&mut self.output);
            self.send(&mut kept, cache, now)?;
            self.output = kept;
            if !self.output.is_empty() {
                return Ok(Turn::Waiting);
            }
            self.output = Vec::new();
        }
        if self.ending {
            return Ok(Turn::Over);
        }
        let Buffers { input, output, piece, reads } = buffers;
        input.clear();
        input.append(&mut self.input);
        let mut turn = None;
        if !input.is_empty() {
            turn = self.answer(input, output, cache, now)?;
        }
        for _ in 0..*reads {
            if turn.is_some() {
                break;
            }
            turn = match self.stream.try_read(piece) {
                Ok(0) => Some(Turn::Over),
                Ok(size) => {
                    self.active = now;
                    cache.traffic.bytes_read += size as u64;
                    input.extend_from_slice(&piece[..size]);
                    self.answer(input, output, cache, now)?
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => Some(Turn::Waiting),
                Err(error) => return Err(error),
            };
        }
        // Exactly as much as there is: most connections keep nothing.
        self.input = input.as_slice().into();
        Ok(turn.unwrap_or(Turn::Busy))
    }

    /// Answers what is in `input`, and leaves there what was not used. What the turn has come to, unless more can be read.
    fn answer(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
        cache: &mut Cache,
        now: Instant,
    ) -> io::Result<Option<Turn>> {
        let (mut used, mut sends) = (0, 0);
        let turn = loop {
            let (more, wants) = self.session.receive(&input[used..], output, cache);
            used += more;
            self.ending = wants == Wants::Close;
            self.send(output, cache, now)?;
            if !output.is_empty() {
                self.output.extend_from_slice(output);
                output.clear();
                break Some(Turn::Waiting);
            }
            match wants {
                Wants::Room if sends == SENDS => break Some(Turn::Busy),
                Wants::Room => sends += 1,
                Wants::Input => break None,
                Wants::Close => break Some(Turn::Over),
            }
        };
        input.drain(..used);
        Ok(turn)
    }

    /// Sends from the front of `output`, and removes what was taken.
    fn send(&mut self, output: &mut Vec<u8>, cache: &mut Cache, now: Instant) -> io::Result<()> {
        let mut sent = 0;
        while sent < output.len() {
            match self.stream.try_write(&output[sent..]) {
                Ok(size) => sent += size,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => {
                    output.clear();
                    return Err(error);
                }
            }
        }
        if sent > 0 {
            self.active = now;
            cache.traffic.bytes_written += sent as u64;
            output.drain(..sent);
        }
        Ok(())
    }

    /// Gives back what it has of the store, and closes.
    pub fn close(mut self, store: &mut Store) {
        self.session.close(store);
    }
}
