//! A UDP socket, as the guest holds it.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll};

use super::down::Down;
use super::up::Up;
use crate::backend::{Interface, OptionKind, Options, Pending, SocketOption, UdpSocket, now};
use crate::error::Result;
use crate::sync::lock;
use crate::throttled::core::{Ground, Member};
use crate::throttled::slots::Slot;
use crate::throttled::talk::Talk;
use crate::throttled::wakes::Wakes;

pub struct Datagrams {
    inner: Arc<dyn UdpSocket>,
    shared: Arc<Shared>,
    _slot: Slot,
}

/// What goes on while the guest does not look.
pub struct Shared {
    pub ground: Ground,
    number: u64,
    pub inner: Weak<dyn UdpSocket>,
    pub talk: Talk,
    pub up: Mutex<Up>,
    pub down: Mutex<Down>,
    /// The number of the terms under which the direction is left alone.
    up_direct: AtomicU64,
    down_direct: AtomicU64,
}

impl Datagrams {
    pub fn new(inner: Arc<dyn UdpSocket>, ground: Ground, slot: Slot) -> Self {
        let number = ground.core.birth();
        let shared = Arc::new_cyclic(|this: &Weak<Shared>| {
            ground.core.enter(number, this.clone());
            Shared {
                up: Mutex::new(Up::new(&ground, number)),
                down: Mutex::new(Down::new(&ground, number)),
                ground,
                number,
                inner: Arc::downgrade(&inner),
                talk: Talk::default(),
                up_direct: AtomicU64::new(0),
                down_direct: AtomicU64::new(0),
            }
        });
        Self { inner, shared, _slot: slot }
    }

    fn is_direct(&self, direction: &AtomicU64) -> bool {
        direction.load(Ordering::Relaxed) == self.shared.ground.core.current()
    }

    fn send_inside(&self, data: &[u8], remote: Option<SocketAddr>) -> Result<()> {
        self.inner.try_send(data, remote)?;
        self.shared.talk.sent();
        Ok(())
    }
}

impl Shared {
    /// Starts to receive, if what is received is changed: it counts from when it comes.
    pub fn watch(self: &Arc<Self>) {
        let mut down = lock(&self.down);
        down.renew(&self.ground);
        if down.starts() {
            self.ground.spawn(super::down::pump(self.clone()));
        }
    }

    /// There is something to look at before the next send.
    pub fn look(&self) {
        self.up_direct.store(0, Ordering::Relaxed);
    }

    fn pump_up(self: &Arc<Self>, up: &mut Up, wakes: &mut Wakes) {
        if up.starts(wakes) {
            self.ground.spawn(super::up::pump(self.clone()));
        }
    }
}

impl Options for Datagrams {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        if let Err(error) = self.shared.ground.core.admits(kind) {
            return now(Err(error));
        }
        if kind == OptionKind::SendQueue {
            let mut up = lock(&self.shared.up);
            up.renew(&self.shared.ground);
            if let Some(depth) = up.sending.depth() {
                return now(Ok(SocketOption::SendQueue(depth)));
            }
        }
        self.inner.option(kind)
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        if let Err(error) = self.shared.ground.core.admits(option.kind()) {
            return now(Err(error));
        }
        if let SocketOption::SendQueue(depth) = option {
            let mut wakes = Wakes::default();
            let mut up = lock(&self.shared.up);
            up.renew(&self.shared.ground);
            if up.sending.set_depth(&self.shared.ground, depth) {
                // There may be a place now.
                wakes.add(&mut up.writer);
                return now(Ok(()));
            }
        }
        self.inner.set_option(option)
    }
}

impl UdpSocket for Datagrams {
    fn bind(&self, local: SocketAddr) -> Pending<SocketAddr> {
        let inner = self.inner.clone();
        let shared = self.shared.clone();
        Box::pin(async move {
            let bound = shared.ground.core.leftovers.bind(&inner, local).await?;
            shared.watch();
            Ok(bound)
        })
    }

    fn connect(&self, remote: Option<SocketAddr>) -> Pending<()> {
        let connected = self.inner.connect(remote);
        let shared = self.shared.clone();
        Box::pin(async move {
            connected.await?;
            lock(&shared.up).connected(remote);
            lock(&shared.down).connected(remote);
            shared.watch();
            Ok(())
        })
    }

    fn try_send(&self, data: &[u8], remote: Option<SocketAddr>) -> Result<()> {
        if self.is_direct(&self.shared.up_direct) {
            return self.send_inside(data, remote);
        }
        let ground = &self.shared.ground;
        let mut wakes = Wakes::default();
        let mut up = lock(&self.shared.up);
        let number = up.renew(ground);
        if !up.is_piped() {
            self.shared.up_direct.store(number, Ordering::Relaxed);
            drop(up);
            self.shared.watch();
            return self.send_inside(data, remote);
        }
        up.tell_failure()?;
        let sent = up.send(ground, &self.inner, data, remote);
        self.shared.pump_up(&mut up, &mut wakes);
        drop(up);
        self.shared.watch();
        sent?;
        self.shared.talk.sent();
        Ok(())
    }

    fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let ground = &self.shared.ground;
        let mut wakes = Wakes::default();
        let mut up = lock(&self.shared.up);
        up.renew(ground);
        if up.is_piped() && up.admits(ground).is_err() {
            let replaced = up.writer.keep(cx);
            self.shared.pump_up(&mut up, &mut wakes);
            drop(up);
            drop(replaced);
            return Poll::Pending;
        }
        drop(up);
        if self.inner.poll_send_ready(cx).is_ready() {
            return Poll::Ready(());
        }
        // New terms wake whoever waits inside.
        let _replaced = lock(&self.shared.up).writer.keep(cx);
        Poll::Pending
    }

    fn try_receive(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)> {
        if self.is_direct(&self.shared.down_direct) {
            return self.inner.try_receive(buffer);
        }
        self.shared.watch();
        let mut wakes = Wakes::default();
        let mut down = lock(&self.shared.down);
        let number = down.renew(&self.shared.ground);
        let limit = down.limit().min(buffer.len());
        if down.is_piped() {
            return down.receive(&mut buffer[..limit], &mut wakes);
        }
        if down.limit() == usize::MAX {
            self.shared.down_direct.store(number, Ordering::Relaxed);
        }
        drop(down);
        // Into all of the buffer, so that the rest of a longer one is lost wherever it comes from.
        let (count, from) = self.inner.try_receive(buffer)?;
        Ok((count.min(limit), from))
    }

    fn poll_receive_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.shared.watch();
        let mut down = lock(&self.shared.down);
        if !down.is_piped() {
            drop(down);
            if self.inner.poll_receive_ready(cx).is_ready() {
                return Poll::Ready(());
            }
            let _replaced = lock(&self.shared.down).reader.keep(cx);
            return Poll::Pending;
        }
        if down.is_readable() {
            return Poll::Ready(());
        }
        let replaced = down.reader.keep(cx);
        drop(down);
        drop(replaced);
        Poll::Pending
    }

    fn join(&self, group: IpAddr, interface: Interface) -> Pending<()> {
        self.inner.join(group, interface)
    }

    fn leave(&self, group: IpAddr, interface: Interface) -> Pending<()> {
        self.inner.leave(group, interface)
    }

    fn set_multicast_interface(&self, interface: Interface) -> Pending<()> {
        self.inner.set_multicast_interface(interface)
    }

    fn queued(&self) -> Result<u64> {
        let in_hand = {
            let mut up = lock(&self.shared.up);
            up.renew(&self.shared.ground);
            up.in_hand() + up.sending.placed(&self.shared.ground)
        };
        Ok(in_hand + self.inner.queued()?)
    }

    fn local_address(&self) -> Result<SocketAddr> {
        self.inner.local_address()
    }
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        let mut wakes = Wakes::default();
        lock(&self.shared.down).give_up(&mut wakes);
        let mut more = Wakes::default();
        lock(&self.shared.up).give_up(&self.shared.ground.core, &mut more);
    }
}

impl Member for Shared {
    fn renewed(self: Arc<Self>) {
        {
            let mut wakes = Wakes::default();
            let mut up = lock(&self.up);
            wakes.add(&mut up.writer);
            wakes.add(&mut up.pump);
        }
        {
            let mut wakes = Wakes::default();
            let mut down = lock(&self.down);
            wakes.add(&mut down.reader);
            wakes.add(&mut down.pump);
        }
        self.watch();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.ground.core.leave(self.number);
    }
}
