//! `wrun:net/options`: what the standard's sockets lack, on the standard's own handles.

use std::convert::identity;
use std::net::IpAddr;
use std::time::Duration;

use wasmtime::component::Resource;
use wrun_net::backend::Options;
use wrun_net::{Ending, Family, Interface, SocketOption};

use super::bindings::wasi::sockets::network::{ErrorCode, IpAddress};
use super::bindings::wrun::net::options::{self, Closed, NetworkInterface};
use super::error::SocketError;
use super::tcp::TcpSocket;
use super::udp::UdpSocket;
use super::values::{accessors, any, positive};
use super::{View, values};

/// The longest name of a network interface that any system has.
const MAX_INTERFACE_NAME: usize = 255;

impl From<NetworkInterface> for Interface {
    fn from(interface: NetworkInterface) -> Self {
        match interface {
            NetworkInterface::Default => Self::Default,
            NetworkInterface::Name(name) => Self::Name(name),
            NetworkInterface::Address(address) => Self::Address(address.into()),
        }
    }
}

impl From<Ending> for options::Ending {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Acknowledged => Self::Acknowledged,
            Ending::Background => Self::Background,
            Ending::Reset => Self::Reset,
            Ending::TimedOut => Self::TimedOut,
        }
    }
}

/// Refuses an interface that cannot be one.
fn interface(interface: NetworkInterface) -> Result<Interface, SocketError> {
    match &interface {
        NetworkInterface::Name(name)
            if name.is_empty() || name.len() > MAX_INTERFACE_NAME || name.contains(['\0', '/']) =>
        {
            Err(ErrorCode::InvalidArgument.into())
        }
        _ => Ok(interface.into()),
    }
}

/// Refuses a group that is none, or of the other family.
fn group(socket: &UdpSocket, group: IpAddress) -> Result<IpAddr, SocketError> {
    let group = IpAddr::from(group);
    if !group.is_multicast() || Family::of(group) != socket.family {
        return Err(ErrorCode::InvalidArgument.into());
    }
    Ok(group)
}

impl options::Host for View<'_> {
    async fn linger(&mut self, socket: Resource<TcpSocket>) -> Result<Option<u64>, SocketError> {
        Ok(values::linger(self.table.get(&socket)?.options()).await?.map(values::nanoseconds))
    }

    async fn set_linger(&mut self, socket: Resource<TcpSocket>, value: Option<u64>) -> Result<(), SocketError> {
        let option = SocketOption::Linger(value.map(Duration::from_nanos));
        values::set(self.table.get(&socket)?.options(), option).await
    }

    accessors! { TcpSocket:
        no_delay, set_no_delay: bool = no_delay, NoDelay, identity, any;
    }

    async fn close(&mut self, socket: Resource<TcpSocket>) -> Result<Closed, SocketError> {
        let socket = self.table.get_mut(&socket)?;
        let (stream, writer) = (socket.stream()?.clone(), socket.writer());
        let start = self.sockets.tape.now();
        let left = match writer {
            Some(writer) if writer.is_sending() => {
                // What the guest was told is written goes out first, for as long as the close may take.
                match values::linger(Ok(&*stream as &dyn Options)).await.ok().flatten() {
                    Some(Duration::ZERO) => 0,
                    linger => writer.drain(linger.unwrap_or_default()).await,
                }
            }
            _ => 0,
        };
        let closed = stream.close().await?;
        let took = self.sockets.tape.now() - start;
        socket.abandon();
        let ending = match closed.ending {
            // The peer has acknowledged what it got, and that was not all.
            Ending::Acknowledged | Ending::Background if left > 0 => options::Ending::TimedOut,
            ending => ending.into(),
        };
        Ok(Closed {
            took: values::nanoseconds(took),
            ending,
            unsent: closed.unsent.map(|unsent| unsent.saturating_add(left)),
        })
    }

    async fn tcp_queued(&mut self, socket: Resource<TcpSocket>) -> Result<u64, SocketError> {
        Ok(self.table.get(&socket)?.stream()?.queued()?)
    }

    async fn join_group(
        &mut self,
        socket: Resource<UdpSocket>,
        address: IpAddress,
        on: NetworkInterface,
    ) -> Result<(), SocketError> {
        let socket = self.table.get(&socket)?;
        let (group, on) = (group(socket, address)?, interface(on)?);
        self.sockets.policy.check_join(group)?;
        let pending = socket.socket.join(group, on);
        Ok(pending.await?)
    }

    async fn leave_group(
        &mut self,
        socket: Resource<UdpSocket>,
        address: IpAddress,
        on: NetworkInterface,
    ) -> Result<(), SocketError> {
        let socket = self.table.get(&socket)?;
        let pending = socket.socket.leave(group(socket, address)?, interface(on)?);
        Ok(pending.await?)
    }

    async fn set_multicast_interface(
        &mut self,
        socket: Resource<UdpSocket>,
        on: NetworkInterface,
    ) -> Result<(), SocketError> {
        let pending = self.table.get(&socket)?.socket.set_multicast_interface(interface(on)?);
        Ok(pending.await?)
    }

    accessors! { UdpSocket:
        multicast_hops, set_multicast_hops: u8 = multicast_hops, MulticastHops, identity, any;
        multicast_loopback, set_multicast_loopback: bool = multicast_loopback, MulticastLoopback, identity, any;
        broadcast, set_broadcast: bool = broadcast, Broadcast, identity, any;
        send_queue, set_send_queue: u32 = send_queue, SendQueue, identity, positive;
    }

    async fn udp_queued(&mut self, socket: Resource<UdpSocket>) -> Result<u64, SocketError> {
        Ok(self.table.get(&socket)?.socket.queued()?)
    }
}
