//! A network inside the process: one machine with 127.0.0.0/8 and ::1, and ports of its own.
//!
//! For tests, dry runs and calibration: nothing here touches the kernel, reads a clock or draws a number, so a run is
//! the same every time. The one wait that ends by time, a lingering close, is tokio's, and virtual where tokio's is.
//!
//! One file each: `network` (addresses, and who is bound to them), `socket` and `listener`, `connection` (what
//! lies between two streams) and `stream` (one end of it), `datagram` and `mailbox`, `settings` (options).
//!
//! What is left out: time, loss and every other property of a wire, which wrappers add; more machines than one.

mod connection;
mod datagram;
mod listener;
mod mailbox;
mod network;
mod settings;
mod socket;
mod stream;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use self::network::Network;
use crate::backend::{Backend, Capabilities, Family, OptionKind, Pending, TcpSocket, UdpSocket, now};
use crate::error::{Error, Result};

/// One machine, alone on its network. Clones are the same machine.
#[derive(Clone)]
pub struct Memory {
    network: Arc<Network>,
    names: Arc<HashMap<String, Vec<IpAddr>>>,
}

impl Memory {
    /// A machine that knows itself as `localhost`.
    pub fn new() -> Self {
        Self::with_names([])
    }

    /// A machine that knows these names besides `localhost`. Upper and lower case are the same; a name without
    /// addresses is not known.
    pub fn with_names(names: impl IntoIterator<Item = (String, Vec<IpAddr>)>) -> Self {
        let localhost = [("localhost".to_owned(), vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()])];
        let names = localhost.into_iter().chain(names).map(|(name, found)| (name.to_ascii_lowercase(), found));
        Self { network: Arc::default(), names: Arc::new(names.collect()) }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for Memory {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            name: "memory".to_owned(),
            ipv6: true,
            multicast: true,
            broadcast: true,
            // A datagram is with its receiver as soon as it is sent: nothing ever queues.
            options: OptionKind::ALL.into_iter().filter(|kind| *kind != OptionKind::SendQueue).collect(),
        }
    }

    fn tcp(&self, family: Family) -> Result<Box<dyn TcpSocket>> {
        Ok(Box::new(socket::Socket::new(self.network.clone(), family)))
    }

    fn udp(&self, family: Family) -> Result<Arc<dyn UdpSocket>> {
        Ok(Arc::new(datagram::Datagrams::new(self.network.clone(), family)))
    }

    fn resolve(&self, name: &str) -> Pending<Vec<IpAddr>> {
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        now(match self.names.get(&name) {
            Some(found) if !found.is_empty() => Ok(found.clone()),
            _ => Err(Error::NameUnresolvable),
        })
    }
}

#[cfg(test)]
mod tests;
