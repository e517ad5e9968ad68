//! Wrapped TCP sockets.

use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use super::meter::Role;
use super::probe::{Life, Probe};
use super::tape::Tape;
use crate::backend::{Closed, OptionKind, Options, Pending, SocketOption, TcpListener, TcpSocket, TcpStream};
use crate::error::{Error, Result};

pub struct Socket {
    inner: Box<dyn TcpSocket>,
    probe: Probe,
    life: Life,
}

impl Socket {
    pub fn new(inner: Box<dyn TcpSocket>, tape: &Arc<Tape>) -> Self {
        let probe = Probe::new(tape, Role::Unused);
        let life = Life::of(&probe);
        Self { inner, probe, life }
    }
}

impl Options for Socket {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        self.probe.wait("get-option", || self.inner.option(kind), || kind.to_string())
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        self.probe.wait("set-option", || self.inner.set_option(option), || option.to_string())
    }
}

impl TcpSocket for Socket {
    fn bind(&self, local: SocketAddr) -> Pending<SocketAddr> {
        let probe = self.probe.clone();
        let inner = probe.wait("bind", || self.inner.bind(local), || local.to_string());
        Box::pin(async move {
            let bound = inner.await?;
            probe.meter.lock().local = Some(bound);
            Ok(bound)
        })
    }

    fn connect(self: Box<Self>, remote: SocketAddr) -> Pending<Arc<dyn TcpStream>> {
        let Self { inner, probe, life } = *self;
        {
            let mut sums = probe.meter.lock();
            sums.role = Role::Client;
            sums.remote = Some(remote);
            sums.connect_start = Some(probe.tape.now());
        }
        let inner = probe.wait("connect", || inner.connect(remote), || remote.to_string());
        // The future owns the life: dropped before its end, it is a connect that was called off.
        Box::pin(async move {
            let result = inner.await;
            let mut sums = probe.meter.lock();
            sums.connect_end = Some(probe.tape.now());
            match result {
                Ok(inner) => {
                    sums.local = inner.local_address().ok();
                    drop(sums);
                    Ok(Arc::new(Stream { inner, probe, _life: life }) as Arc<dyn TcpStream>)
                }
                Err(error) => {
                    sums.failed(&error);
                    // The lock goes before the life, which takes it.
                    drop(sums);
                    drop(life);
                    Err(error)
                }
            }
        })
    }

    fn listen(self: Box<Self>, backlog: u32) -> Pending<Arc<dyn TcpListener>> {
        let Self { inner, probe, life } = *self;
        probe.meter.lock().role = Role::Listener;
        let inner = probe.wait("listen", || inner.listen(backlog), || format!("backlog {backlog}"));
        Box::pin(async move {
            let inner = inner.await?;
            probe.meter.lock().local = inner.local_address().ok();
            Ok(Arc::new(Listener { inner, probe, _life: life }) as Arc<dyn TcpListener>)
        })
    }
}

struct Listener {
    inner: Arc<dyn TcpListener>,
    probe: Probe,
    _life: Life,
}

impl Options for Listener {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        self.probe.wait("get-option", || self.inner.option(kind), || kind.to_string())
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        self.probe.wait("set-option", || self.inner.set_option(option), || option.to_string())
    }
}

impl TcpListener for Listener {
    fn try_accept(&self) -> Result<Arc<dyn TcpStream>> {
        let start = self.probe.start();
        let result = self.inner.try_accept();
        self.probe.call("accept", start, None, &result, || peer(&result));
        let inner = result.inspect_err(|error| {
            if *error == Error::WouldBlock {
                self.probe.meter.lock().receive_would_blocks += 1;
            }
        })?;
        self.probe.meter.lock().accepts += 1;
        let probe = Probe::new(&self.probe.tape, Role::Accepted);
        {
            let mut sums = probe.meter.lock();
            sums.local = inner.local_address().ok();
            sums.remote = inner.peer_address().ok();
        }
        let life = Life::of(&probe);
        Ok(Arc::new(Stream { inner, probe, _life: life }))
    }

    fn poll_accept_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_accept_ready(cx)
    }

    fn local_address(&self) -> Result<SocketAddr> {
        self.inner.local_address()
    }
}

/// Who connected, in words.
fn peer(accepted: &Result<Arc<dyn TcpStream>>) -> String {
    let address = accepted.as_ref().ok().and_then(|stream| stream.peer_address().ok());
    address.map(|address| address.to_string()).unwrap_or_default()
}

struct Stream {
    inner: Arc<dyn TcpStream>,
    probe: Probe,
    _life: Life,
}

impl Options for Stream {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        self.probe.wait("get-option", || self.inner.option(kind), || kind.to_string())
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        self.probe.wait("set-option", || self.inner.set_option(option), || option.to_string())
    }
}

impl TcpStream for Stream {
    fn try_read(&self, buffer: &mut [u8]) -> Result<usize> {
        let start = self.probe.start();
        let result = self.inner.try_read(buffer);
        if result == Ok(0) {
            self.probe.meter.lock().peer_closed();
        } else {
            self.probe.received(&result);
        }
        self.probe.call("receive", start, result.as_ref().ok().copied(), &result, String::new);
        result
    }

    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_read_ready(cx)
    }

    fn try_write(&self, data: &[u8]) -> Result<usize> {
        let start = self.probe.start();
        let result = self.inner.try_write(data);
        self.probe.sent(&result);
        self.probe.call("send", start, result.as_ref().ok().copied(), &result, String::new);
        result
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_write_ready(cx)
    }

    fn shutdown(&self, how: Shutdown) -> Result<()> {
        let start = self.probe.start();
        let result = self.inner.shutdown(how);
        self.probe.call("shutdown", start, None, &result, || format!("{how:?}").to_lowercase());
        result
    }

    fn close(&self) -> Pending<Closed> {
        let probe = self.probe.clone();
        // Always timed, whatever the log wants: how long a close took is one of the sums.
        let start = probe.tape.now();
        let mut underway = probe.begin("close", String::new);
        let inner = self.inner.close();
        Box::pin(async move {
            let result = inner.await;
            let now = probe.tape.now();
            if let Ok(closed) = &result {
                probe.meter.lock().observed(closed.ending, now - start, now);
            }
            if let Some(underway) = &mut underway {
                underway.answered_with(&result, |closed| format!("{:?}", closed.ending).to_lowercase());
            }
            result
        })
    }

    fn queued(&self) -> Result<u64> {
        self.inner.queued()
    }

    fn local_address(&self) -> Result<SocketAddr> {
        self.inner.local_address()
    }

    fn peer_address(&self) -> Result<SocketAddr> {
        self.inner.peer_address()
    }
}
