//! `wasi:sockets/udp` and `udp-create-socket`: the state machine of a UDP socket. Its datagrams go through [`streams`];
//! [`askers`] is whom a server may answer.

mod askers;
mod streams;

use std::convert::identity;
use std::net::SocketAddr;
use std::sync::Arc;

use wasmtime::Result;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wrun_net::backend::Options;
use wrun_net::{Family, SocketOption};

use super::address::{fits_family, is_remote, unspecified};
use super::bindings::wasi::sockets::network::{ErrorCode, IpAddressFamily, IpSocketAddress};
use super::bindings::wasi::sockets::{udp, udp_create_socket};
use super::error::SocketError;
use super::network::Network;
use super::values::{accessors, positive};
use super::{Place, View, values};
use askers::Askers;
pub use streams::{Incoming, Outgoing};

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

impl UdpSocket {
    pub(super) fn options(&self) -> Result<&dyn Options, SocketError> {
        Ok(&*self.socket as &dyn Options)
    }
}

impl udp_create_socket::Host for View<'_> {
    fn create_udp_socket(&mut self, family: IpAddressFamily) -> Result<Resource<UdpSocket>, SocketError> {
        let place = self.sockets.open.take().ok_or(ErrorCode::NewSocketLimit)?;
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
            // Whatever comes of it, the old peer is none any more.
            socket.remote = None;
            socket.socket.connect(remote).await?;
            socket.remote = remote;
        }
        let incoming = Incoming {
            socket: socket.socket.clone(),
            policy: self.sockets.policy.clone(),
            asked: socket.asked,
            server: socket.server.clone(),
            remote,
            error: None,
        };
        let outgoing = Outgoing {
            socket: socket.socket.clone(),
            family: socket.family,
            server: socket.server.clone(),
            remote,
            permit: 0,
            allowed: remote,
            error: None,
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

    accessors! { UdpSocket:
        unicast_hop_limit, set_unicast_hop_limit: u8 = hop_limit, HopLimit, identity, positive;
        receive_buffer_size, set_receive_buffer_size: u64 = receive_buffer, ReceiveBuffer, identity, positive;
        send_buffer_size, set_send_buffer_size: u64 = send_buffer, SendBuffer, identity, positive;
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
