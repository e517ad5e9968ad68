//! The sums of one socket, and the meter that keeps them.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use crate::backend::Ending;
use crate::error::Error;
use crate::sync::lock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A TCP socket that is neither connected nor listening.
    Unused,
    /// A TCP socket that connects or has connected.
    Client,
    /// A TCP connection that a listener accepted.
    Accepted,
    Listener,
    Datagram,
}

/// How a socket came to its end, as far as this side saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It has not ended.
    Open,
    /// This side closed it.
    Closed,
    /// The peer had ended its side before this side closed.
    PeerClosed,
    /// An explicit close said so.
    Observed(Ending),
    /// An error ended it, or kept it from connecting.
    Failed(Error),
}

/// The sums of one socket. All times are since the run began.
#[derive(Debug, Clone)]
pub struct Sums {
    pub role: Role,
    pub local: Option<SocketAddr>,
    pub remote: Option<SocketAddr>,
    pub opened: Duration,
    /// When the connect began and when its answer was noticed.
    pub connect_start: Option<Duration>,
    pub connect_end: Option<Duration>,
    pub first_sent: Option<Duration>,
    pub first_received: Option<Duration>,
    pub last_sent: Option<Duration>,
    pub last_received: Option<Duration>,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// Calls that moved bytes, or datagrams.
    pub sends: u64,
    pub receives: u64,
    /// Connections accepted, for a listener.
    pub accepts: u64,
    /// Calls that would have blocked.
    pub send_would_blocks: u64,
    pub receive_would_blocks: u64,
    /// How long an explicit close took.
    pub close_took: Option<Duration>,
    pub ended: Option<Duration>,
    pub end: End,
}

/// The live sums of one socket.
pub struct Meter {
    pub socket: u64,
    sums: Mutex<Sums>,
}

impl Meter {
    pub(super) fn new(socket: u64, role: Role, opened: Duration) -> Self {
        Self { socket, sums: Mutex::new(Sums::new(role, opened)) }
    }

    pub fn sums(&self) -> Sums {
        self.lock().clone()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Sums> {
        lock(&self.sums)
    }
}

impl Sums {
    fn new(role: Role, opened: Duration) -> Self {
        Self {
            role,
            local: None,
            remote: None,
            opened,
            connect_start: None,
            connect_end: None,
            first_sent: None,
            first_received: None,
            last_sent: None,
            last_received: None,
            bytes_sent: 0,
            bytes_received: 0,
            sends: 0,
            receives: 0,
            accepts: 0,
            send_would_blocks: 0,
            receive_would_blocks: 0,
            close_took: None,
            ended: None,
            end: End::Open,
        }
    }

    pub(super) fn sent(&mut self, bytes: usize, now: Duration) {
        self.first_sent.get_or_insert(now);
        self.last_sent = Some(now);
        self.bytes_sent += bytes as u64;
        self.sends += 1;
    }

    pub(super) fn received(&mut self, bytes: usize, now: Duration) {
        self.first_received.get_or_insert(now);
        self.last_received = Some(now);
        self.bytes_received += bytes as u64;
        self.receives += 1;
    }

    /// The peer has ended its side. A socket that has ended otherwise before has ended otherwise.
    pub(super) fn peer_closed(&mut self) {
        if self.end == End::Open {
            self.end = End::PeerClosed;
        }
    }

    /// An error of a connection ends it; of a datagram socket or a listener it does not. A call that did not fit the
    /// state of the socket says nothing about the connection.
    pub(super) fn failed(&mut self, error: &Error) {
        let connection = matches!(self.role, Role::Client | Role::Accepted);
        if connection && matches!(self.end, End::Open | End::PeerClosed) && *error != Error::InvalidState {
            self.end = End::Failed(error.clone());
        }
    }

    /// An explicit close said how it ended, which is more than an end of the peer's side says, and less than an error.
    pub(super) fn observed(&mut self, ending: Ending, took: Duration, now: Duration) {
        self.close_took = Some(took);
        self.ended = Some(now);
        if !matches!(self.end, End::Failed(_)) {
            self.end = End::Observed(ending);
        }
    }

    /// The socket is gone.
    pub(super) fn dropped(&mut self, now: Duration) {
        self.ended.get_or_insert(now);
        if self.end == End::Open {
            self.end = End::Closed;
        }
    }
}
