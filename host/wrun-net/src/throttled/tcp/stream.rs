//! A connected TCP socket, as the guest holds it.

use std::net::{Shutdown, SocketAddr};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use super::closing;
use super::connection::Connection;
use crate::backend::{Closed, OptionKind, Options, Pending, SocketOption, TcpStream, now};
use crate::error::Result;
use crate::sync::lock;
use crate::throttled::slots::Slot;

pub struct Stream {
    connection: Arc<Connection>,
    slot: Mutex<Option<Slot>>,
}

impl Stream {
    pub fn new(connection: Arc<Connection>, slot: Slot) -> Self {
        Self { connection, slot: Mutex::new(Some(slot)) }
    }
}

impl Options for Stream {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        let Connection { ground, inner, settings, .. } = &*self.connection;
        if let Err(error) = self.connection.open() {
            return now(Err(error));
        }
        let asked = settings.option(&ground.core, &**inner, kind);
        if kind != OptionKind::NoDelay || !lock(&self.connection.up).is_hurried() {
            return asked;
        }
        let no_delay = settings.no_delay();
        Box::pin(async move { asked.await.map(|_| SocketOption::NoDelay(no_delay)) })
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        let Connection { ground, inner, settings, .. } = &*self.connection;
        if let Err(error) = self.connection.open() {
            return now(Err(error));
        }
        let SocketOption::NoDelay(on) = option else { return settings.set_option(&ground.core, &**inner, option) };
        if let Err(error) = ground.core.admits(OptionKind::NoDelay) {
            return now(Err(error));
        }
        // The connection inside keeps no-delay while the small sends are held back here.
        let inside = on || lock(&self.connection.up).is_hurried();
        let set = settings.set_no_delay(&**inner, inside, on);
        let connection = self.connection.clone();
        Box::pin(async move {
            set.await?;
            if on {
                connection.hurry();
            }
            Ok(())
        })
    }
}

impl TcpStream for Stream {
    fn try_read(&self, buffer: &mut [u8]) -> Result<usize> {
        self.connection.read(buffer)
    }

    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.connection.poll_readable(cx)
    }

    fn try_write(&self, data: &[u8]) -> Result<usize> {
        self.connection.write(data)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.connection.poll_writable(cx)
    }

    fn shutdown(&self, how: Shutdown) -> Result<()> {
        self.connection.shutdown(how)
    }

    fn close(&self) -> Pending<Closed> {
        closing::close(&self.connection, lock(&self.slot).take())
    }

    fn queued(&self) -> Result<u64> {
        self.connection.open()?;
        let in_hand = lock(&self.connection.up).in_hand() as u64;
        Ok(in_hand + self.connection.inner.queued()?)
    }

    fn local_address(&self) -> Result<SocketAddr> {
        self.connection.open()?;
        self.connection.inner.local_address()
    }

    fn peer_address(&self) -> Result<SocketAddr> {
        self.connection.open()?;
        self.connection.inner.peer_address()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        closing::abandon(&self.connection, lock(&self.slot).take());
    }
}
