//! A TCP socket before it is anything.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use super::listener::{Listener, Queue};
use super::network::{Lease, Network, home, is_here, unspecified};
use super::settings::Settings;
use super::stream::Stream;
use crate::backend::{Family, OptionKind, Options, Pending, SocketOption, TcpListener, TcpSocket, TcpStream, now};
use crate::error::{Error, Result};
use crate::sync::lock;
use crate::transport::Transport;

pub struct Socket {
    network: Arc<Network>,
    family: Family,
    settings: Mutex<Settings>,
    lease: Mutex<Option<Lease>>,
}

impl Socket {
    pub fn new(network: Arc<Network>, family: Family) -> Self {
        Self { network, family, settings: Mutex::default(), lease: Mutex::default() }
    }

    /// The settings, and a lease of an address: the bound one, or else any free port.
    fn into_parts(self) -> Result<(Arc<Network>, Settings, Lease)> {
        let settings = lock(&self.settings).clone();
        let lease = match lock(&self.lease).take() {
            Some(lease) => lease,
            None => self.network.bind_tcp(SocketAddr::new(unspecified(self.family), 0))?,
        };
        Ok((self.network, settings, lease))
    }
}

impl Options for Socket {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        now(lock(&self.settings).get(Transport::Tcp, kind))
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        now(lock(&self.settings).set(Transport::Tcp, option))
    }
}

impl TcpSocket for Socket {
    fn bind(&self, local: SocketAddr) -> Pending<SocketAddr> {
        let mut lease = lock(&self.lease);
        now(if lease.is_some() {
            Err(Error::InvalidState)
        } else {
            self.network.bind_tcp(local).map(|bound| lease.insert(bound).address)
        })
    }

    fn connect(self: Box<Self>, remote: SocketAddr) -> Pending<Arc<dyn TcpStream>> {
        let family = self.family;
        Box::pin(async move {
            let (network, settings, lease) = self.into_parts()?;
            let remote = match remote.ip() {
                ip if ip.is_unspecified() => SocketAddr::new(home(family), remote.port()),
                ip if is_here(ip) => remote,
                _ => return Err(Error::RemoteUnreachable),
            };
            let local = match lease.address.ip() {
                ip if ip.is_unspecified() => SocketAddr::new(home(family), lease.address.port()),
                _ => lease.address,
            };
            let queue = network.listener(remote).ok_or(Error::ConnectionRefused)?;
            let ours = queue.connect(settings, local, remote).await?;
            Ok(Arc::new(Stream::new(ours, local, remote, Some(lease))) as Arc<dyn TcpStream>)
        })
    }

    fn listen(self: Box<Self>, backlog: u32) -> Pending<Arc<dyn TcpListener>> {
        now(self.into_parts().map(|(network, settings, lease)| {
            let queue = Arc::new(Queue::new(settings, backlog));
            network.listen(&lease, &queue);
            Arc::new(Listener::new(queue, lease)) as Arc<dyn TcpListener>
        }))
    }
}
