//! A connection to a cache that never blocks, and what is asked on it.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};

/// Bytes of room for what comes.
const ROOM: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Get,
    Set,
}

pub struct Connection {
    stream: TcpStream,
    /// What is still to be sent.
    out: Vec<u8>,
    /// What has come and is not yet understood lies from `taken` to `filled`.
    input: Vec<u8>,
    taken: usize,
    filled: usize,
    /// Asked and not answered yet, in order.
    asked: VecDeque<(Kind, Instant)>,
}

impl Connection {
    pub fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).with_context(|| format!("connect to {address}"))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self { stream, out: Vec::new(), input: vec![0; ROOM], taken: 0, filled: 0, asked: VecDeque::new() })
    }

    pub fn in_flight(&self) -> usize {
        self.asked.len()
    }

    /// Puts a get behind what was asked before.
    pub fn get(&mut self, key: u64) {
        self.out.extend_from_slice(b"get ");
        self.key(key);
        self.out.extend_from_slice(b"\r\n");
        self.asked.push_back((Kind::Get, Instant::now()));
    }

    /// Puts a set behind what was asked before.
    pub fn set(&mut self, key: u64, value: &[u8]) {
        self.out.extend_from_slice(b"set ");
        self.key(key);
        self.out.extend_from_slice(b" 0 0 ");
        self.number(value.len() as u64);
        self.out.extend_from_slice(b"\r\n");
        self.out.extend_from_slice(value);
        self.out.extend_from_slice(b"\r\n");
        self.asked.push_back((Kind::Set, Instant::now()));
    }

    /// As the guest names its keys.
    fn key(&mut self, key: u64) {
        self.out.extend_from_slice(b"key-");
        self.number(key);
    }

    /// In decimal digits, without the standard library's formatting, which is felt here.
    fn number(&mut self, number: u64) {
        let digits = number.checked_ilog10().unwrap_or(0);
        self.out.extend((0..=digits).rev().map(|place| b'0' + (number / 10_u64.pow(place) % 10) as u8));
    }

    /// Sends what the socket takes, and says whether that was all.
    pub fn send(&mut self) -> Result<bool> {
        let mut sent = 0;
        while sent < self.out.len() {
            match self.stream.write(&self.out[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error).context("send"),
            }
        }
        self.out.drain(..sent);
        Ok(self.out.is_empty())
    }

    /// Takes what has come, and says of each answer what it was for and when that was asked.
    pub fn receive(&mut self, mut answered: impl FnMut(Kind, Instant)) -> Result<()> {
        if self.filled == self.input.len() {
            // An answer that is longer than all the room there is.
            self.input.resize(self.filled + ROOM, 0);
        }
        let count = match self.stream.read(&mut self.input[self.filled..]) {
            Ok(0) => bail!("the server closed the connection"),
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            read => read.context("receive")?,
        };
        self.filled += count;
        while let Some(&(kind, since)) = self.asked.front() {
            let Some(length) = answer(kind, &self.input[self.taken..self.filled])? else { break };
            self.taken += length;
            self.asked.pop_front();
            answered(kind, since);
        }
        // To the front, where there is room behind it.
        self.input.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        Ok(())
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// How many bytes the answer at the front has, if it is complete.
fn answer(kind: Kind, bytes: &[u8]) -> Result<Option<usize>> {
    let Some(line) = line(bytes) else { return Ok(None) };
    let after = line.len() + 2;
    match (kind, line) {
        (Kind::Set, b"STORED") | (Kind::Get, b"END") => Ok(Some(after)),
        (Kind::Get, line) if line.starts_with(b"VALUE ") => {
            let size = line.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
            let size: usize = str::from_utf8(size)?.parse().context("a value without its size")?;
            let end = after + size + b"\r\nEND\r\n".len();
            ensure!(bytes.len() < end || bytes[..end].ends_with(b"\r\nEND\r\n"), "a value longer than it says");
            Ok((bytes.len() >= end).then_some(end))
        }
        (kind, line) => bail!("{:?} was answered {:?}", kind, String::from_utf8_lossy(line)),
    }
}

/// The first line without its end, if it is there.
fn line(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    bytes[..end].strip_suffix(b"\r")
}

/// Whether an address can be connected to at all, in words that name it.
pub fn parse(address: &str) -> Result<SocketAddr> {
    address.parse::<SocketAddr>().map_err(io::Error::other).with_context(|| format!("{address} is no ADDRESS"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_complete_with_its_last_byte_and_not_before() {
        for (kind, whole) in
            [(Kind::Set, &b"STORED\r\n"[..]), (Kind::Get, b"END\r\n"), (Kind::Get, b"VALUE k 0 3\r\n\r\nE\r\nEND\r\n")]
        {
            for cut in 0..whole.len() {
                assert_eq!(answer(kind, &whole[..cut]).unwrap(), None, "{cut} of {whole:?}");
            }
            let more = [whole, b"VALUE"].concat();
            assert_eq!(answer(kind, &more).unwrap(), Some(whole.len()));
        }
    }

    #[test]
    fn another_answer_than_the_one_that_was_asked_for_is_an_error() {
        assert!(answer(Kind::Set, b"END\r\n").is_err());
        assert!(answer(Kind::Get, b"SERVER_ERROR out of memory\r\n").is_err());
        assert!(answer(Kind::Get, b"VALUE k 0 1\r\nab\r\nEND\r\n").is_err());
    }
}
