//! The addresses of the machine, and who is bound to them.
//!
//! There is one machine, so the network is its ports. With more of them this is where their addresses would be told
//! apart; nothing else here knows how many there are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, Weak};

use super::listener::Queue;
use super::mailbox::Mailbox;
use crate::backend::Family;
use crate::error::{Error, Result};
use crate::sync::lock;
use crate::transport::Transport;

/// Where the ports begin that the machine gives out by itself, as registered for that.
const EPHEMERAL: u16 = 49_152;

#[derive(Default)]
pub struct Network {
    tcp: Mutex<Ports<Weak<Queue>>>,
    udp: Mutex<Ports<Weak<Mailbox>>>,
}

/// The bound addresses of one transport, each with who answers there, if anybody does yet.
struct Ports<T> {
    bound: HashMap<SocketAddr, Option<T>>,
    next: u16,
}

impl<T> Default for Ports<T> {
    fn default() -> Self {
        Self { bound: HashMap::new(), next: EPHEMERAL }
    }
}

impl<T> Ports<T> {
    /// Takes an address, or any free port of one.
    fn take(&mut self, local: SocketAddr) -> Result<SocketAddr> {
        let ip = local.ip();
        let port = match local.port() {
            0 => self.free_port(ip)?,
            port if self.conflicts(ip, port) => return Err(Error::AddressInUse),
            port => port,
        };
        let taken = SocketAddr::new(ip, port);
        self.bound.insert(taken, None);
        Ok(taken)
    }

    fn free_port(&mut self, ip: IpAddr) -> Result<u16> {
        for _ in EPHEMERAL..=u16::MAX {
            let port = self.next;
            self.next = port.checked_add(1).unwrap_or(EPHEMERAL);
            if !self.conflicts(ip, port) {
                return Ok(port);
            }
        }
        Err(Error::AddressInUse)
    }

    /// Whether somebody has this port: on this address, on all addresses, or on any if this is all of them.
    fn conflicts(&self, ip: IpAddr, port: u16) -> bool {
        if ip.is_unspecified() {
            let family = Family::of(ip);
            return self.bound.keys().any(|taken| taken.port() == port && Family::of(taken.ip()) == family);
        }
        self.bound.contains_key(&SocketAddr::new(ip, port)) || self.bound.contains_key(&everywhere(ip, port))
    }

    /// Who answers at an address.
    fn at(&self, address: SocketAddr) -> Option<&T> {
        let bound = self.bound.get(&address).or_else(|| self.bound.get(&everywhere(address.ip(), address.port())))?;
        bound.as_ref()
    }
}

/// A bound address, given back when it is dropped.
pub struct Lease {
    network: Arc<Network>,
    transport: Transport,
    pub address: SocketAddr,
}

impl Network {
    pub fn bind_tcp(self: &Arc<Self>, local: SocketAddr) -> Result<Lease> {
        if !local.ip().is_unspecified() && !is_here(local.ip()) {
            return Err(Error::AddressNotBindable);
        }
        let address = lock(&self.tcp).take(local)?;
        Ok(Lease { network: self.clone(), transport: Transport::Tcp, address })
    }

    /// Binds a mailbox, which from then on is delivered to. It may be bound to where many are reached too, and then
    /// hears only what is sent there.
    pub fn bind_udp(self: &Arc<Self>, local: SocketAddr, mailbox: &Arc<Mailbox>) -> Result<Lease> {
        if !local.ip().is_unspecified() && !is_here(local.ip()) && !reaches_many(local.ip()) {
            return Err(Error::AddressNotBindable);
        }
        let mut ports = lock(&self.udp);
        let address = ports.take(local)?;
        ports.bound.insert(address, Some(Arc::downgrade(mailbox)));
        Ok(Lease { network: self.clone(), transport: Transport::Udp, address })
    }

    /// Has connections to a leased address put into a queue.
    pub fn listen(&self, lease: &Lease, queue: &Arc<Queue>) {
        if let Entry::Occupied(mut bound) = lock(&self.tcp).bound.entry(lease.address) {
            bound.insert(Some(Arc::downgrade(queue)));
        }
    }

    /// Who listens at an address.
    pub fn listener(&self, address: SocketAddr) -> Option<Arc<Queue>> {
        lock(&self.tcp).at(address)?.upgrade()
    }

    /// Who receives what is sent to an address. That is one at most, be it a group's: no two have the same address and port.
    pub fn mailbox(&self, address: SocketAddr) -> Option<Arc<Mailbox>> {
        lock(&self.udp).at(address)?.upgrade()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        match self.transport {
            Transport::Tcp => drop(lock(&self.network.tcp).bound.remove(&self.address)),
            Transport::Udp => drop(lock(&self.network.udp).bound.remove(&self.address)),
        }
    }
}

/// Whether an address is one of the machine's.
pub fn is_here(ip: IpAddr) -> bool {
    ip.is_loopback() && !is_broadcast(ip)
}

/// The broadcast addresses that reach the machine: of every network, and of the loopback network.
const BROADCASTS: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::BROADCAST), IpAddr::V4(Ipv4Addr::new(127, 255, 255, 255))];

pub fn is_broadcast(ip: IpAddr) -> bool {
    BROADCASTS.contains(&ip)
}

/// Whether an address is a group's, or for broadcast: nobody's own.
pub fn reaches_many(ip: IpAddr) -> bool {
    ip.is_multicast() || is_broadcast(ip)
}

/// The address that the machine sends from, unless bound to another.
pub fn home(family: Family) -> IpAddr {
    match family {
        Family::V4 => Ipv4Addr::LOCALHOST.into(),
        Family::V6 => Ipv6Addr::LOCALHOST.into(),
    }
}

/// All addresses of a family.
pub fn unspecified(family: Family) -> IpAddr {
    match family {
        Family::V4 => Ipv4Addr::UNSPECIFIED.into(),
        Family::V6 => Ipv6Addr::UNSPECIFIED.into(),
    }
}

fn everywhere(ip: IpAddr, port: u16) -> SocketAddr {
    SocketAddr::new(unspecified(Family::of(ip)), port)
}
