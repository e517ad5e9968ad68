//! The two streams of datagrams of a UDP socket.

use std::net::SocketAddr;
use std::sync::Arc;

use wasmtime::Result;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wrun_net::{Error, Family};

use super::askers::Askers;
use crate::policy::Policy;
use crate::wasi::address::{fits_family, is_remote};
use crate::wasi::bindings::wasi::sockets::network::ErrorCode;
use crate::wasi::bindings::wasi::sockets::udp;
use crate::wasi::error::SocketError;
use crate::wasi::turn::ready_now;
use crate::wasi::{View, scratch};

/// The most datagrams that one call moves.
const MAX_DATAGRAMS: usize = 16;

/// The most datagrams that one call looks at to find those.
const MAX_LOOKED_AT: usize = 256;

/// Bytes in the largest datagram.
const MAX_DATAGRAM: usize = 65_535;

/// The receiving stream.
pub struct Incoming {
    pub(super) socket: Arc<dyn wrun_net::UdpSocket>,
    pub(super) policy: Policy,
    pub(super) asked: SocketAddr,
    pub(super) server: Option<Arc<Askers>>,
    pub(super) remote: Option<SocketAddr>,
    /// An error that came after some datagrams of one call: the next call tells of it.
    pub(super) error: Option<Error>,
}

/// The sending stream.
pub struct Outgoing {
    pub(super) socket: Arc<dyn wrun_net::UdpSocket>,
    pub(super) family: Family,
    pub(super) server: Option<Arc<Askers>>,
    pub(super) remote: Option<SocketAddr>,
    /// Datagrams that the last `check-send` granted and nobody has sent.
    pub(super) permit: usize,
    /// The address that was allowed last: a sender mostly stays with one.
    pub(super) allowed: Option<SocketAddr>,
    /// An error that came after some datagrams of one call: the next call tells of it.
    pub(super) error: Option<SocketError>,
}

impl udp::HostIncomingDatagramStream for View<'_> {
    fn receive(&mut self, this: Resource<Incoming>, max: u64) -> Result<Vec<udp::IncomingDatagram>, SocketError> {
        let this = self.table.get_mut(&this)?;
        let max = usize::try_from(max).unwrap_or(usize::MAX).min(MAX_DATAGRAMS);
        if let Some(error) = this.error.take() {
            return Err(error.into());
        }
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
                Err(error) if !received.is_empty() => {
                    this.error = Some(error);
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            match &this.server {
                Some(askers) => askers.add(sender),
                // A client hears only whom it may talk to, as behind a firewall.
                None if this.remote.is_none() && !this.policy.allows_udp(sender) => {
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
        // An error that is still to be told has left nothing on the socket to wait for.
        if self.error.is_none() {
            std::future::poll_fn(|cx| self.socket.poll_receive_ready(cx)).await;
        }
    }
}

impl udp::HostOutgoingDatagramStream for View<'_> {
    async fn check_send(&mut self, this: Resource<Outgoing>) -> Result<u64, SocketError> {
        let this = self.table.get_mut(&this)?;
        let ready = ready_now(|cx| this.socket.poll_send_ready(cx)).await;
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
        if let Some(error) = this.error.take() {
            return Err(error);
        }
        let mut sent = 0;
        for datagram in datagrams {
            match this.send(&self.sockets.policy, &datagram.data, datagram.remote_address.map(SocketAddr::from)) {
                Ok(()) => sent += 1,
                Err(SocketError::Code(ErrorCode::WouldBlock)) => break,
                Err(error @ SocketError::Code(_)) if sent > 0 => {
                    this.error = Some(error);
                    break;
                }
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
    use wrun_net::Backend;
    use wrun_net::memory::Memory;

    use super::*;

    #[tokio::test]
    async fn an_error_that_is_still_to_be_told_wakes_whoever_waits() {
        let mut incoming = Incoming {
            socket: Memory::new().udp(Family::V4).unwrap(),
            policy: Policy::new(Vec::new(), |_| {}),
            asked: SocketAddr::from(([127, 0, 0, 1], 0)),
            server: None,
            remote: None,
            error: Some(Error::ConnectionRefused),
        };
        incoming.socket.bind(incoming.asked).await.unwrap();
        let ready = |incoming: &mut Incoming| {
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            let waiting = std::pin::pin!(incoming.ready());
            waiting.poll(&mut cx).is_ready()
        };
        assert!(ready(&mut incoming));
        incoming.error = None;
        assert!(!ready(&mut incoming));
    }
}
