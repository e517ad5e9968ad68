//! A UDP socket.

use std::net::{IpAddr, SocketAddr, UdpSocket as StdSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, connect_unspec, socket_with, sockopt};
use socket2::SockRef;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::options::{self, Transport};
use super::watched::watched;
use super::{interface, now, queue};
use crate::backend::{Family, Interface, OptionKind, Options, Pending, SocketOption, UdpSocket};
use crate::error::{Error, Result};

pub struct Datagrams {
    /// Not tokio's socket, which does not wake a reader for an error: see `report_errors_as_readable`.
    io: Arc<AsyncFd<StdSocket>>,
    family: Family,
    /// The address that an explicit bind got.
    bound: OnceLock<SocketAddr>,
}

impl Datagrams {
    pub fn new(family: Family) -> Result<Self> {
        let domain = match family {
            Family::V4 => AddressFamily::INET,
            Family::V6 => AddressFamily::INET6,
        };
        let socket = socket_with(domain, SocketType::DGRAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
        // A socket hears the groups it has joined. Left alone, Linux also hands it what others on the machine joined,
        // which no policy has allowed to this guest.
        match family {
            Family::V4 => SockRef::from(&socket).set_multicast_all_v4(false)?,
            Family::V6 => {
                sockopt::set_ipv6_v6only(&socket, true)?;
                SockRef::from(&socket).set_multicast_all_v6(false)?;
            }
        }
        report_errors_as_readable(&socket)?;
        let interest = Interest::READABLE | Interest::WRITABLE | Interest::PRIORITY;
        let io = watched(StdSocket::from(socket), interest)?;
        Ok(Self { io: Arc::new(io), family, bound: OnceLock::new() })
    }

    /// Forgets the peer, and keeps the port.
    fn dissolve(&self) -> Result<()> {
        connect_unspec(&*self.io)?;
        // Linux takes a port away with the peer if it was picked by the system; the guest has been told it is its own.
        if let Some(bound) = self.bound.get()
            && self.io.get_ref().local_addr()?.port() != bound.port()
        {
            bind(&*self.io, bound)?;
        }
        Ok(())
    }

    fn reconnect(&self, remote: Option<SocketAddr>) -> Result<()> {
        if self.io.get_ref().peer_addr().is_ok() {
            self.dissolve()?;
        }
        if let Some(remote) = remote {
            connect(&*self.io, &remote)?;
        }
        Ok(())
    }
}

/// Makes an ICMP error wake whoever waits to receive.
///
/// Linux reports it to a waiting reader as an error only, which tokio passes to nobody. With this option it is reported
/// as urgent data too, and that counts as readable.
fn report_errors_as_readable(socket: impl AsFd) -> Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open, and the option is read from one C int that outlives the call.
    let answer = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_SELECT_ERR_QUEUE,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().into()) }
}

impl Options for Datagrams {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        now(options::get(&*self.io, Transport::Udp, self.family, kind))
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        now(options::set(&*self.io, Transport::Udp, self.family, option))
    }
}

impl UdpSocket for Datagrams {
    fn bind(&self, local: SocketAddr) -> Pending<SocketAddr> {
        let bound = bind(&*self.io, &local).map_err(Error::from).and_then(|()| Ok(self.io.get_ref().local_addr()?));
        let bound = match bound {
            Ok(bound) => *self.bound.get_or_init(|| bound),
            Err(error) => return now(Err(error)),
        };
        let io = self.io.clone();
        Box::pin(async move {
            // Nobody knows yet that it can send: without this the first send would be put off.
            io.writable().await?.retain_ready();
            Ok(bound)
        })
    }

    fn connect(&self, remote: Option<SocketAddr>) -> Pending<()> {
        now(self.reconnect(remote))
    }

    fn try_send(&self, data: &[u8], remote: Option<SocketAddr>) -> Result<()> {
        self.io.try_io(Interest::WRITABLE, |socket| match remote {
            Some(remote) => socket.send_to(data, remote),
            None => socket.send(data),
        })?;
        Ok(())
    }

    fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.io.poll_write_ready(cx).map(drop)
    }

    fn try_receive(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)> {
        Ok(self.io.try_io(Interest::READABLE, |socket| socket.recv_from(buffer))?)
    }

    fn poll_receive_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.io.poll_read_ready(cx).map(drop)
    }

    fn join(&self, group: IpAddr, interface: Interface) -> Pending<()> {
        now(interface::join(&*self.io, group, &interface))
    }

    fn leave(&self, group: IpAddr, interface: Interface) -> Pending<()> {
        now(interface::leave(&*self.io, group, &interface))
    }

    fn set_multicast_interface(&self, interface: Interface) -> Pending<()> {
        now(interface::set_outgoing(&*self.io, self.family, &interface))
    }

    fn queued(&self) -> Result<u64> {
        Ok(queue::queued(&*self.io)?)
    }

    fn local_address(&self) -> Result<SocketAddr> {
        Ok(self.io.get_ref().local_addr()?)
    }
}
