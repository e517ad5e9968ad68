//! The one core trait: who opens sockets, and what a socket must do.
//!
//! [`Backend`] makes [`TcpSocket`]s and [`UdpSocket`]s; a TCP socket becomes a [`TcpStream`] or a [`TcpListener`], so
//! that no implementor needs a state machine of its own. All traits are object-safe.
//!
//! Two kinds of calls:
//! - `try_*` never wait. They answer [`crate::Error::WouldBlock`] when there is nothing to do yet, and the `poll_*_ready`
//!   beside them says when to try again. Every surface a guest can have (WASI 0.2, WASI 0.3) is made of these two.
//! - calls that return a [`Future`] may wait for the network or for a board. They are `'static`: whoever asked may put
//!   the future aside and poll it later. Dropping it cancels the wait and loses nothing but the answer. A backend that
//!   need not wait may act as soon as it is asked.
//!
//! Of those who wait for the same readiness of the same socket, the last to ask is woken.
//!
//! Rules about a guest's arguments that are the same for every backend (address families, unspecified addresses,
//! ranges of options, order of calls) are held above, once, by whoever speaks to the guest. A backend is asked only
//! what makes sense, and answers with its network's own word when that word is no.

use std::fmt;
use std::future::{Future, ready};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::error::Result;

/// A future that may be put aside: boxed, sendable, borrowing nothing.
pub type Pending<T> = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

/// An answer that is there at once.
pub(crate) fn now<T: Send + 'static>(result: Result<T>) -> Pending<T> {
    Box::pin(ready(result))
}

/// Who opens the sockets.
pub trait Backend: Send + Sync {
    /// What these sockets can do. Data only: nobody asks which backend it is.
    fn capabilities(&self) -> Capabilities;

    /// A new TCP socket, neither bound nor connected. An IPv6 socket is for IPv6 only.
    fn tcp(&self, family: Family) -> Result<Box<dyn TcpSocket>>;

    /// A new UDP socket, not bound. An IPv6 socket is for IPv6 only.
    fn udp(&self, family: Family) -> Result<Arc<dyn UdpSocket>>;

    /// Looks a name up. The answer has at least one address; their order is the resolver's.
    ///
    /// `name` is an ASCII host name, never an address in digits.
    fn resolve(&self, name: &str) -> Pending<Vec<IpAddr>>;
}

/// What the sockets of a backend can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// The backend's name as the user writes it, with its wrappers, innermost first: `native`.
    pub name: String,
    pub ipv6: bool,
    pub multicast: bool,
    pub broadcast: bool,
    /// The options that are not answered with [`crate::Error::NotSupported`].
    pub options: Vec<OptionKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    V4,
    V6,
}

impl Family {
    pub fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }
}

/// Reading and setting the options of any kind of socket.
pub trait Options: Send + Sync {
    /// The value of an option as the stack holds it, which may be another than was set (Linux doubles buffer sizes).
    fn option(&self, kind: OptionKind) -> Pending<SocketOption>;

    /// Sets an option. [`crate::Error::NotSupported`] where the stack has no such option; never a silent success.
    fn set_option(&self, option: SocketOption) -> Pending<()>;
}

/// One option with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketOption {
    KeepAlive(bool),
    /// Time without traffic before the first probe. At least a second.
    KeepAliveIdle(Duration),
    /// Time between probes. At least a second.
    KeepAliveInterval(Duration),
    /// Probes without an answer before the connection is dropped.
    KeepAliveCount(u32),
    /// Routers a unicast packet may pass. At least 1.
    HopLimit(u8),
    /// Bytes.
    ReceiveBuffer(u64),
    /// Bytes.
    SendBuffer(u64),
    NoDelay(bool),
    /// How long a close waits for what was sent to be acknowledged; `None` does not wait, zero cuts.
    Linger(Option<Duration>),
    Broadcast(bool),
    MulticastHops(u8),
    MulticastLoopback(bool),
    /// Datagrams that may wait to be sent.
    SendQueue(u32),
}

/// The name of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OptionKind {
    KeepAlive,
    KeepAliveIdle,
    KeepAliveInterval,
    KeepAliveCount,
    HopLimit,
    ReceiveBuffer,
    SendBuffer,
    NoDelay,
    Linger,
    Broadcast,
    MulticastHops,
    MulticastLoopback,
    SendQueue,
}

impl OptionKind {
    /// Every option there is.
    pub const ALL: [Self; 13] = [
        Self::KeepAlive,
        Self::KeepAliveIdle,
        Self::KeepAliveInterval,
        Self::KeepAliveCount,
        Self::HopLimit,
        Self::ReceiveBuffer,
        Self::SendBuffer,
        Self::NoDelay,
        Self::Linger,
        Self::Broadcast,
        Self::MulticastHops,
        Self::MulticastLoopback,
        Self::SendQueue,
    ];

    /// Whether a TCP socket may have it. One that may not answers [`crate::Error::NotSupported`].
    pub fn is_tcp(self) -> bool {
        matches!(
            self,
            Self::KeepAlive
                | Self::KeepAliveIdle
                | Self::KeepAliveInterval
                | Self::KeepAliveCount
                | Self::HopLimit
                | Self::ReceiveBuffer
                | Self::SendBuffer
                | Self::NoDelay
                | Self::Linger
        )
    }

    /// Whether a UDP socket may have it.
    pub fn is_udp(self) -> bool {
        matches!(
            self,
            Self::HopLimit
                | Self::ReceiveBuffer
                | Self::SendBuffer
                | Self::Broadcast
                | Self::MulticastHops
                | Self::MulticastLoopback
                | Self::SendQueue
        )
    }
}

/// The name as reports and the `wrun:net` package have it.
impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KeepAlive => "keep-alive",
            Self::KeepAliveIdle => "keep-alive-idle",
            Self::KeepAliveInterval => "keep-alive-interval",
            Self::KeepAliveCount => "keep-alive-count",
            Self::HopLimit => "hop-limit",
            Self::ReceiveBuffer => "receive-buffer",
            Self::SendBuffer => "send-buffer",
            Self::NoDelay => "no-delay",
            Self::Linger => "linger",
            Self::Broadcast => "broadcast",
            Self::MulticastHops => "multicast-hops",
            Self::MulticastLoopback => "multicast-loopback",
            Self::SendQueue => "send-queue",
        })
    }
}

/// The name and the value, as in `no-delay true`, `linger 10s` or `linger none`.
impl fmt::Display for SocketOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self {
            Self::KeepAlive(on) | Self::NoDelay(on) | Self::Broadcast(on) | Self::MulticastLoopback(on) => {
                write!(f, "{kind} {on}")
            }
            Self::KeepAliveIdle(time) | Self::KeepAliveInterval(time) | Self::Linger(Some(time)) => {
                write!(f, "{kind} {time:?}")
            }
            Self::Linger(None) => write!(f, "{kind} none"),
            Self::KeepAliveCount(count) | Self::SendQueue(count) => write!(f, "{kind} {count}"),
            Self::HopLimit(hops) | Self::MulticastHops(hops) => write!(f, "{kind} {hops}"),
            Self::ReceiveBuffer(bytes) | Self::SendBuffer(bytes) => write!(f, "{kind} {bytes}"),
        }
    }
}

impl SocketOption {
    pub fn kind(self) -> OptionKind {
        match self {
            Self::KeepAlive(_) => OptionKind::KeepAlive,
            Self::KeepAliveIdle(_) => OptionKind::KeepAliveIdle,
            Self::KeepAliveInterval(_) => OptionKind::KeepAliveInterval,
            Self::KeepAliveCount(_) => OptionKind::KeepAliveCount,
            Self::HopLimit(_) => OptionKind::HopLimit,
            Self::ReceiveBuffer(_) => OptionKind::ReceiveBuffer,
            Self::SendBuffer(_) => OptionKind::SendBuffer,
            Self::NoDelay(_) => OptionKind::NoDelay,
            Self::Linger(_) => OptionKind::Linger,
            Self::Broadcast(_) => OptionKind::Broadcast,
            Self::MulticastHops(_) => OptionKind::MulticastHops,
            Self::MulticastLoopback(_) => OptionKind::MulticastLoopback,
            Self::SendQueue(_) => OptionKind::SendQueue,
        }
    }
}

/// A TCP socket before it is anything.
pub trait TcpSocket: Options {
    /// Binds to a local address, port 0 for any free one, and answers with the address it got.
    ///
    /// An address left in TIME_WAIT by an earlier socket can be bound again. A failed bind leaves the socket as it was.
    fn bind(&self, local: SocketAddr) -> Pending<SocketAddr>;

    /// Connects. The socket is gone, whatever comes of it.
    fn connect(self: Box<Self>, remote: SocketAddr) -> Pending<Arc<dyn TcpStream>>;

    /// Listens, holding at most `backlog` connections that nobody has accepted yet. The socket is gone, whatever
    /// comes of it.
    fn listen(self: Box<Self>, backlog: u32) -> Pending<Arc<dyn TcpListener>>;
}

/// A listening TCP socket.
pub trait TcpListener: Options {
    /// The next connection, which inherits the listener's options. [`crate::Error::WouldBlock`] when there is none;
    /// other errors are of that one connection, and the listener goes on.
    fn try_accept(&self) -> Result<Arc<dyn TcpStream>>;

    /// Ready when [`Self::try_accept`] would not block. Never ready for nothing twice in a row.
    fn poll_accept_ready(&self, cx: &mut Context<'_>) -> Poll<()>;

    fn local_address(&self) -> Result<SocketAddr>;
}

/// A connected TCP socket. Dropping it closes it, without blocking the thread.
pub trait TcpStream: Options {
    /// Reads into `buffer`, which is not empty. `Ok(0)` is the end: the peer sends no more.
    ///
    /// A reset is answered once as an error; afterwards the end.
    fn try_read(&self, buffer: &mut [u8]) -> Result<usize>;

    /// Ready when [`Self::try_read`] would not block, at the end and on errors too.
    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// Writes some of `data`, at least a byte, or would block.
    fn try_write(&self, data: &[u8]) -> Result<usize>;

    /// Ready when [`Self::try_write`] would not block, on errors too.
    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// Ends one direction, or both. Ending the sending side tells the peer; it can still send. Afterwards a write
    /// answers [`crate::Error::InvalidState`]. Ending what has ended is no error.
    fn shutdown(&self, how: std::net::Shutdown) -> Result<()>;

    /// Closes now and says how it ended, waiting for the linger time at most. A second close, and every other call
    /// after it, answers [`crate::Error::InvalidState`]; a read or write that was waiting becomes ready.
    fn close(&self) -> Pending<Closed>;

    /// Bytes written and not yet acknowledged by the peer.
    fn queued(&self) -> Result<u64>;

    fn local_address(&self) -> Result<SocketAddr>;

    fn peer_address(&self) -> Result<SocketAddr>;
}

/// How an explicit close went. How long it took is for whoever measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    pub ending: Ending,
    /// Bytes not yet acknowledged when the close began, where the backend can tell.
    pub unsent: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The peer acknowledged everything.
    Acknowledged,
    /// It returned at once; the rest is sent unobserved.
    Background,
    /// The connection was cut.
    Reset,
    /// The linger time passed first.
    TimedOut,
}

/// A UDP socket. Dropping it closes it.
pub trait UdpSocket: Options {
    /// Binds to a local address, port 0 for any free one, and answers with the address it got.
    fn bind(&self, local: SocketAddr) -> Pending<SocketAddr>;

    /// Restricts the socket to one peer, or to none again. The local address may become a definite one.
    ///
    /// From then on only the peer's datagrams are received: what others had sent before is dropped too.
    fn connect(&self, remote: Option<SocketAddr>) -> Pending<()>;

    /// Sends one datagram, whole: to `remote`, or to the connected peer.
    ///
    /// A connected socket is given no `remote`, an unconnected one always.
    fn try_send(&self, data: &[u8], remote: Option<SocketAddr>) -> Result<()>;

    /// Ready when [`Self::try_send`] would not block.
    fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// Receives one datagram into `buffer`, which has room for the largest (65,535 bytes), and says its size and
    /// sender. That nobody was there for an earlier datagram to the connected peer is answered once, as
    /// [`crate::Error::ConnectionRefused`].
    fn try_receive(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)>;

    /// Ready when [`Self::try_receive`] would not block, on errors too.
    fn poll_receive_ready(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// Joins a group. [`crate::Error::InvalidArgument`] for an interface that does not exist,
    /// [`crate::Error::AddressInUse`] for a group that was joined there already. A socket hears only what it joined.
    fn join(&self, group: IpAddr, interface: Interface) -> Pending<()>;

    /// Leaves a group. [`crate::Error::InvalidState`] for a group that was not joined there.
    fn leave(&self, group: IpAddr, interface: Interface) -> Pending<()>;

    /// The interface that multicast datagrams leave by.
    fn set_multicast_interface(&self, interface: Interface) -> Pending<()>;

    /// Bytes of datagrams handed over and not yet sent.
    fn queued(&self) -> Result<u64>;

    fn local_address(&self) -> Result<SocketAddr>;
}

/// A network interface of the backend's machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interface {
    /// Whichever the system picks.
    Default,
    Name(String),
    Address(IpAddr),
}

/// As in `the default`, or the name or address itself.
impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("the default"),
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}
