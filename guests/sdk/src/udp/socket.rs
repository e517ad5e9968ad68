//! A UDP socket.

use std::cell::{Cell, OnceCell};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use wasip2::io::poll::Pollable;
use wasip2::sockets::network::ErrorCode;
use wasip2::sockets::udp::{self, IncomingDatagramStream, OutgoingDatagram, OutgoingDatagramStream};
use wasip2::sockets::udp_create_socket;

use crate::address::{Family, from_wasi, to_wasi, with_network};
use crate::error::refused;
use crate::poll::{Interest, attempt};
use crate::tcp::not_zero;

/// A UDP socket, bound to a local address; with a peer after [`Self::connect`].
#[derive(Debug)]
pub struct UdpSocket {
    // Dropped in this order: the streams before their socket.
    channel: Channel,
    pub(super) raw: udp::UdpSocket,
    read_timeout: Cell<Option<Duration>>,
    write_timeout: Cell<Option<Duration>>,
}

/// The streams of one association.
#[derive(Debug)]
struct Channel {
    // Dropped in this order: pollables before their stream.
    readable: OnceCell<Pollable>,
    writable: OnceCell<Pollable>,
    /// Gone only when a failed connect could not be undone.
    streams: Option<(IncomingDatagramStream, OutgoingDatagramStream)>,
}

impl UdpSocket {
    /// Binds to a local address; port 0 is any free one.
    ///
    /// # Errors
    /// `address-in-use`, `address-not-bindable`, `access-denied` when the policy has no rule for it.
    pub fn bind(local: SocketAddr) -> io::Result<Self> {
        let refuse = |code| refused(code, || format!("bind to {local}"));
        let raw = udp_create_socket::create_udp_socket(Family::of(local).to_wasi())
            .map_err(|code| refused(code, || "open a UDP socket".to_owned()))?;
        with_network(|network| raw.start_bind(network, to_wasi(local))).map_err(refuse)?;
        while let Err(code) = raw.finish_bind() {
            if code != ErrorCode::WouldBlock {
                return Err(refuse(code));
            }
            raw.subscribe().block();
        }
        let channel = Channel::open(&raw, None).map_err(refuse)?;
        Ok(Self { channel, raw, read_timeout: Cell::new(None), write_timeout: Cell::new(None) })
    }

    /// Restricts the socket to one peer: [`Self::send`] goes there, and only its datagrams are received.
    ///
    /// # Errors
    /// After one the socket has no peer.
    pub fn connect(&mut self, remote: SocketAddr) -> io::Result<()> {
        // Streams of the association before must be gone first.
        self.channel = Channel::default();
        match Channel::open(&self.raw, Some(remote)) {
            Ok(channel) => {
                self.channel = channel;
                Ok(())
            }
            Err(code) => {
                self.channel = Channel::open(&self.raw, None).unwrap_or_default();
                Err(refused(code, || format!("connect to {remote}")))
            }
        }
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.raw.local_address().map(from_wasi).map_err(|code| refused(code, || "local address".to_owned()))
    }

    /// The peer; `invalid-state` when there is none.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.raw.remote_address().map(from_wasi).map_err(|code| refused(code, || "peer address".to_owned()))
    }

    /// How long a receive may wait; `None`, as it starts, is for ever. Zero is [`ErrorKind::InvalidInput`]: use
    /// [`Self::try_recv_from`].
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.read_timeout.set(not_zero(timeout)?);
        Ok(())
    }

    /// How long a send may wait, in the same way.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.write_timeout.set(not_zero(timeout)?);
        Ok(())
    }

    /// Receives one datagram and says its size and sender. What does not fit into the buffer is lost.
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let asked = || "receive a datagram".to_owned();
        attempt(self.readable()?, self.read_timeout.get(), asked, || self.try_recv_from(buffer))
    }

    /// Receives one datagram from the peer, or from anyone when there is none, and says its size.
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.recv_from(buffer).map(|(size, _)| size)
    }

    /// Receives one datagram if there is one; [`ErrorKind::WouldBlock`] otherwise.
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let refuse = |code| refused(code, || "receive a datagram".to_owned());
        let (incoming, _) = self.channel.streams().map_err(refuse)?;
        let Some(datagram) = incoming.receive(1).map_err(refuse)?.pop() else {
            return Err(ErrorKind::WouldBlock.into());
        };
        let size = datagram.data.len().min(buffer.len());
        buffer[..size].copy_from_slice(&datagram.data[..size]);
        Ok((size, from_wasi(datagram.remote_address)))
    }

    /// Sends one datagram, whole.
    ///
    /// # Errors
    /// `datagram-too-large`, `remote-unreachable`, `connection-refused` (an earlier datagram to the peer was), or
    /// `access-denied` when the policy has no rule for the address.
    pub fn send_to(&self, data: &[u8], remote: SocketAddr) -> io::Result<()> {
        let asked = || format!("send to {remote}");
        attempt(self.writable()?, self.write_timeout.get(), asked, || self.try_send_to(data, remote))
    }

    /// Sends one datagram to the peer.
    pub fn send(&self, data: &[u8]) -> io::Result<()> {
        let asked = || "send to the peer".to_owned();
        attempt(self.writable()?, self.write_timeout.get(), asked, || self.try_send(data))
    }

    /// Sends one datagram if there is room for it; [`ErrorKind::WouldBlock`] otherwise.
    pub fn try_send_to(&self, data: &[u8], remote: SocketAddr) -> io::Result<()> {
        self.send_one(data, Some(remote), || format!("send to {remote}"))
    }

    /// Sends one datagram to the peer if there is room for it; [`ErrorKind::WouldBlock`] otherwise.
    pub fn try_send(&self, data: &[u8]) -> io::Result<()> {
        self.send_one(data, None, || "send to the peer".to_owned())
    }

    /// Ready when [`Self::try_recv_from`] would not block.
    pub fn readable(&self) -> io::Result<Interest<'_>> {
        self.channel.readable().map(Interest).map_err(|code| refused(code, || "wait for a datagram".to_owned()))
    }

    /// Ready when [`Self::try_send_to`] would not block.
    pub fn writable(&self) -> io::Result<Interest<'_>> {
        self.channel.writable().map(Interest).map_err(|code| refused(code, || "wait to send".to_owned()))
    }

    fn send_one(&self, data: &[u8], remote: Option<SocketAddr>, asked: impl Fn() -> String) -> io::Result<()> {
        let refuse = |code| refused(code, &asked);
        let (_, outgoing) = self.channel.streams().map_err(refuse)?;
        // A permit is for the next send only, so nothing is kept of it.
        if outgoing.check_send().map_err(refuse)? == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let datagram = OutgoingDatagram { data: data.to_vec(), remote_address: remote.map(to_wasi) };
        match outgoing.send(&[datagram]).map_err(refuse)? {
            0 => Err(ErrorKind::WouldBlock.into()),
            _ => Ok(()),
        }
    }
}

impl Channel {
    fn open(raw: &udp::UdpSocket, remote: Option<SocketAddr>) -> Result<Self, ErrorCode> {
        let streams = raw.stream(remote.map(to_wasi))?;
        Ok(Self { streams: Some(streams), ..Self::default() })
    }

    fn streams(&self) -> Result<&(IncomingDatagramStream, OutgoingDatagramStream), ErrorCode> {
        self.streams.as_ref().ok_or(ErrorCode::InvalidState)
    }

    fn readable(&self) -> Result<&Pollable, ErrorCode> {
        let (incoming, _) = self.streams()?;
        Ok(self.readable.get_or_init(|| incoming.subscribe()))
    }

    fn writable(&self) -> Result<&Pollable, ErrorCode> {
        let (_, outgoing) = self.streams()?;
        Ok(self.writable.get_or_init(|| outgoing.subscribe()))
    }
}

impl Default for Channel {
    fn default() -> Self {
        Self { readable: OnceCell::new(), writable: OnceCell::new(), streams: None }
    }
}
