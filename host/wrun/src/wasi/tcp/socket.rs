//! What a guest's TCP socket is at any time.
//!
//! A socket goes from [`State::Unbound`] or [`State::Bound`] to [`State::Connecting`] and [`State::Connected`], or to
//! [`State::Listening`]; it ends in [`State::Closed`].

use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use wasmtime::Result;
use wasmtime_wasi::p2::Pollable;
use wrun_net::backend::{Options, Pending};
use wrun_net::{Error, Family, TcpListener, TcpStream};

use crate::wasi::bindings::wasi::sockets::network::ErrorCode;
use crate::wasi::error::SocketError;
use crate::wasi::limit::Place;
use crate::wasi::streams::{Reader, Writer};

/// Connections that may wait to be accepted, where the guest does not say. Rust's own.
const DEFAULT_BACKLOG: u32 = 128;

/// A guest's TCP socket.
pub struct TcpSocket {
    pub(in crate::wasi) family: Family,
    pub(super) state: State,
    /// The operation that was started and not finished.
    pub(super) started: Option<Operation>,
    pub(super) backlog: u32,
    _place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Bind,
    Connect,
    Listen,
}

pub(super) enum State {
    /// New. To `Bound` by `start-bind`, to `Connecting` by `start-connect`.
    Unbound(Box<dyn wrun_net::TcpSocket>),
    /// To `Connecting` by `start-connect`, to `Listening` by `start-listen`.
    Bound(Box<dyn wrun_net::TcpSocket>, Local),
    /// To `Connected` or `Closed` when the answer is there.
    Connecting(Pending<Arc<dyn TcpStream>>),
    /// To `Closed` by an explicit close.
    Connected(Connection),
    /// For good.
    Listening(Listener),
    /// A connect that failed, a listen that failed, an explicit close. Holds the answer still owed to a `finish-*`.
    Closed(Option<Error>),
}

/// Where a socket is bound.
#[derive(Clone, Copy)]
pub(super) struct Local {
    pub(super) asked: SocketAddr,
    pub(super) address: SocketAddr,
    /// Whether the policy allowed to listen on what was asked for.
    pub(super) may_listen: bool,
}

pub(super) struct Connection {
    pub(super) stream: Arc<dyn TcpStream>,
    pub(super) reader: Reader,
    pub(super) writer: Writer,
    /// Whether the guest has its streams.
    pub(super) taken: bool,
}

pub(super) struct Listener {
    pub(super) listener: Arc<dyn TcpListener>,
    /// A connection that readiness found; the next accept takes it.
    pub(super) accepted: Option<Result<Arc<dyn TcpStream>, Error>>,
}

impl Connection {
    pub(super) fn new(stream: Arc<dyn TcpStream>) -> Self {
        let (reader, writer) = (Reader::new(stream.clone()), Writer::new(stream.clone()));
        Self { stream, reader, writer, taken: false }
    }
}

impl Listener {
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.accepted.is_some() {
                return Poll::Ready(());
            }
            // Asked first: a guest that waits for many things would otherwise pay for an accept in each of its waits.
            ready!(self.listener.poll_accept_ready(cx));
            match self.listener.try_accept() {
                Err(Error::WouldBlock) => {}
                answer => self.accepted = Some(answer),
            }
        }
    }
}

impl TcpSocket {
    pub(super) fn new(family: Family, state: State, place: Place) -> Self {
        Self { family, state, started: None, backlog: DEFAULT_BACKLOG, _place: place }
    }

    /// The options of whatever the socket is now.
    pub(in crate::wasi) fn options(&self) -> Result<&dyn Options, SocketError> {
        match &self.state {
            State::Unbound(socket) | State::Bound(socket, _) => Ok(&**socket as &dyn Options),
            State::Connected(connection) => Ok(&*connection.stream as &dyn Options),
            State::Listening(listener) => Ok(&*listener.listener as &dyn Options),
            State::Connecting(_) | State::Closed(_) => Err(ErrorCode::InvalidState.into()),
        }
    }

    /// The connection, for what only a connection can do. Until `finish-connect` it is none.
    pub(in crate::wasi) fn stream(&self) -> Result<&Arc<dyn TcpStream>, SocketError> {
        match &self.state {
            State::Connected(connection) if connection.taken => Ok(&connection.stream),
            _ => Err(ErrorCode::InvalidState.into()),
        }
    }

    /// Ends both halves, so that the guest's streams answer `closed` from now on.
    pub(in crate::wasi) fn abandon(&mut self) {
        if let State::Connected(connection) = &self.state {
            connection.reader.shut();
            connection.writer.abandon();
            self.state = State::Closed(None);
        }
    }

    /// The sending half of a connection.
    pub(in crate::wasi) fn writer(&self) -> Option<Writer> {
        match &self.state {
            State::Connected(connection) => Some(connection.writer.clone()),
            _ => None,
        }
    }

    pub(super) fn idle(&self) -> Result<(), SocketError> {
        match self.started {
            Some(_) => Err(ErrorCode::ConcurrencyConflict.into()),
            None => Ok(()),
        }
    }

    pub(super) fn finish(&mut self, operation: Operation) -> Result<(), SocketError> {
        if self.started != Some(operation) {
            return Err(ErrorCode::NotInProgress.into());
        }
        self.started = None;
        Ok(())
    }

    /// Moves a connect on; ready when there is nothing to wait for.
    pub(super) fn poll_connect(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let State::Connecting(pending) = &mut self.state {
            let Poll::Ready(answer) = pending.as_mut().poll(cx) else { return Poll::Pending };
            self.state = match answer {
                Ok(stream) => State::Connected(Connection::new(stream)),
                Err(error) => State::Closed(Some(error)),
            };
        }
        Poll::Ready(())
    }

    pub(super) fn take_streams(&mut self) -> Result<(Reader, Writer), SocketError> {
        match &mut self.state {
            State::Connected(connection) if !connection.taken => {
                connection.taken = true;
                Ok((connection.reader.clone(), connection.writer.clone()))
            }
            State::Closed(error) => Err(error.take().unwrap_or(Error::InvalidState).into()),
            _ => Err(ErrorCode::InvalidState.into()),
        }
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for TcpSocket {
    async fn ready(&mut self) {
        std::future::poll_fn(|cx| match (&mut self.state, self.started) {
            (State::Connecting(_), _) => self.poll_connect(cx),
            (State::Listening(listener), None) => listener.poll(cx),
            _ => Poll::Ready(()),
        })
        .await;
    }
}
