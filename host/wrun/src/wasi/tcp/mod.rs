//! `wasi:sockets/tcp` and `tcp-create-socket`.
//!
//! `start-*` does the work or sets it going, `finish-*` fetches the answer: between the two every other operation is a
//! conflict. What a socket is meanwhile is in [`socket`], the ranges of options in [`values`].

mod socket;

use std::convert::identity;
use std::net::{Shutdown, SocketAddr};
use std::task::{Context, Waker};

use wasmtime::Result;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, subscribe};
use wrun_net::SocketOption;

use super::address::{fits_family, is_remote, is_unicast};
use super::bindings::wasi::sockets::network::{ErrorCode, IpAddressFamily, IpSocketAddress};
use super::bindings::wasi::sockets::{tcp, tcp_create_socket};
use super::error::SocketError;
use super::network::Network;
use super::streams::{input, output};
use super::turn::ready_now;
use super::values::{accessors, any, nanoseconds, positive, time};
use super::{View, values};
pub use socket::TcpSocket;
use socket::{Connection, Listener, Local, Operation, State};

impl tcp_create_socket::Host for View<'_> {
    async fn create_tcp_socket(&mut self, family: IpAddressFamily) -> Result<Resource<TcpSocket>, SocketError> {
        let place = self.sockets.open.take().ok_or(ErrorCode::NewSocketLimit)?;
        let family = family.into();
        let socket = self.sockets.backend.tcp(family)?;
        if self.sockets.no_delay {
            socket.set_option(SocketOption::NoDelay(true)).await?;
        }
        Ok(self.table.push(TcpSocket::new(family, State::Unbound(socket), place))?)
    }
}

impl tcp::Host for View<'_> {}

impl tcp::HostTcpSocket for View<'_> {
    async fn start_bind(
        &mut self,
        this: Resource<TcpSocket>,
        network: Resource<Network>,
        local: IpSocketAddress,
    ) -> Result<(), SocketError> {
        self.table.get(&network)?;
        let local = SocketAddr::from(local);
        let this = self.table.get_mut(&this)?;
        this.idle()?;
        let State::Unbound(socket) = &this.state else { return Err(ErrorCode::InvalidState.into()) };
        if !is_unicast(local.ip()) || !fits_family(local.ip(), this.family) {
            return Err(ErrorCode::InvalidArgument.into());
        }
        let may_listen = self.sockets.policy.check_tcp_bind(local)?;
        let address = socket.bind(local).await?;
        if let State::Unbound(socket) = std::mem::replace(&mut this.state, State::Closed(None)) {
            this.state = State::Bound(socket, Local { asked: local, address, may_listen });
        }
        this.started = Some(Operation::Bind);
        Ok(())
    }

    fn finish_bind(&mut self, this: Resource<TcpSocket>) -> Result<(), SocketError> {
        self.table.get_mut(&this)?.finish(Operation::Bind)
    }

    fn start_connect(
        &mut self,
        this: Resource<TcpSocket>,
        network: Resource<Network>,
        remote: IpSocketAddress,
    ) -> Result<(), SocketError> {
        self.table.get(&network)?;
        let remote = SocketAddr::from(remote);
        let this = self.table.get_mut(&this)?;
        this.idle()?;
        if !matches!(this.state, State::Unbound(_) | State::Bound(..)) {
            return Err(ErrorCode::InvalidState.into());
        }
        if !is_unicast(remote.ip()) || !is_remote(remote) || !fits_family(remote.ip(), this.family) {
            return Err(ErrorCode::InvalidArgument.into());
        }
        self.sockets.policy.check_tcp_connect(remote)?;
        if let State::Unbound(socket) | State::Bound(socket, _) =
            std::mem::replace(&mut this.state, State::Closed(None))
        {
            this.state = State::Connecting(socket.connect(remote));
            this.started = Some(Operation::Connect);
            // Sets it going now, not when the guest comes to ask.
            _ = this.poll_connect(&mut Context::from_waker(Waker::noop()));
        }
        Ok(())
    }

    async fn finish_connect(
        &mut self,
        this: Resource<TcpSocket>,
    ) -> Result<(Resource<DynInputStream>, Resource<DynOutputStream>), SocketError> {
        let socket = self.table.get_mut(&this)?;
        if socket.started != Some(Operation::Connect) {
            return Err(ErrorCode::NotInProgress.into());
        }
        if !ready_now(|cx| socket.poll_connect(cx)).await {
            return Err(ErrorCode::WouldBlock.into());
        }
        socket.started = None;
        let (reader, writer) = socket.take_streams()?;
        Ok((input(self.table.push_child(reader, &this)?), output(self.table.push_child(writer, &this)?)))
    }

    async fn start_listen(&mut self, this: Resource<TcpSocket>) -> Result<(), SocketError> {
        let this = self.table.get_mut(&this)?;
        this.idle()?;
        // WASI 0.2 has no implicit bind before listening.
        let State::Bound(_, local) = &this.state else { return Err(ErrorCode::InvalidState.into()) };
        if !local.may_listen {
            self.sockets.policy.check_tcp_listen(local.asked, local.address)?;
        }
        if let State::Bound(socket, _) = std::mem::replace(&mut this.state, State::Closed(None)) {
            let listener = socket.listen(this.backlog).await?;
            this.state = State::Listening(Listener { listener, accepted: None });
        }
        this.started = Some(Operation::Listen);
        Ok(())
    }

    fn finish_listen(&mut self, this: Resource<TcpSocket>) -> Result<(), SocketError> {
        self.table.get_mut(&this)?.finish(Operation::Listen)
    }

    async fn accept(
        &mut self,
        this: Resource<TcpSocket>,
    ) -> Result<(Resource<TcpSocket>, Resource<DynInputStream>, Resource<DynOutputStream>), SocketError> {
        let this = self.table.get_mut(&this)?;
        if this.started.is_some() {
            return Err(ErrorCode::InvalidState.into());
        }
        let family = this.family;
        let State::Listening(listener) = &mut this.state else { return Err(ErrorCode::InvalidState.into()) };
        if !ready_now(|cx| listener.poll(cx)).await {
            return Err(ErrorCode::WouldBlock.into());
        }
        // Over the limit the connection stays where it is, and can be accepted when another socket is gone.
        let place = self.sockets.open.take().ok_or(ErrorCode::NewSocketLimit)?;
        let Some(accepted) = listener.accepted.take() else { return Err(ErrorCode::WouldBlock.into()) };
        let mut socket = TcpSocket::new(family, State::Connected(Connection::new(accepted?)), place);
        let (reader, writer) = socket.take_streams()?;
        let socket = self.table.push(socket)?;
        let input = input(self.table.push_child(reader, &socket)?);
        let output = output(self.table.push_child(writer, &socket)?);
        Ok((socket, input, output))
    }

    fn local_address(&mut self, this: Resource<TcpSocket>) -> Result<IpSocketAddress, SocketError> {
        match &self.table.get(&this)?.state {
            State::Bound(_, local) => Ok(local.address.into()),
            State::Connected(connection) => Ok(connection.stream.local_address()?.into()),
            State::Listening(listener) => Ok(listener.listener.local_address()?.into()),
            State::Unbound(_) | State::Connecting(_) | State::Closed(_) => Err(ErrorCode::InvalidState.into()),
        }
    }

    fn remote_address(&mut self, this: Resource<TcpSocket>) -> Result<IpSocketAddress, SocketError> {
        Ok(self.table.get(&this)?.stream()?.peer_address()?.into())
    }

    fn is_listening(&mut self, this: Resource<TcpSocket>) -> Result<bool> {
        Ok(matches!(self.table.get(&this)?.state, State::Listening(_)))
    }

    fn address_family(&mut self, this: Resource<TcpSocket>) -> Result<IpAddressFamily> {
        Ok(self.table.get(&this)?.family.into())
    }

    fn set_listen_backlog_size(&mut self, this: Resource<TcpSocket>, value: u64) -> Result<(), SocketError> {
        if value == 0 {
            return Err(ErrorCode::InvalidArgument.into());
        }
        let this = self.table.get_mut(&this)?;
        match this.state {
            State::Unbound(_) | State::Bound(..) => {
                this.backlog = value.try_into().unwrap_or(u32::MAX);
                Ok(())
            }
            // The standard lets a listener refuse to change its backlog.
            State::Listening(_) => Err(ErrorCode::NotSupported.into()),
            State::Connecting(_) | State::Connected(_) | State::Closed(_) => Err(ErrorCode::InvalidState.into()),
        }
    }

    accessors! { TcpSocket:
        keep_alive_enabled, set_keep_alive_enabled: bool = keep_alive, KeepAlive, identity, any;
        keep_alive_idle_time, set_keep_alive_idle_time: u64 = keep_alive_idle, KeepAliveIdle, nanoseconds, time;
        keep_alive_interval, set_keep_alive_interval: u64 = keep_alive_interval, KeepAliveInterval, nanoseconds, time;
        keep_alive_count, set_keep_alive_count: u32 = keep_alive_count, KeepAliveCount, identity, positive;
        hop_limit, set_hop_limit: u8 = hop_limit, HopLimit, identity, positive;
        receive_buffer_size, set_receive_buffer_size: u64 = receive_buffer, ReceiveBuffer, identity, positive;
        send_buffer_size, set_send_buffer_size: u64 = send_buffer, SendBuffer, identity, positive;
    }

    fn subscribe(&mut self, this: Resource<TcpSocket>) -> Result<Resource<DynPollable>> {
        subscribe(self.table, this)
    }

    fn shutdown(&mut self, this: Resource<TcpSocket>, how: tcp::ShutdownType) -> Result<(), SocketError> {
        let State::Connected(connection @ Connection { taken: true, .. }) = &self.table.get(&this)?.state else {
            return Err(ErrorCode::InvalidState.into());
        };
        if matches!(how, tcp::ShutdownType::Receive | tcp::ShutdownType::Both) {
            connection.reader.shut();
            connection.stream.shutdown(Shutdown::Read)?;
        }
        if matches!(how, tcp::ShutdownType::Send | tcp::ShutdownType::Both) {
            connection.writer.shut()?;
        }
        Ok(())
    }

    fn drop(&mut self, this: Resource<TcpSocket>) -> Result<()> {
        self.table.delete(this)?;
        Ok(())
    }
}
