//! A conversation in a protocol that needs no state but what was asked: each of memcached's own.

use std::collections::VecDeque;
use std::marker::PhantomData;

use super::queue::Queue;
use super::{Answer, Broken, Conversation, Request};

/// What a protocol is, as pure functions.
pub trait Protocol {
    /// Puts a request's bytes behind `out`. `number` is for protocols that can carry one there and back.
    fn write(request: Request<'_>, number: u32, out: &mut Vec<u8>);

    /// The answer to `asked` at the front of `bytes`, and how many of them it is; `None` while it is not complete. A value
    /// longer than `longest` is refused before its bytes are waited for.
    fn read<'a>(asked: Asked<'_>, bytes: &'a [u8], longest: usize) -> Result<Option<(Answer<'a>, usize)>, Broken>;
}

/// What is needed of a request to know its answer.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub kind: Kind,
    pub number: u32,
    pub key: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Get,
    Set,
    Delete,
    Increment,
}

/// A [`Conversation`] in the protocol `P`.
#[derive(Debug)]
pub struct Dialogue<P> {
    /// Bytes of the longest value that is taken.
    longest: usize,
    outgoing: Vec<u8>,
    incoming: Queue,
    /// Kind, number and length of the key, of each request without an answer.
    asked: VecDeque<(Kind, u32, usize)>,
    /// Their keys, one behind the other.
    keys: Queue,
    next: u32,
    broken: Option<Broken>,
    protocol: PhantomData<P>,
}

impl<P: Protocol> Dialogue<P> {
    /// `longest` is the longest value that is taken, in bytes; a server that announces a longer one is [`Broken`].
    pub fn new(longest: usize) -> Self {
        Self {
            longest,
            outgoing: Vec::new(),
            incoming: Queue::default(),
            asked: VecDeque::new(),
            keys: Queue::default(),
            next: 0,
            broken: None,
            protocol: PhantomData,
        }
    }
}

impl<P: Protocol> Conversation for Dialogue<P> {
    fn ask(&mut self, request: Request<'_>) {
        let (kind, key) = match request {
            Request::Get { key } => (Kind::Get, key),
            Request::Set { key, .. } => (Kind::Set, key),
            Request::Delete { key } => (Kind::Delete, key),
            Request::Increment { key, .. } => (Kind::Increment, key),
        };
        P::write(request, self.next, &mut self.outgoing);
        self.asked.push_back((kind, self.next, key.len()));
        self.keys.push(key);
        self.next = self.next.wrapping_add(1);
    }

    fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing
    }

    fn received(&mut self, bytes: &[u8]) {
        // Nothing more will be understood, so nothing more is kept.
        if self.broken.is_none() {
            self.incoming.push(bytes);
        }
    }

    fn answer(&mut self) -> Result<Option<Answer<'_>>, Broken> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let (bytes, take) = self.incoming.split();
        let Some((kind, number, length)) = self.asked.front().copied() else {
            if bytes.is_empty() {
                return Ok(None);
            }
            let broken = Broken(format!("an answer to nothing: {}", super::words::shown(bytes)));
            return Err(self.broken.insert(broken).clone());
        };
        let asked = Asked { kind, number, key: &self.keys.content()[..length] };
        match P::read(asked, bytes, self.longest) {
            Ok(None) => Ok(None),
            Ok(Some((answer, size))) => {
                take(size);
                self.asked.pop_front();
                self.keys.take(length);
                Ok(Some(answer))
            }
            Err(broken) => Err(self.broken.insert(broken).clone()),
        }
    }

    fn unanswered(&self) -> usize {
        self.asked.len()
    }
}
