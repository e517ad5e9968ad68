//! The options of a TCP socket, whichever stage it is in, and what an explicit close observes.

use std::io;
use std::time::Duration;

use wasip2::sockets::network::ErrorCode;
use wasip2::sockets::tcp;

use crate::bindings::options;
use crate::error::asked;
use crate::poll::nanoseconds;

/// The options of a TCP socket: before it connects or listens, and afterwards.
///
/// A connection that a listener accepts inherits the listener's. The value that is read may be another than was set:
/// stacks round, and Linux doubles buffer sizes.
///
/// # Errors
/// `not-supported` where the backend has no such option, `invalid-argument` for a value that can never be right (zero,
/// except for linger), `invalid-state` after a close.
pub trait TcpOptions {
    #[doc(hidden)]
    fn raw(&self) -> &tcp::TcpSocket;

    /// How long a close waits for what was sent to be acknowledged; `None` when lingering is off.
    fn linger(&self) -> io::Result<Option<Duration>> {
        let value = asked("linger", options::linger(self.raw()))?;
        Ok(value.map(Duration::from_nanos))
    }

    /// Sets it. `None`, as every socket starts, sends in the background; zero cuts the connection with a reset.
    /// Rounded up to whole seconds where the backend counts in seconds.
    fn set_linger(&self, value: Option<Duration>) -> io::Result<()> {
        asked("set linger", options::set_linger(self.raw(), value.map(nanoseconds)))
    }

    /// Whether small writes are sent at once instead of gathered while data is unacknowledged.
    fn nodelay(&self) -> io::Result<bool> {
        asked("no-delay", options::no_delay(self.raw()))
    }

    /// Sets it. Off unless the run was started with `--no-delay`.
    fn set_nodelay(&self, value: bool) -> io::Result<()> {
        asked("set no-delay", options::set_no_delay(self.raw(), value))
    }

    /// Bytes that were written and not yet acknowledged by the peer.
    fn queued(&self) -> io::Result<u64> {
        asked("bytes queued", options::tcp_queued(self.raw()))
    }

    /// Whether the stack probes a connection without traffic.
    fn keep_alive(&self) -> io::Result<bool> {
        asked("keep-alive", self.raw().keep_alive_enabled())
    }

    fn set_keep_alive(&self, value: bool) -> io::Result<()> {
        asked("set keep-alive", self.raw().set_keep_alive_enabled(value))
    }

    /// Time without traffic before the first probe.
    fn keep_alive_idle(&self) -> io::Result<Duration> {
        asked("keep-alive idle time", self.raw().keep_alive_idle_time()).map(Duration::from_nanos)
    }

    fn set_keep_alive_idle(&self, value: Duration) -> io::Result<()> {
        asked("set keep-alive idle time", self.raw().set_keep_alive_idle_time(nanoseconds(value)))
    }

    /// Time between probes.
    fn keep_alive_interval(&self) -> io::Result<Duration> {
        asked("keep-alive interval", self.raw().keep_alive_interval()).map(Duration::from_nanos)
    }

    fn set_keep_alive_interval(&self, value: Duration) -> io::Result<()> {
        asked("set keep-alive interval", self.raw().set_keep_alive_interval(nanoseconds(value)))
    }

    /// Probes without an answer before the connection is given up.
    fn keep_alive_count(&self) -> io::Result<u32> {
        asked("keep-alive count", self.raw().keep_alive_count())
    }

    fn set_keep_alive_count(&self, value: u32) -> io::Result<()> {
        asked("set keep-alive count", self.raw().set_keep_alive_count(value))
    }

    /// How many routers a packet may pass.
    fn hop_limit(&self) -> io::Result<u8> {
        asked("hop limit", self.raw().hop_limit())
    }

    fn set_hop_limit(&self, value: u8) -> io::Result<()> {
        asked("set hop limit", self.raw().set_hop_limit(value))
    }

    /// Bytes.
    fn receive_buffer(&self) -> io::Result<u64> {
        asked("receive buffer size", self.raw().receive_buffer_size())
    }

    fn set_receive_buffer(&self, bytes: u64) -> io::Result<()> {
        asked("set receive buffer size", self.raw().set_receive_buffer_size(bytes))
    }

    /// Bytes.
    fn send_buffer(&self) -> io::Result<u64> {
        asked("send buffer size", self.raw().send_buffer_size())
    }

    fn set_send_buffer(&self, bytes: u64) -> io::Result<()> {
        asked("set send buffer size", self.raw().set_send_buffer_size(bytes))
    }
}

/// What an explicit close observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// How long it took, as the backend measured it.
    pub took: Duration,
    pub ending: Ending,
    /// Bytes sent and not yet acknowledged when the close began; `None` where the backend cannot tell.
    pub unsent: Option<u64>,
}

/// How an explicit close ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The peer acknowledged everything that was sent, the end of the stream included.
    Acknowledged,
    /// The close returned at once; what was still queued is sent in the background, unobserved.
    Background,
    /// The connection was cut.
    Reset,
    /// The linger time passed before the peer acknowledged everything.
    TimedOut,
}

/// Closes the socket now; its handles are still to be dropped.
pub(super) fn close(socket: &tcp::TcpSocket) -> Result<Closed, ErrorCode> {
    let closed = options::close(socket)?;
    Ok(Closed {
        took: Duration::from_nanos(closed.took),
        ending: match closed.ending {
            options::Ending::Acknowledged => Ending::Acknowledged,
            options::Ending::Background => Ending::Background,
            options::Ending::Reset => Ending::Reset,
            options::Ending::TimedOut => Ending::TimedOut,
        },
        unsent: closed.unsent,
    })
}
