//! The options of a UDP socket: multicast, broadcast, queues, hops and buffers.

use std::io;
use std::net::IpAddr;

use crate::address::ip_to_wasi;
use crate::bindings::options::{self, NetworkInterface};
use crate::error::{asked, refused};
use crate::udp::UdpSocket;

/// A network interface of the backend's machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interface {
    /// Whichever the system picks. For loopback that is usually the wrong one: name it.
    Default,
    /// By its name, such as `eth0`.
    Name(String),
    /// By one of its addresses.
    Address(IpAddr),
}

impl Interface {
    fn to_wasi(&self) -> NetworkInterface {
        match self {
            Self::Default => NetworkInterface::Default,
            Self::Name(name) => NetworkInterface::Name(name.clone()),
            Self::Address(address) => NetworkInterface::Address(ip_to_wasi(*address)),
        }
    }
}

/// Options. `not-supported` where the backend has no such option.
impl UdpSocket {
    /// Joins a multicast group on an interface.
    ///
    /// # Errors
    /// `invalid-argument` when it is no multicast address of the socket's family, `access-denied` when the policy has
    /// no `udp://` rule for it.
    pub fn join_group(&self, group: IpAddr, interface: &Interface) -> io::Result<()> {
        options::join_group(&self.raw, ip_to_wasi(group), &interface.to_wasi())
            .map_err(|code| refused(code, || format!("join {group}")))
    }

    /// Leaves a group joined on that interface.
    pub fn leave_group(&self, group: IpAddr, interface: &Interface) -> io::Result<()> {
        options::leave_group(&self.raw, ip_to_wasi(group), &interface.to_wasi())
            .map_err(|code| refused(code, || format!("leave {group}")))
    }

    /// Sets the interface that multicast datagrams leave by.
    pub fn set_multicast_interface(&self, interface: &Interface) -> io::Result<()> {
        asked("set multicast interface", options::set_multicast_interface(&self.raw, &interface.to_wasi()))
    }

    /// How many routers a multicast datagram may pass: 1 stays on the link, 0 on the machine.
    pub fn multicast_hops(&self) -> io::Result<u8> {
        asked("multicast hops", options::multicast_hops(&self.raw))
    }

    pub fn set_multicast_hops(&self, value: u8) -> io::Result<()> {
        asked("set multicast hops", options::set_multicast_hops(&self.raw, value))
    }

    /// Whether multicast datagrams come back to members on the sending machine. On by default.
    pub fn multicast_loopback(&self) -> io::Result<bool> {
        asked("multicast loopback", options::multicast_loopback(&self.raw))
    }

    pub fn set_multicast_loopback(&self, value: bool) -> io::Result<()> {
        asked("set multicast loopback", options::set_multicast_loopback(&self.raw, value))
    }

    /// Whether sends to a broadcast address are allowed. Off by default.
    pub fn broadcast(&self) -> io::Result<bool> {
        asked("broadcast", options::broadcast(&self.raw))
    }

    pub fn set_broadcast(&self, value: bool) -> io::Result<()> {
        asked("set broadcast", options::set_broadcast(&self.raw, value))
    }

    /// How many datagrams may wait to be sent before a send would block, for the stacks that count so.
    pub fn send_queue(&self) -> io::Result<u32> {
        asked("send queue", options::send_queue(&self.raw))
    }

    pub fn set_send_queue(&self, datagrams: u32) -> io::Result<()> {
        asked("set send queue", options::set_send_queue(&self.raw, datagrams))
    }

    /// Bytes of datagrams handed over and not yet sent.
    pub fn queued(&self) -> io::Result<u64> {
        asked("bytes queued", options::udp_queued(&self.raw))
    }

    /// How many routers a datagram to a single host may pass.
    pub fn hop_limit(&self) -> io::Result<u8> {
        asked("hop limit", self.raw.unicast_hop_limit())
    }

    pub fn set_hop_limit(&self, value: u8) -> io::Result<()> {
        asked("set hop limit", self.raw.set_unicast_hop_limit(value))
    }

    /// Bytes.
    pub fn receive_buffer(&self) -> io::Result<u64> {
        asked("receive buffer size", self.raw.receive_buffer_size())
    }

    pub fn set_receive_buffer(&self, bytes: u64) -> io::Result<()> {
        asked("set receive buffer size", self.raw.set_receive_buffer_size(bytes))
    }

    /// Bytes.
    pub fn send_buffer(&self) -> io::Result<u64> {
        asked("send buffer size", self.raw.send_buffer_size())
    }

    pub fn set_send_buffer(&self, bytes: u64) -> io::Result<()> {
        asked("set send buffer size", self.raw.set_send_buffer_size(bytes))
    }
}
