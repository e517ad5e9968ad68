//! Wrapped UDP sockets.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use super::meter::Role;
use super::probe::{Life, Probe};
use super::tape::Tape;
use crate::backend::{Interface, OptionKind, Options, Pending, SocketOption, UdpSocket};
use crate::error::Result;

pub struct Datagrams {
    inner: Arc<dyn UdpSocket>,
    probe: Probe,
    _life: Life,
}

impl Datagrams {
    pub fn new(inner: Arc<dyn UdpSocket>, tape: &Arc<Tape>) -> Self {
        let probe = Probe::new(tape, Role::Datagram);
        let life = Life::of(&probe);
        Self { inner, probe, _life: life }
    }
}

impl Options for Datagrams {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        self.probe.wait("get-option", || self.inner.option(kind), || kind.to_string())
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        self.probe.wait("set-option", || self.inner.set_option(option), || option.to_string())
    }
}

impl UdpSocket for Datagrams {
    fn bind(&self, local: SocketAddr) -> Pending<SocketAddr> {
        let probe = self.probe.clone();
        let inner = probe.wait("bind", || self.inner.bind(local), || local.to_string());
        Box::pin(async move {
            let bound = inner.await?;
            probe.meter.lock().local = Some(bound);
            Ok(bound)
        })
    }

    fn connect(&self, remote: Option<SocketAddr>) -> Pending<()> {
        let probe = self.probe.clone();
        let inner = probe.wait(
            "connect",
            || self.inner.connect(remote),
            || remote.map_or_else(|| "nobody".to_owned(), |remote| remote.to_string()),
        );
        Box::pin(async move {
            inner.await?;
            probe.meter.lock().remote = remote;
            Ok(())
        })
    }

    fn try_send(&self, data: &[u8], remote: Option<SocketAddr>) -> Result<()> {
        let start = self.probe.start();
        let result = self.inner.try_send(data, remote);
        let sent = result.clone().map(|()| data.len());
        self.probe.sent(&sent);
        self.probe.call("send", start, sent.as_ref().ok().copied(), &result, || {
            remote.map(|remote| remote.to_string()).unwrap_or_default()
        });
        result
    }

    fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_send_ready(cx)
    }

    fn try_receive(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)> {
        let start = self.probe.start();
        let result = self.inner.try_receive(buffer);
        let received = result.as_ref().map(|(n, _)| *n).map_err(Clone::clone);
        self.probe.received(&received);
        self.probe.call("receive", start, received.ok(), &result, || {
            result.as_ref().map(|(_, sender)| sender.to_string()).unwrap_or_default()
        });
        result
    }

    fn poll_receive_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_receive_ready(cx)
    }

    fn join(&self, group: IpAddr, interface: Interface) -> Pending<()> {
        let detail = format!("{group} on {interface}");
        self.probe.wait("join", || self.inner.join(group, interface), || detail)
    }

    fn leave(&self, group: IpAddr, interface: Interface) -> Pending<()> {
        let detail = format!("{group} on {interface}");
        self.probe.wait("leave", || self.inner.leave(group, interface), || detail)
    }

    fn set_multicast_interface(&self, interface: Interface) -> Pending<()> {
        let detail = interface.to_string();
        self.probe.wait("set-multicast-interface", || self.inner.set_multicast_interface(interface), || detail)
    }

    fn queued(&self) -> Result<u64> {
        self.inner.queued()
    }

    fn local_address(&self) -> Result<SocketAddr> {
        self.inner.local_address()
    }
}
