//! One connection: what came and is not understood yet, and what is still to be sent.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use cache::server::{Cache, Session, Wants};
use cache::store::Store;
use wrun_guest::{TcpStream, wait};

use crate::args::Read;

/// What is asked for at once.
const READ: usize = 16 * 1024;

/// Reads in one turn, so that one busy client does not keep the others waiting; and of single bytes.
const READS: usize = 8;
const SINGLE_READS: usize = 4096;

/// Bytes of answers after which a turn ends: a little request can ask for much, and a socket take it all.
const SENT: usize = 256 * 1024;

/// What is kept for answers between two turns; an answer may take more, for its turn.
const OUTPUT: usize = 128 * 1024;

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
    /// It has ended as it should, and everything is sent.
    Over,
    /// It broke, and nothing more can be said on it.
    Broken,
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
    /// When something last came or was taken, or it was to end.
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

    /// Bytes that answers which were not taken keep.
    pub fn unsent(&self) -> usize {
        self.output.capacity()
    }

    /// Whether it waits for its client to take something, rather than to send something.
    pub fn is_sending(&self) -> bool {
        self.ending || !self.output.is_empty()
    }

    /// Reads, answers and writes, as far as that can be done without waiting and for as long as is fair. Unless it
    /// `may_answer` it only sends.
    pub fn turn(&mut self, buffers: &mut Buffers, cache: &mut Cache, now: Instant, may_answer: bool) -> Turn {
        // An error of the connection is its end, and no more to the server.
        let turn = self.try_turn(buffers, cache, now, may_answer).unwrap_or(Turn::Broken);
        buffers.output.shrink_to(OUTPUT);
        turn
    }

    fn try_turn(
        &mut self,
        buffers: &mut Buffers,
        cache: &mut Cache,
        now: Instant,
        may_answer: bool,
    ) -> io::Result<Turn> {
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
            return Ok(self.end(now));
        }
        if !may_answer {
            return Ok(Turn::Busy);
        }
        let Buffers { input, output, piece, reads } = buffers;
        input.clear();
        input.append(&mut self.input);
        let mut turn = None;
        let mut left = SENT;
        if !input.is_empty() {
            turn = self.answer(input, output, &mut left, cache, now)?;
        }
        for _ in 0..*reads {
            if turn.is_some() {
                break;
            }
            turn = match self.stream.try_read(piece) {
                Ok(0) => Some(self.end(now)),
                Ok(size) => {
                    self.active = now;
                    cache.traffic.bytes_read += size as u64;
                    input.extend_from_slice(&piece[..size]);
                    self.answer(input, output, &mut left, cache, now)?
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => Some(Turn::Waiting),
                Err(error) => return Err(error),
            };
        }
        // Exactly as much as there is: most connections keep nothing.
        self.input = input.as_slice().into();
        Ok(turn.unwrap_or(Turn::Busy))
    }

    /// Answers what is in `input`, and leaves there what was not used. `left` is what may still be sent in this turn. What
    /// the turn has come to, unless more can be read.
    fn answer(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
        left: &mut usize,
        cache: &mut Cache,
        now: Instant,
    ) -> io::Result<Option<Turn>> {
        let mut used = 0;
        let turn = loop {
            let (more, wants) = self.session.receive(&input[used..], output, cache);
            used += more;
            self.ending = wants == Wants::Close;
            *left = left.saturating_sub(output.len());
            self.send(output, cache, now)?;
            if !output.is_empty() {
                self.output.extend_from_slice(output);
                output.clear();
                break Some(Turn::Waiting);
            }
            match wants {
                Wants::Close => break Some(self.end(now)),
                Wants::Room | Wants::Input if *left == 0 => break Some(Turn::Busy),
                Wants::Room => {}
                Wants::Input => break None,
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

    /// Nothing more is answered. It is over when the host has sent what it took, since it waits for that where a connection
    /// is dropped, and everybody would with it.
    pub fn end(&mut self, now: Instant) -> Turn {
        if !self.ending {
            self.ending = true;
            self.active = now;
        }
        // An error of the wait is the connection's.
        match wait(&[self.stream.writable()], Some(Duration::ZERO)) {
            Ok(ready) if ready.is_empty() => Turn::Waiting,
            Ok(_) => Turn::Over,
            Err(_) => Turn::Broken,
        }
    }

    /// Gives back what it has of the store, and closes.
    pub fn close(mut self, store: &mut Store) {
        self.session.close(store);
    }

    /// As [`Self::close`], without a wait for a client that takes nothing: what was not sent is dropped.
    pub fn cut(mut self, store: &mut Store) {
        self.session.close(store);
        // Where that is not possible it is closed by being dropped.
        _ = self.stream.cut();
    }
}
