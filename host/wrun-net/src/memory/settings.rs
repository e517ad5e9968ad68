//! The options of an in-memory socket: held, rounded and ranged as a plain stack does.
//!
//! Buffer sizes, linger, broadcast and multicast loopback act; the others are only held, for want of a wire.

use std::time::Duration;

use crate::backend::{OptionKind, SocketOption};
use crate::error::{Error, Result};
use crate::rounding;
use crate::transport::Transport;

/// Bytes of each buffer of a new socket.
const BUFFER: usize = 64 * 1024;

/// The sizes a buffer may be set to, in bytes: enough to get anywhere, and not so much that a guest could hoard
/// memory here.
const BUFFERS: (u64, u64) = (1024, 4 * 1024 * 1024);

/// The values of all options; which of them a socket has is decided by its kind.
#[derive(Debug, Clone)]
pub struct Settings {
    pub keep_alive: bool,
    pub keep_alive_idle: Duration,
    pub keep_alive_interval: Duration,
    pub keep_alive_count: u32,
    pub hop_limit: u8,
    /// Bytes.
    pub receive_buffer: usize,
    /// Bytes.
    pub send_buffer: usize,
    pub no_delay: bool,
    pub linger: Option<Duration>,
    pub broadcast: bool,
    pub multicast_hops: u8,
    pub multicast_loopback: bool,
}

impl Default for Settings {
    /// Linux's defaults, but for the buffers.
    fn default() -> Self {
        Self {
            keep_alive: false,
            keep_alive_idle: Duration::from_secs(7200),
            keep_alive_interval: Duration::from_secs(75),
            keep_alive_count: 9,
            hop_limit: 64,
            receive_buffer: BUFFER,
            send_buffer: BUFFER,
            no_delay: false,
            linger: None,
            broadcast: false,
            multicast_hops: 1,
            multicast_loopback: true,
        }
    }
}

impl Settings {
    pub fn get(&self, transport: Transport, kind: OptionKind) -> Result<SocketOption> {
        transport.admits(kind)?;
        Ok(match kind {
            OptionKind::KeepAlive => SocketOption::KeepAlive(self.keep_alive),
            OptionKind::KeepAliveIdle => SocketOption::KeepAliveIdle(self.keep_alive_idle),
            OptionKind::KeepAliveInterval => SocketOption::KeepAliveInterval(self.keep_alive_interval),
            OptionKind::KeepAliveCount => SocketOption::KeepAliveCount(self.keep_alive_count),
            OptionKind::HopLimit => SocketOption::HopLimit(self.hop_limit),
            OptionKind::ReceiveBuffer => SocketOption::ReceiveBuffer(self.receive_buffer as u64),
            OptionKind::SendBuffer => SocketOption::SendBuffer(self.send_buffer as u64),
            OptionKind::NoDelay => SocketOption::NoDelay(self.no_delay),
            OptionKind::Linger => SocketOption::Linger(self.linger),
            OptionKind::Broadcast => SocketOption::Broadcast(self.broadcast),
            OptionKind::MulticastHops => SocketOption::MulticastHops(self.multicast_hops),
            OptionKind::MulticastLoopback => SocketOption::MulticastLoopback(self.multicast_loopback),
            OptionKind::SendQueue => return Err(Error::NotSupported),
        })
    }

    pub fn set(&mut self, transport: Transport, option: SocketOption) -> Result<()> {
        transport.admits(option.kind())?;
        match option {
            SocketOption::KeepAlive(on) => self.keep_alive = on,
            SocketOption::KeepAliveIdle(time) => self.keep_alive_idle = rounding::keep_alive_time(time),
            SocketOption::KeepAliveInterval(time) => self.keep_alive_interval = rounding::keep_alive_time(time),
            SocketOption::KeepAliveCount(count) => self.keep_alive_count = rounding::keep_alive_count(count),
            SocketOption::HopLimit(hops) => self.hop_limit = hops.max(1),
            SocketOption::ReceiveBuffer(bytes) => self.receive_buffer = size(bytes),
            SocketOption::SendBuffer(bytes) => self.send_buffer = size(bytes),
            SocketOption::NoDelay(on) => self.no_delay = on,
            SocketOption::Linger(time) => self.linger = rounding::linger(time),
            SocketOption::Broadcast(on) => self.broadcast = on,
            SocketOption::MulticastHops(hops) => self.multicast_hops = hops,
            SocketOption::MulticastLoopback(on) => self.multicast_loopback = on,
            SocketOption::SendQueue(_) => return Err(Error::NotSupported),
        }
        Ok(())
    }
}

fn size(bytes: u64) -> usize {
    // The largest is far below what a usize holds.
    bytes.clamp(BUFFERS.0, BUFFERS.1) as usize
}
