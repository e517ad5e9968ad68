//! A UDP socket.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket as StdSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, connect_unspec, socket_with, sockopt};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::ask::ask;
use super::edges::Edges;
use super::{flag, interface, options, queue};
use crate::backend::{Family, Interface, OptionKind, Options, Pending, SocketOption, UdpSocket, now};
use crate::error::{Error, Result};
use crate::transport::{Transport, is_same_peer};
use crate::watched::watched;

pub struct Datagrams {
    /// Not tokio's socket, which does not wake a reader for an error: see [`Self::new`].
    io: Arc<AsyncFd<StdSocket>>,
    family: Family,
    /// The address that an explicit bind got.
    bound: OnceLock<SocketAddr>,
    /// Datagrams of others than the peer may be left from before the connect.
    strangers: AtomicBool,
    /// Made when it is first needed, see [`UdpSocket::poll_send_ready`] here.
    room: OnceLock<Edges>,
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
            Family::V4 => flag::set(&socket, libc::IPPROTO_IP, libc::IP_MULTICAST_ALL, false)?,
            Family::V6 => {
                sockopt::set_ipv6_v6only(&socket, true)?;
                flag::set(&socket, libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_ALL, false)?;
            }
        }
        // Makes an ICMP error wake whoever waits to receive. Linux reports it to a waiting reader as an error only,
        // which tokio passes to nobody. With this option it is reported as urgent data too, and that counts as readable.
        flag::set(&socket, libc::SOL_SOCKET, libc::SO_SELECT_ERR_QUEUE, true)?;
        let interest = Interest::READABLE | Interest::WRITABLE | Interest::PRIORITY;
        let io = watched(StdSocket::from(socket), interest)?;
        Ok(Self {
            io: Arc::new(io),
            family,
            bound: OnceLock::new(),
            strangers: AtomicBool::new(false),
            room: OnceLock::new(),
        })
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
        // Set after the connect, which is when the queue gets no more of them.
        self.strangers.store(remote.is_some(), Ordering::Relaxed);
        Ok(())
    }

    /// Receives one datagram. Linux keeps strangers out from the connect on, and what they had sent before in the queue.
    fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let socket = self.io.get_ref();
        loop {
            let received = socket.recv_from(buffer);
            if !self.strangers.load(Ordering::Relaxed) {
                return received;
            }
            match received {
                // The peer as the kernel has it, since that is whom it compares with.
                Ok((_, sender)) if socket.peer_addr().is_ok_and(|peer| !is_same_peer(peer, sender)) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // The queue is empty, so none is left.
                    self.strangers.store(false, Ordering::Relaxed);
                    return Err(error);
                }
                received => return received,
            }
        }
    }
}

/// Whether a send would not block now, if only because it would fail.
fn has_room(socket: impl AsFd) -> Result<bool, Errno> {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    Ok(poll(&mut [PollFd::new(&socket, PollFlags::OUT)], Some(&at_once))? > 0)
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
        let socket = self.io.get_ref();
        let send = || match remote {
            Some(remote) => socket.send_to(data, remote),
            None => socket.send(data),
        };
        ask(send, |send| self.io.try_io(Interest::WRITABLE, |_| send()))?;
        Ok(())
    }

    fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.io.poll_write_ready(cx)) {
            // An ICMP error counts for tokio as the end of all sending, which is ready for ever. It is not the end.
            Ok(readiness) if readiness.ready().is_write_closed() => {}
            _ => return Poll::Ready(()),
        }
        if self.room.get().is_none() {
            // Without a free descriptor to wait with, whoever waits tries again and again.
            let Ok(edges) = Edges::of(&*self.io) else { return Poll::Ready(()) };
            let _ = self.room.set(edges);
        }
        let Some(room) = self.room.get() else { return Poll::Ready(()) };
        room.poll(cx, || Ok(has_room(&*self.io)?.then_some(()))).map(drop)
    }

    fn try_receive(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)> {
        Ok(ask(|| self.receive(buffer), |receive| self.io.try_io(Interest::READABLE, |_| receive()))?)
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

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::net::Ipv4Addr;

    use rustix::net::{SendFlags, send};

    use super::*;

    #[tokio::test]
    async fn a_full_socket_is_not_ready_to_send_after_an_icmp_error() {
        let gone = StdSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let nobody = gone.local_addr().unwrap();
        let socket = Datagrams::new(Family::V4).unwrap();
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
        socket.connect(Some(nobody)).await.unwrap();
        drop(gone);
        socket.try_send(b"anybody?", None).unwrap();
        poll_fn(|cx| socket.poll_receive_ready(cx)).await;
        assert_eq!(socket.try_receive(&mut [0; 8]), Err(Error::ConnectionRefused));
        poll_fn(|cx| socket.poll_send_ready(cx)).await;

        // Loopback delivers at once, so what fills the buffer is a datagram that is held open.
        let peer = StdSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.connect(Some(peer.local_addr().unwrap())).await.unwrap();
        socket.set_option(SocketOption::SendBuffer(1)).await.unwrap();
        send(&*socket.io, &[0; 3000], SendFlags::MORE).unwrap();
        assert!(!has_room(&*socket.io).unwrap());
        let ready = poll_fn(|cx| Poll::Ready(socket.poll_send_ready(cx).is_ready())).await;
        assert!(!ready, "it is ready to send for ever");

        // Room wakes whoever waits.
        let (waited, sent) = tokio::join!(poll_fn(|cx| socket.poll_send_ready(cx)), async {
            tokio::task::yield_now().await;
            send(&*socket.io, b"", SendFlags::empty())
        });
        let () = waited;
        sent.unwrap();
    }
}
