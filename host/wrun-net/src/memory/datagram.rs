//! A UDP socket.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use super::mailbox::Mailbox;
use super::network::{Lease, Network, home, is_broadcast, is_here, reaches_many, unspecified};
use crate::backend::{Family, Interface, OptionKind, Options, Pending, SocketOption, UdpSocket, now};
use crate::error::{Error, Result};
use crate::sync::lock;
use crate::transport::Transport;

/// The name of the one interface there is.
const INTERFACE: &str = "lo";

pub struct Datagrams {
    network: Arc<Network>,
    family: Family,
    mailbox: Arc<Mailbox>,
    lease: Mutex<Option<Lease>>,
}

impl Datagrams {
    pub fn new(network: Arc<Network>, family: Family) -> Self {
        Self { network, family, mailbox: Arc::default(), lease: Mutex::default() }
    }

    /// The address it is bound to, which is taken now if it has none.
    fn address(&self) -> Result<SocketAddr> {
        let mut lease = lock(&self.lease);
        if let Some(lease) = &*lease {
            return Ok(lease.address);
        }
        let any = SocketAddr::new(unspecified(self.family), 0);
        Ok(lease.insert(self.network.bind_udp(any, &self.mailbox)?).address)
    }

    /// The address that others see.
    fn sender(&self) -> Result<SocketAddr> {
        let address = self.address()?;
        let own = !address.ip().is_unspecified() && !reaches_many(address.ip());
        Ok(if own { address } else { SocketAddr::new(home(self.family), address.port()) })
    }

    fn send(&self, data: &[u8], remote: Option<SocketAddr>) -> Result<()> {
        let (peer, broadcast, loopback) = self.mailbox.state(|state| {
            state.tell_refusal()?;
            Ok::<_, Error>((state.peer, state.settings.broadcast, state.settings.multicast_loopback))
        })?;
        let remote = remote.or(peer).ok_or(Error::InvalidState)?;
        if data.len() > largest(self.family) {
            return Err(Error::DatagramTooLarge);
        }
        match remote.ip() {
            ip if is_broadcast(ip) && !broadcast => Err(Error::AccessDenied),
            ip if is_broadcast(ip) => self.send_to_many(data, remote, |_| true),
            // Without loopback it leaves for a network on which nobody else is.
            ip if ip.is_multicast() && !loopback => self.address().map(drop),
            ip if ip.is_multicast() => {
                self.send_to_many(data, remote, |mailbox| mailbox.state(|state| state.groups.contains(&ip)))
            }
            ip if ip.is_unspecified() => self.send_to_one(data, SocketAddr::new(home(self.family), remote.port())),
            ip if is_here(ip) => self.send_to_one(data, remote),
            _ => Err(Error::RemoteUnreachable),
        }
    }

    fn send_to_one(&self, data: &[u8], remote: SocketAddr) -> Result<()> {
        let sender = self.sender()?;
        let delivered = self.network.mailbox(remote).is_some_and(|mailbox| mailbox.deliver(sender, data));
        // Only a connected socket hears that nobody was there.
        if !delivered && self.mailbox.state(|state| state.peer == Some(remote)) {
            self.mailbox.refuse();
        }
        Ok(())
    }

    /// Sends to a group or by broadcast, which no refusal answers.
    fn send_to_many(&self, data: &[u8], remote: SocketAddr, wanted: impl Fn(&Mailbox) -> bool) -> Result<()> {
        let sender = self.sender()?;
        if let Some(mailbox) = self.network.mailbox(remote).filter(|mailbox| wanted(mailbox)) {
            mailbox.deliver(sender, data);
        }
        Ok(())
    }
}

/// The most bytes a datagram carries: 65,535 without the headers that count as its length.
fn largest(family: Family) -> usize {
    match family {
        Family::V4 => 65_507,
        Family::V6 => 65_527,
    }
}

/// Whether the one interface is meant.
fn exists(family: Family, interface: &Interface) -> Result<()> {
    let known = match interface {
        Interface::Default => true,
        Interface::Name(name) => name == INTERFACE,
        Interface::Address(IpAddr::V4(address)) => family == Family::V4 && address.is_loopback(),
        Interface::Address(IpAddr::V6(address)) => *address == Ipv6Addr::LOCALHOST,
    };
    if known { Ok(()) } else { Err(Error::InvalidArgument) }
}

impl Options for Datagrams {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        now(self.mailbox.state(|state| state.settings.get(Transport::Udp, kind)))
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        now(self.mailbox.state(|state| state.settings.set(Transport::Udp, option)))
    }
}

impl UdpSocket for Datagrams {
    fn bind(&self, local: SocketAddr) -> Pending<SocketAddr> {
        let mut lease = lock(&self.lease);
        now(if lease.is_some() {
            Err(Error::InvalidState)
        } else {
            self.network.bind_udp(local, &self.mailbox).map(|bound| lease.insert(bound).address)
        })
    }

    fn connect(&self, remote: Option<SocketAddr>) -> Pending<()> {
        let bound = if remote.is_some() { self.address().map(drop) } else { Ok(()) };
        now(bound.map(|()| self.mailbox.connect(remote)))
    }

    fn try_send(&self, data: &[u8], remote: Option<SocketAddr>) -> Result<()> {
        self.send(data, remote)
    }

    fn poll_send_ready(&self, _cx: &mut Context<'_>) -> Poll<()> {
        // A full receiver drops, it does not hold anybody up.
        Poll::Ready(())
    }

    fn try_receive(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)> {
        self.mailbox.take(buffer)
    }

    fn poll_receive_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.mailbox.poll_readable(cx)
    }

    fn join(&self, group: IpAddr, interface: Interface) -> Pending<()> {
        now(exists(self.family, &interface).and_then(|()| {
            let joined = self.mailbox.state(|state| state.groups.insert(group));
            if joined { Ok(()) } else { Err(Error::AddressInUse) }
        }))
    }

    fn leave(&self, group: IpAddr, interface: Interface) -> Pending<()> {
        now(exists(self.family, &interface).and_then(|()| {
            let left = self.mailbox.state(|state| state.groups.remove(&group));
            if left { Ok(()) } else { Err(Error::InvalidState) }
        }))
    }

    fn set_multicast_interface(&self, interface: Interface) -> Pending<()> {
        now(exists(self.family, &interface))
    }

    fn queued(&self) -> Result<u64> {
        Ok(0)
    }

    fn local_address(&self) -> Result<SocketAddr> {
        let address = lock(&self.lease).as_ref().map(|lease| lease.address);
        let connected = self.mailbox.state(|state| state.peer.is_some());
        match address {
            Some(address) if connected && address.ip().is_unspecified() => self.sender(),
            Some(address) => Ok(address),
            // As a kernel answers for a socket without an address.
            None => Ok(SocketAddr::new(unspecified(self.family), 0)),
        }
    }
}
