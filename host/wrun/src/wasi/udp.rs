//! `wasi:sockets/udp`: the state machine of a UDP socket, and its two streams of datagrams.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};

use wasmtime::Result;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wrun_net::backend::Options;
use wrun_net::{Error, Family, SocketOption};

use super::address::{fits_family, is_remote, unspecified};
use super::bindings::wasi::sockets::network::{ErrorCode, IpAddressFamily, IpSocketAddress};
use super::bindings::wasi::sockets::{udp, udp_create_socket};
use super::error::SocketError;
use super::network::Network;
use super::{Place, View, scratch, values};
use crate::policy::Policy;

/// The most datagrams that one call moves.
const MAX_DATAGRAMS: usize = 16;

/// The most datagrams that one call looks at to find those.
const MAX_LOOKED_AT: usize = 256;

/// Bytes in the largest datagram.
const MAX_DATAGRAM: usize = 65_535;

/// Senders that a server may answer without a rule of their own: the latest so many at least, twice that at most.
const MAX_ASKERS: usize = 4096;

/// A guest's UDP socket.
pub struct UdpSocket {
    pub(super) socket: Arc<dyn wrun_net::UdpSocket>,
    pub(super) family: Family,
    state: State,
    /// What it was asked to bind to.
    asked: SocketAddr,
    /// Where the socket is a server, who has asked it something.
    server: Option<Arc<Askers>>,
    remote: Option<SocketAddr>,
    _place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unbound,
    /// `start-bind` has succeeded, `finish-bind` is to be called.
    BindStarted,
    Bound,
}

/// Who has sent a server something, so that it can answer: in two generations, of which the older is forgotten whole.
#[derive(Default)]
struct Askers(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    last: Option<SocketAddr>,
    newer: HashSet<SocketAddr>,
    older: HashSet<SocketAddr>,
}

impl Askers {
    fn add(&self, sender: SocketAddr) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.last == Some(sender) {
            return;
        }
        known.last = Some(sender);
        if known.newer.insert(sender) && known.newer.len() > MAX_ASKERS {
            known.older = std::mem::take(&mut known.newer);
            known.newer.insert(sender);
        }
    }

    fn has(&self, address: SocketAddr) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.newer.contains(&address) || known.older.contains(&address)
    }
}

impl UdpSocket {
    pub(super) fn options(&self) -> Result<&dyn Options, SocketError> {
        Ok(&*self.socket as &dyn Options)
    }
}

/// The receiving stream.
pub struct Incoming {
    socket: Arc<dyn wrun_net::UdpSocket>,
    policy: Policy,
    asked: SocketAddr,
    server: Option<Arc<Askers>>,
    remote: Option<SocketAddr>,
}

/// The sending stream.
pub struct Outgoing {
    socket: Arc<dyn wrun_net::UdpSocket>,
    family: Family,
    server: Option<Arc<Askers>>,
    remote: Option<SocketAddr>,
    /// Datagrams that the last `check-send` granted and nobody has sent.
    permit: usize,
    /// The address that was allowed last: a sender mostly stays with one.
    allowed: Option<SocketAddr>,
}

impl udp_create_socket::Host for View<'_> {
    fn create_udp_socket(&mut self, family: IpAddressFamily) -> Result<Resource<UdpSocket>, SocketError> {
        let place = self.sockets.limit.take()?;
        let family = family.into();
        let socket = self.sockets.backend.udp(family)?;
        let socket = UdpSocket {
            socket,
            family,
            state: State::Unbound,
            asked: unspecified(family),
            server: None,
            remote: None,
            _place: place,
        };
        Ok(self.table.push(socket)?)
    }
}

impl udp::Host for View<'_> {}

impl udp::HostUdpSocket for View<'_> {
    async fn start_bind(
        &mut self,
        this: Resource<UdpSocket>,
        network: Resource<Network>,
        local: IpSocketAddress,
    ) -> Result<(), SocketError> {
        self.table.get(&network)?;
        let local = SocketAddr::from(local);
        let this = self.table.get_mut(&this)?;
        match this.state {
            State::BindStarted => return Err(ErrorCode::ConcurrencyConflict.into()),
            State::Bound => return Err(ErrorCode::InvalidState.into()),
            State::Unbound => {}
        }
        if !fits_family(local.ip(), this.family) {
            return Err(ErrorCode::InvalidArgument.into());
        }
        let serves = self.sockets.policy.check_udp_bind(local)?;
        this.socket.bind(local).await?;
        this.asked = local;
        this.server = serves.then(Arc::default);
        this.state = State::BindStarted;
        Ok(())
    }

    fn finish_bind(&mut self, this: Resource<UdpSocket>) -> Result<(), SocketError> {
        let this = self.table.get_mut(&this)?;
        if this.state != State::BindStarted {
            return Err(ErrorCode::NotInProgress.into());
        }
        this.state = State::Bound;
        Ok(())
    }

    async fn stream(
        &mut self,
        this: Resource<UdpSocket>,
        remote: Option<IpSocketAddress>,
    ) -> Result<(Resource<Incoming>, Resource<Outgoing>), SocketError> {
        if self.table.iter_children(&this)?.any(|child| child.is::<Incoming>() || child.is::<Outgoing>()) {
            let words = "udp-socket.stream was called while the streams of an earlier call were not dropped";
            return Err(SocketError::Trap(wasmtime::Error::msg(words)));
        }
        let socket = self.table.get_mut(&this)?;
        if socket.state != State::Bound {
            return Err(ErrorCode::InvalidState.into());
        }
        let remote = remote.map(SocketAddr::from);
        if let Some(remote) = remote {
            if !fits_family(remote.ip(), socket.family) || !is_remote(remote) {
                return Err(ErrorCode::InvalidArgument.into());
            }
            self.sockets.policy.check_udp_send(remote)?;
        }
        if remote.is_some() || socket.remote.is_some() {
            socket.socket.connect(remote).await?;
            socket.remote = remote;
        }
        let incoming = Incoming {
            socket: socket.socket.clone(),
            policy: self.sockets.policy.clone(),
            asked: socket.asked,
            server: socket.server.clone(),
            remote,
        };
        let outgoing = Outgoing {
            socket: socket.socket.clone(),
            family: socket.family,
            server: socket.server.clone(),
            remote,
            permit: 0,
            allowed: remote,
        };
        Ok((self.table.push_child(incoming, &this)?, self.table.push_child(outgoing, &this)?))
    }

    fn local_address(&mut self, this: Resource<UdpSocket>) -> Result<IpSocketAddress, SocketError> {
        let this = self.table.get(&this)?;
        match this.state {
            State::Unbound => Err(ErrorCode::InvalidState.into()),
            State::BindStarted | State::Bound => Ok(this.socket.local_address()?.into()),
        }
    }

    fn remote_address(&mut self, this: Resource<UdpSocket>) -> Result<IpSocketAddress, SocketError> {
        Ok(self.table.get(&this)?.remote.ok_or(ErrorCode::InvalidState)?.into())
    }

    fn address_family(&mut self, this: Resource<UdpSocket>) -> Result<IpAddressFamily> {
        Ok(self.table.get(&this)?.family.into())
    }

    async fn unicast_hop_limit(&mut self, this: Resource<UdpSocket>) -> Result<u8, SocketError> {
        values::hop_limit(self.table.get(&this)?.options()).await
    }

    async fn set_unicast_hop_limit(&mut self, this: Resource<UdpSocket>, value: u8) -> Result<(), SocketError> {
        let option = SocketOption::HopLimit(values::positive(value)?);
        values::set(self.table.get(&this)?.options(), option).await
    }

    async fn receive_buffer_size(&mut self, this: Resource<UdpSocket>) -> Result<u64, SocketError> {
        values::receive_buffer(self.table.get(&this)?.options()).await
    }

    async fn set_receive_buffer_size(&mut self, this: Resource<UdpSocket>, value: u64) -> Result<(), SocketError> {
        let option = SocketOption::ReceiveBuffer(values::positive(value)?);
        values::set(self.table.get(&this)?.options(), option).await
    }

    async fn send_buffer_size(&mut self, this: Resource<UdpSocket>) -> Result<u64, SocketError> {
        values::send_buffer(self.table.get(&this)?.options()).await
    }

    async fn set_send_buffer_size(&mut self, this: Resource<UdpSocket>, value: u64) -> Result<(), SocketError> {
        let option = SocketOption::SendBuffer(values::positive(value)?);
        values::set(self.table.get(&this)?.options(), option).await
    }

    fn subscribe(&mut self, this: Resource<UdpSocket>) -> Result<Resource<DynPollable>> {
        subscribe(self.table, this)
    }

    fn drop(&mut self, this: Resource<UdpSocket>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for UdpSocket {
    /// A bind is done when it is started.
    async fn ready(&mut self) {}
}

impl udp::HostIncomingDatagramStream for View<'_> {
    fn receive(&mut self, this: Resource<Incoming>, max: u64) -> Result<Vec<udp::IncomingDatagram>, SocketError> {
        let this = self.table.get_mut(&this)?;
        let max = usize::try_from(max).unwrap_or(usize::MAX).min(MAX_DATAGRAMS);
        let mut received = Vec::new();
        // Strangers' datagrams are bounded too, or a flood of them would hold the guest here.
        for _ in 0..MAX_LOOKED_AT {
            if received.len() == max {
                break;
            }
            let datagram = scratch::lend(|buffer| {
                let (size, sender) = this.socket.try_receive(buffer)?;
                Ok((buffer[..size].to_vec(), sender))
            });
            let (data, sender) = match datagram {
                Ok(datagram) => datagram,
                Err(Error::WouldBlock) => break,
                Err(_) if !received.is_empty() => break,
                Err(error) => return Err(error.into()),
            };
            match &this.server {
                Some(askers) => askers.add(sender),
                // A client hears only whom it may talk to, as behind a firewall.
                None if this.remote != Some(sender) && !this.policy.allows_udp(sender) => {
                    this.policy.deny_stranger(this.asked);
                    continue;
                }
                None => {}
            }
            received.push(udp::IncomingDatagram { data, remote_address: sender.into() });
        }
        Ok(received)
    }

    fn subscribe(&mut self, this: Resource<Incoming>) -> Result<Resource<DynPollable>> {
        subscribe(self.table, this)
    }

    fn drop(&mut self, this: Resource<Incoming>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Incoming {
    async fn ready(&mut self) {
        std::future::poll_fn(|cx| self.socket.poll_receive_ready(cx)).await;
    }
}

impl udp::HostOutgoingDatagramStream for View<'_> {
    fn check_send(&mut self, this: Resource<Outgoing>) -> Result<u64, SocketError> {
        let this = self.table.get_mut(&this)?;
        let ready = this.socket.poll_send_ready(&mut Context::from_waker(Waker::noop())).is_ready();
        this.permit = if ready { MAX_DATAGRAMS } else { 0 };
        Ok(this.permit as u64)
    }

    fn send(&mut self, this: Resource<Outgoing>, datagrams: Vec<udp::OutgoingDatagram>) -> Result<u64, SocketError> {
        let this = self.table.get_mut(&this)?;
        if datagrams.len() > this.permit {
            let words = format!(
                "outgoing-datagram-stream.send of {} datagrams, of which check-send had granted {}",
                datagrams.len(),
                this.permit
            );
            return Err(SocketError::Trap(wasmtime::Error::msg(words)));
        }
        if datagrams.is_empty() {
            return Ok(0);
        }
        // Each grant is for one call.
        this.permit = 0;
        let mut sent = 0;
        for datagram in datagrams {
            match this.send(&self.sockets.policy, &datagram.data, datagram.remote_address.map(SocketAddr::from)) {
                Ok(()) => sent += 1,
                Err(SocketError::Code(ErrorCode::WouldBlock)) => break,
                // What was sent is sent; the error comes again with the next call.
                Err(SocketError::Code(_)) if sent > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    fn subscribe(&mut self, this: Resource<Outgoing>) -> Result<Resource<DynPollable>> {
        subscribe(self.table, this)
    }

    fn drop(&mut self, this: Resource<Outgoing>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}

impl Outgoing {
    /// Sends one datagram: to the address it names, which on a connected socket can only be the peer's.
    fn send(&mut self, policy: &Policy, data: &[u8], to: Option<SocketAddr>) -> Result<(), SocketError> {
        let address = match (self.remote, to) {
            (Some(remote), None) => remote,
            (Some(remote), Some(to)) if to == remote => remote,
            (None, Some(to)) if is_remote(to) && fits_family(to.ip(), self.family) => to,
            _ => return Err(ErrorCode::InvalidArgument.into()),
        };
        if data.len() > MAX_DATAGRAM {
            return Err(ErrorCode::DatagramTooLarge.into());
        }
        if self.allowed != Some(address) {
            let answers = self.server.as_ref().is_some_and(|askers| askers.has(address));
            if !answers {
                policy.check_udp_send(address)?;
                self.allowed = Some(address);
            }
        }
        Ok(self.socket.try_send(data, self.remote.is_none().then_some(address))?)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Outgoing {
    async fn ready(&mut self) {
        std::future::poll_fn(|cx| self.socket.poll_send_ready(cx)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_remembers_its_latest_askers_and_no_more_than_twice_as_many() {
        let askers = Askers::default();
        let address = |n: usize| SocketAddr::from(([127, 0, 0, 1], u16::try_from(n).unwrap()));
        for n in 1..=3 * MAX_ASKERS {
            askers.add(address(n));
        }
        assert!((2 * MAX_ASKERS..=3 * MAX_ASKERS).all(|n| askers.has(address(n))));
        assert!((1..=MAX_ASKERS).all(|n| !askers.has(address(n))));
    }
}
