//! This machine's own sockets, thin: tokio waits, the kernel does the work.
//!
//! One file each: `socket` before it is anything, `listener`, `stream`, `close` (how a stream ends),
//! `datagram`, and what they share: `ask` (calls that never wait), `edges` (what tokio does not pass on), `options`,
//! `flag`, `interface`, `queue`. Names are `resolve`'s.
//!
//! Runs on a tokio runtime with I/O and time, and is made for a current-thread one whose tasks run in
//! `tokio::task::coop::unconstrained`; otherwise readiness is refused after 128 ready operations without asking the
//! kernel. Linux is what it is written for.
//!
//! What is left out: the rules about a guest's arguments, which are the same for every backend.

mod ask;
mod close;
mod datagram;
mod edges;
mod flag;
mod interface;
mod listener;
mod options;
mod queue;
mod resolve;
mod socket;
mod stream;

use std::net::{IpAddr, Ipv6Addr, SocketAddr, UdpSocket as StdUdpSocket};
use std::sync::Arc;

use crate::backend::{Backend, Capabilities, Family, OptionKind, Pending, TcpSocket, UdpSocket};
use crate::error::Result;
use resolve::Resolver;

/// The sockets of the machine that wrun runs on.
#[derive(Debug, Clone)]
pub struct Native {
    ipv6: bool,
    resolver: Resolver,
}

impl Native {
    pub fn new() -> Self {
        // A kernel may know IPv6 sockets and still have no address for them, as containers often do.
        let ipv6 = StdUdpSocket::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, 0))).is_ok();
        Self { ipv6, resolver: Resolver::new() }
    }
}

impl Default for Native {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for Native {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            name: "native".to_owned(),
            ipv6: self.ipv6,
            multicast: true,
            broadcast: true,
            options: vec![
                OptionKind::KeepAlive,
                OptionKind::KeepAliveIdle,
                OptionKind::KeepAliveInterval,
                OptionKind::KeepAliveCount,
                OptionKind::HopLimit,
                OptionKind::ReceiveBuffer,
                OptionKind::SendBuffer,
                OptionKind::NoDelay,
                OptionKind::Linger,
                OptionKind::Broadcast,
                OptionKind::MulticastHops,
                OptionKind::MulticastLoopback,
                // Not the send queue: Linux bounds bytes, not datagrams.
            ],
        }
    }

    fn tcp(&self, family: Family) -> Result<Box<dyn TcpSocket>> {
        Ok(Box::new(socket::Socket::new(family)?))
    }

    fn udp(&self, family: Family) -> Result<Arc<dyn UdpSocket>> {
        Ok(Arc::new(datagram::Datagrams::new(family)?))
    }

    fn resolve(&self, name: &str) -> Pending<Vec<IpAddr>> {
        self.resolver.resolve(name)
    }
}
