//! A listening TCP socket: the queue of connections that nobody has accepted yet.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::connection::End;
use super::network::Lease;
use super::settings::Settings;
use super::stream::Stream;
use crate::backend::{OptionKind, Options, Pending, SocketOption, TcpListener, TcpStream, now};
use crate::error::{Error, Result};
use crate::sync::lock;
use crate::transport::Transport;

/// Where connects and accepts meet.
pub struct Queue(Mutex<State>);

struct State {
    settings: Settings,
    backlog: usize,
    arrived: VecDeque<Arrived>,
    acceptor: Option<Waker>,
    /// Connects that wait for room, woken all at once: who is first then gets it.
    connecting: Vec<Waker>,
    closed: bool,
}

struct Arrived {
    end: End,
    local: SocketAddr,
    peer: SocketAddr,
}

impl Queue {
    pub fn new(settings: Settings, backlog: u32) -> Self {
        Self(Mutex::new(State {
            settings,
            backlog: usize::try_from(backlog).unwrap_or(usize::MAX).max(1),
            arrived: VecDeque::new(),
            acceptor: None,
            connecting: Vec::new(),
            closed: false,
        }))
    }

    /// Connects, once there is room, and answers with the connecting end.
    ///
    /// A real client whose connection finds no room sends again until it does; here it just waits.
    pub async fn connect(&self, settings: Settings, local: SocketAddr, remote: SocketAddr) -> Result<End> {
        poll_fn(|cx| {
            let mut state = lock(&self.0);
            if state.closed {
                return Poll::Ready(Err(Error::ConnectionRefused));
            }
            if state.arrived.len() >= state.backlog {
                if !state.connecting.iter().any(|waiting| waiting.will_wake(cx.waker())) {
                    state.connecting.push(cx.waker().clone());
                }
                return Poll::Pending;
            }
            let (ours, theirs) = End::pair(settings.clone(), state.settings.clone());
            state.arrived.push_back(Arrived { end: theirs, local: remote, peer: local });
            let acceptor = state.acceptor.take();
            drop(state);
            acceptor.into_iter().for_each(Waker::wake);
            Poll::Ready(Ok(ours))
        })
        .await
    }

    fn accept(&self) -> Result<Arrived> {
        let mut state = lock(&self.0);
        let arrived = state.arrived.pop_front().ok_or(Error::WouldBlock)?;
        let connecting = std::mem::take(&mut state.connecting);
        drop(state);
        connecting.into_iter().for_each(Waker::wake);
        Ok(arrived)
    }

    fn close(&self) {
        let mut state = lock(&self.0);
        state.closed = true;
        let arrived = std::mem::take(&mut state.arrived);
        let connecting = std::mem::take(&mut state.connecting);
        drop(state);
        arrived.into_iter().for_each(|arrived| arrived.end.cut());
        connecting.into_iter().for_each(Waker::wake);
    }
}

pub struct Listener {
    queue: Arc<Queue>,
    lease: Lease,
}

impl Listener {
    pub fn new(queue: Arc<Queue>, lease: Lease) -> Self {
        Self { queue, lease }
    }
}

impl Options for Listener {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        now(lock(&self.queue.0).settings.get(Transport::Tcp, kind))
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        now(lock(&self.queue.0).settings.set(Transport::Tcp, option))
    }
}

impl TcpListener for Listener {
    fn try_accept(&self) -> Result<Arc<dyn TcpStream>> {
        let Arrived { end, local, peer } = self.queue.accept()?;
        Ok(Arc::new(Stream::new(end, local, peer, None)))
    }

    fn poll_accept_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.queue.0);
        if !state.arrived.is_empty() {
            return Poll::Ready(());
        }
        let replaced = state.acceptor.replace(cx.waker().clone());
        // In this order, since dropping a waker may run code that comes back here.
        drop(state);
        drop(replaced);
        Poll::Pending
    }

    fn local_address(&self) -> Result<SocketAddr> {
        Ok(self.lease.address)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The lease goes after this, so that nobody finds an address that is free and still has a listener.
        self.queue.close();
    }
}
