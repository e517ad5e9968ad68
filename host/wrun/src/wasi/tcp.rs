//! `wasi:sockets/tcp`: the state machine of a TCP socket.
//!
//! A socket goes from [`State::Unbound`] or [`State::Bound`] to [`State::Connecting`] and [`State::Connected`], or to
//! [`State::Listening`]; it ends in [`State::Closed`]. `start-*` does the work or sets it going, `finish-*` fetches
//! the answer: between the two every other operation is a conflict. The ranges of
//! options are in [`super::values`].

use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use wasmtime::Result;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, Pollable, subscribe};
use wrun_net::backend::{Options, Pending};
use wrun_net::{Error, Family, SocketOption, TcpListener, TcpStream};

use super::address::{fits_family, is_remote, is_unicast};
use super::bindings::wasi::sockets::network::{ErrorCode, IpAddressFamily, IpSocketAddress};
use super::bindings::wasi::sockets::{tcp, tcp_create_socket};
use super::error::SocketError;
use super::network::Network;
use super::stream::{Reader, Writer};
use super::{Place, View, values};

/// Connections that may wait to be accepted, where the guest does not say. Rust's own.
const DEFAULT_BACKLOG: u32 = 128;

/// A guest's TCP socket.
pub struct TcpSocket {
    pub(super) family: Family,
    state: State,
    /// The operation that was started and not finished.
    started: Option<Operation>,
    backlog: u32,
    _place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Bind,
    Connect,
    Listen,
}

enum State {
    /// New. To `Bound` by `start-bind`, to `Connecting` by `start-connect`.
    Unbound(Box<dyn wrun_net::TcpSocket>),
    /// To `Connecting` by `start-connect`, to `Listening` by `start-listen`.
    Bound(Box<dyn wrun_net::TcpSocket>, Local),
    /// To `Connected` or `Closed` when the answer is there.
    Connecting(Pending<Arc<dyn TcpStream>>),
    /// To `Closed` by an explicit close.
    Connected(Connection),
    /// For good.
    Listening(Listener),
    /// A connect that failed, a listen that failed, an explicit close. Holds the answer still owed to a `finish-*`.
    Closed(Option<Error>),
}

/// Where a socket is bound.
#[derive(Clone, Copy)]
struct Local {
    asked: SocketAddr,
    address: SocketAddr,
    /// Whether the policy allowed to listen on what was asked for.
    may_listen: bool,
}

struct Connection {
    stream: Arc<dyn TcpStream>,
    reader: Reader,
    writer: Writer,
    /// Whether the guest has its streams.
    taken: bool,
}

struct Listener {
    listener: Arc<dyn TcpListener>,
    /// A connection that readiness found; the next accept takes it.
    accepted: Option<Result<Arc<dyn TcpStream>, Error>>,
}

impl Connection {
    fn new(stream: Arc<dyn TcpStream>) -> Self {
        let (reader, writer) = (Reader::new(stream.clone()), Writer::new(stream.clone()));
        Self { stream, reader, writer, taken: false }
    }
}

impl Listener {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.accepted.is_some() {
                return Poll::Ready(());
            }
            match self.listener.try_accept() {
                Err(Error::WouldBlock) => {
                    if self.listener.poll_accept_ready(cx).is_pending() {
                        return Poll::Pending;
                    }
                }
                answer => self.accepted = Some(answer),
            }
        }
    }
}

impl TcpSocket {
    /// The options of whatever the socket is now.
    pub(super) fn options(&self) -> Result<&dyn Options, SocketError> {
        match &self.state {
            State::Unbound(socket) | State::Bound(socket, _) => Ok(&**socket as &dyn Options),
            State::Connected(connection) => Ok(&*connection.stream as &dyn Options),
            State::Listening(listener) => Ok(&*listener.listener as &dyn Options),
            State::Connecting(_) | State::Closed(_) => Err(ErrorCode::InvalidState.into()),
        }
    }

    /// The connection, for what only a connection can do.
    pub(super) fn stream(&self) -> Result<&Arc<dyn TcpStream>, SocketError> {
        match &self.state {
            State::Connected(connection) => Ok(&connection.stream),
            _ => Err(ErrorCode::InvalidState.into()),
        }
    }

    /// Ends both halves, so that the guest's streams answer `closed` from now on.
    pub(super) fn abandon(&mut self) {
        if let State::Connected(connection) = &self.state {
            connection.reader.shut();
            connection.writer.abandon();
            self.state = State::Closed(None);
        }
    }

    /// The sending half of a connection.
    pub(super) fn writer(&self) -> Option<Writer> {
        match &self.state {
            State::Connected(connection) => Some(connection.writer.clone()),
            _ => None,
        }
    }

    fn idle(&self) -> Result<(), SocketError> {
        match self.started {
            Some(_) => Err(ErrorCode::ConcurrencyConflict.into()),
            None => Ok(()),
        }
    }

    fn finish(&mut self, operation: Operation) -> Result<(), SocketError> {
        if self.started != Some(operation) {
            return Err(ErrorCode::NotInProgress.into());
        }
        self.started = None;
        Ok(())
    }

    /// Moves a connect on; ready when there is nothing to wait for.
    fn poll_connect(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let State::Connecting(pending) = &mut self.state {
            let Poll::Ready(answer) = pending.as_mut().poll(cx) else { return Poll::Pending };
            self.state = match answer {
                Ok(stream) => State::Connected(Connection::new(stream)),
                Err(error) => State::Closed(Some(error)),
            };
        }
        Poll::Ready(())
    }

    fn take_streams(&mut self) -> Result<(DynInputStream, DynOutputStream), SocketError> {
        match &mut self.state {
            State::Connected(connection) if !connection.taken => {
                connection.taken = true;
                Ok((Box::new(connection.reader.clone()), Box::new(connection.writer.clone())))
            }
            State::Closed(error) => Err(error.take().unwrap_or(Error::InvalidState).into()),
            _ => Err(ErrorCode::InvalidState.into()),
        }
    }
}

impl tcp_create_socket::Host for View<'_> {
    async fn create_tcp_socket(&mut self, family: IpAddressFamily) -> Result<Resource<TcpSocket>, SocketError> {
        let place = self.sockets.limit.take()?;
        let family = family.into();
        let socket = self.sockets.backend.tcp(family)?;
        if self.sockets.no_delay {
            socket.set_option(SocketOption::NoDelay(true)).await?;
        }
        let socket =
            TcpSocket { family, state: State::Unbound(socket), started: None, backlog: DEFAULT_BACKLOG, _place: place };
        Ok(self.table.push(socket)?)
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

    fn finish_connect(
        &mut self,
        this: Resource<TcpSocket>,
    ) -> Result<(Resource<DynInputStream>, Resource<DynOutputStream>), SocketError> {
        let socket = self.table.get_mut(&this)?;
        if socket.started != Some(Operation::Connect) {
            return Err(ErrorCode::NotInProgress.into());
        }
        if socket.poll_connect(&mut Context::from_waker(Waker::noop())).is_pending() {
            return Err(ErrorCode::WouldBlock.into());
        }
        socket.started = None;
        let (input, output) = socket.take_streams()?;
        Ok((self.table.push_child(input, &this)?, self.table.push_child(output, &this)?))
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

    fn accept(
        &mut self,
        this: Resource<TcpSocket>,
    ) -> Result<(Resource<TcpSocket>, Resource<DynInputStream>, Resource<DynOutputStream>), SocketError> {
        let this = self.table.get_mut(&this)?;
        if this.started.is_some() {
            return Err(ErrorCode::InvalidState.into());
        }
        let family = this.family;
        let State::Listening(listener) = &mut this.state else { return Err(ErrorCode::InvalidState.into()) };
        if listener.poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            return Err(ErrorCode::WouldBlock.into());
        }
        // Over the limit the connection stays where it is, and can be accepted when another socket is gone.
        let place = self.sockets.limit.take()?;
        let Some(accepted) = listener.accepted.take() else { return Err(ErrorCode::WouldBlock.into()) };
        let mut socket = TcpSocket {
            family,
            state: State::Connected(Connection::new(accepted?)),
            started: None,
            backlog: DEFAULT_BACKLOG,
            _place: place,
        };
        let (input, output) = socket.take_streams()?;
        let socket = self.table.push(socket)?;
        let input = self.table.push_child(input, &socket)?;
        let output = self.table.push_child(output, &socket)?;
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

    async fn keep_alive_enabled(&mut self, this: Resource<TcpSocket>) -> Result<bool, SocketError> {
        values::keep_alive(self.table.get(&this)?.options()).await
    }

    async fn set_keep_alive_enabled(&mut self, this: Resource<TcpSocket>, value: bool) -> Result<(), SocketError> {
        let option = SocketOption::KeepAlive(value);
        values::set(self.table.get(&this)?.options(), option).await
    }

    async fn keep_alive_idle_time(&mut self, this: Resource<TcpSocket>) -> Result<u64, SocketError> {
        Ok(values::nanoseconds(values::keep_alive_idle(self.table.get(&this)?.options()).await?))
    }

    async fn set_keep_alive_idle_time(&mut self, this: Resource<TcpSocket>, value: u64) -> Result<(), SocketError> {
        let option = SocketOption::KeepAliveIdle(Duration::from_nanos(values::positive(value)?));
        values::set(self.table.get(&this)?.options(), option).await
    }

    async fn keep_alive_interval(&mut self, this: Resource<TcpSocket>) -> Result<u64, SocketError> {
        Ok(values::nanoseconds(values::keep_alive_interval(self.table.get(&this)?.options()).await?))
    }

    async fn set_keep_alive_interval(&mut self, this: Resource<TcpSocket>, value: u64) -> Result<(), SocketError> {
        let option = SocketOption::KeepAliveInterval(Duration::from_nanos(values::positive(value)?));
        values::set(self.table.get(&this)?.options(), option).await
    }

    async fn keep_alive_count(&mut self, this: Resource<TcpSocket>) -> Result<u32, SocketError> {
        values::keep_alive_count(self.table.get(&this)?.options()).await
    }

    async fn set_keep_alive_count(&mut self, this: Resource<TcpSocket>, value: u32) -> Result<(), SocketError> {
        let option = SocketOption::KeepAliveCount(values::positive(value)?);
        values::set(self.table.get(&this)?.options(), option).await
    }

    async fn hop_limit(&mut self, this: Resource<TcpSocket>) -> Result<u8, SocketError> {
        values::hop_limit(self.table.get(&this)?.options()).await
    }

    async fn set_hop_limit(&mut self, this: Resource<TcpSocket>, value: u8) -> Result<(), SocketError> {
        let option = SocketOption::HopLimit(values::positive(value)?);
        values::set(self.table.get(&this)?.options(), option).await
    }

    async fn receive_buffer_size(&mut self, this: Resource<TcpSocket>) -> Result<u64, SocketError> {
        values::receive_buffer(self.table.get(&this)?.options()).await
    }

    async fn set_receive_buffer_size(&mut self, this: Resource<TcpSocket>, value: u64) -> Result<(), SocketError> {
        let option = SocketOption::ReceiveBuffer(values::positive(value)?);
        values::set(self.table.get(&this)?.options(), option).await
    }

    async fn send_buffer_size(&mut self, this: Resource<TcpSocket>) -> Result<u64, SocketError> {
        values::send_buffer(self.table.get(&this)?.options()).await
    }

    async fn set_send_buffer_size(&mut self, this: Resource<TcpSocket>, value: u64) -> Result<(), SocketError> {
        let option = SocketOption::SendBuffer(values::positive(value)?);
        values::set(self.table.get(&this)?.options(), option).await
    }

    fn subscribe(&mut self, this: Resource<TcpSocket>) -> Result<Resource<DynPollable>> {
        subscribe(self.table, this)
    }

    fn shutdown(&mut self, this: Resource<TcpSocket>, how: tcp::ShutdownType) -> Result<(), SocketError> {
        let State::Connected(connection) = &self.table.get(&this)?.state else {
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

#[wasmtime_wasi::async_trait]
impl Pollable for TcpSocket {
    async fn ready(&mut self) {
        std::future::poll_fn(|cx| match (&mut self.state, self.started) {
            (State::Connecting(_), _) => self.poll_connect(cx),
            (State::Listening(listener), None) => listener.poll(cx),
            _ => Poll::Ready(()),
        })
        .await;
    }
}
