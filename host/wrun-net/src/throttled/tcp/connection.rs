//! A connection, as long as anything of it goes on: its two directions, and the connection inside.

use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll};

use tokio::time::Instant;

use super::down::Down;
use super::settings::Settings;
use super::up::Up;
use crate::backend::{SocketOption, TcpStream};
use crate::error::{Error, Result};
use crate::sync::lock;
use crate::throttled::core::{Ground, Member};
use crate::throttled::course::Course;
use crate::throttled::talk::Talk;
use crate::throttled::wakes::Wakes;

pub struct Connection {
    pub ground: Ground,
    pub number: u64,
    pub inner: Arc<dyn TcpStream>,
    pub settings: Settings,
    pub talk: Talk,
    pub up: Mutex<Up>,
    pub down: Mutex<Down>,
    /// The number of the terms under which the direction is left alone, with nothing of it in hand.
    up_direct: AtomicU64,
    down_direct: AtomicU64,
    closed: AtomicBool,
}

impl Connection {
    /// The courses are those that the handshake has used.
    pub fn new(
        ground: Ground,
        number: u64,
        inner: Arc<dyn TcpStream>,
        settings: Settings,
        up: Option<Course>,
        down: Option<Course>,
    ) -> Arc<Self> {
        let remote = inner.peer_address().ok();
        let connection = Arc::new_cyclic(|this: &Weak<Self>| {
            ground.core.enter(number, this.clone());
            Self {
                up: Mutex::new(Up::new(&ground, remote, up)),
                down: Mutex::new(Down::new(&ground, remote, down)),
                ground,
                number,
                inner,
                settings,
                talk: Talk::default(),
                up_direct: AtomicU64::new(0),
                down_direct: AtomicU64::new(0),
                closed: AtomicBool::new(false),
            }
        });
        // What comes counts from when it arrives, not from when the guest asks for it.
        connection.watch();
        connection
    }

    /// Starts to read, if what is received is changed.
    fn watch(self: &Arc<Self>) {
        let mut down = lock(&self.down);
        down.renew(&self.ground, self.number);
        if down.is_piped() {
            self.pump_down(&mut down);
        }
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Marks it closed, and says whether it was not before.
    pub fn close(&self) -> bool {
        let was_open = !self.closed.swap(true, Ordering::AcqRel);
        self.up_direct.store(0, Ordering::Release);
        self.down_direct.store(0, Ordering::Release);
        was_open
    }

    pub fn open(&self) -> Result<()> {
        if self.is_closed() { Err(Error::InvalidState) } else { Ok(()) }
    }

    pub fn read(self: &Arc<Self>, buffer: &mut [u8]) -> Result<usize> {
        if self.down_direct.load(Ordering::Relaxed) == self.ground.core.current() {
            return self.read_inside(buffer);
        }
        let mut wakes = Wakes::default();
        let mut down = lock(&self.down);
        self.open()?;
        let number = down.renew(&self.ground, self.number);
        let limit = down.limit().min(buffer.len());
        if !down.is_piped() {
            if down.limit() == usize::MAX {
                self.down_direct.store(number, Ordering::Relaxed);
            }
            drop(down);
            return self.read_inside(&mut buffer[..limit]);
        }
        self.pump_down(&mut down);
        let landed = down.land(Instant::now());
        let result = down.read(&mut buffer[..limit], &mut wakes);
        drop(down);
        if landed {
            self.heard();
        }
        result
    }

    /// Reads what no rule changes.
    fn read_inside(self: &Arc<Self>, buffer: &mut [u8]) -> Result<usize> {
        let count = self.inner.try_read(buffer)?;
        self.talk.received();
        if self.up_direct.load(Ordering::Relaxed) == 0 {
            self.heard();
        }
        Ok(count)
    }

    pub fn poll_readable(self: &Arc<Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut down = lock(&self.down);
        if self.is_closed() {
            return Poll::Ready(());
        }
        down.renew(&self.ground, self.number);
        if !down.is_piped() {
            drop(down);
            if self.inner.poll_read_ready(cx).is_ready() {
                return Poll::Ready(());
            }
            // New terms wake whoever waits inside.
            let _replaced = lock(&self.down).reader.keep(cx);
            return Poll::Pending;
        }
        self.pump_down(&mut down);
        let landed = down.land(Instant::now());
        let (ready, replaced) =
            if down.is_readable() { (Poll::Ready(()), None) } else { (Poll::Pending, down.reader.keep(cx)) };
        drop(down);
        drop(replaced);
        if landed {
            self.heard();
        }
        ready
    }

    pub fn write(self: &Arc<Self>, data: &[u8]) -> Result<usize> {
        if self.up_direct.load(Ordering::Relaxed) == self.ground.core.current() {
            return self.write_inside(data);
        }
        let mut wakes = Wakes::default();
        let mut up = lock(&self.up);
        self.open()?;
        let number = up.renew(&self.ground, self.number);
        up.open()?;
        if !up.is_piped() {
            let restored = up.restores_no_delay();
            self.up_direct.store(number, Ordering::Relaxed);
            drop(up);
            if restored {
                self.restore_no_delay();
            }
            return self.write_inside(data);
        }
        let count = up.write(&self.ground, &self.talk, &self.settings, data);
        self.pump_up(&mut up, &mut wakes);
        let count = count?;
        self.talk.sent();
        Ok(count)
    }

    /// Writes what no rule changes.
    fn write_inside(&self, data: &[u8]) -> Result<usize> {
        let count = self.inner.try_write(data)?;
        self.talk.sent();
        Ok(count)
    }

    pub fn poll_writable(self: &Arc<Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut wakes = Wakes::default();
        let mut up = lock(&self.up);
        if self.is_closed() {
            return Poll::Ready(());
        }
        up.renew(&self.ground, self.number);
        if up.open().is_err() {
            return Poll::Ready(());
        }
        if !up.is_piped() {
            drop(up);
            if self.inner.poll_write_ready(cx).is_ready() {
                return Poll::Ready(());
            }
            let _replaced = lock(&self.up).writer.keep(cx);
            return Poll::Pending;
        }
        if up.admits(&self.ground).is_ok() {
            return Poll::Ready(());
        }
        let replaced = up.writer.keep(cx);
        self.pump_up(&mut up, &mut wakes);
        drop(up);
        drop(replaced);
        Poll::Pending
    }

    pub fn shutdown(self: &Arc<Self>, how: Shutdown) -> Result<()> {
        self.open()?;
        if how != Shutdown::Write {
            let mut wakes = Wakes::default();
            lock(&self.down).deafen(&mut wakes);
            self.inner.shutdown(Shutdown::Read)?;
        }
        if how == Shutdown::Read { Ok(()) } else { self.finish() }
    }

    /// Ends the sending behind what is in hand.
    pub fn finish(self: &Arc<Self>) -> Result<()> {
        let mut wakes = Wakes::default();
        let mut up = lock(&self.up);
        up.renew(&self.ground, self.number);
        self.up_direct.store(0, Ordering::Relaxed);
        let was_open = up.finish(&self.ground, &mut wakes);
        if up.is_piped() {
            self.pump_up(&mut up, &mut wakes);
            return Ok(());
        }
        drop(up);
        if was_open { self.inner.shutdown(Shutdown::Write) } else { Ok(()) }
    }

    /// Something has arrived from the peer, which carries an acknowledgement.
    pub fn heard(self: &Arc<Self>) {
        self.talk.received();
        let mut wakes = Wakes::default();
        let mut up = lock(&self.up);
        if up.heard(&self.ground, &self.settings) {
            self.pump_up(&mut up, &mut wakes);
        }
    }

    /// The guest has set no-delay, which lets go what is held back.
    pub fn hurry(self: &Arc<Self>) {
        let mut wakes = Wakes::default();
        let mut up = lock(&self.up);
        if up.is_piped() {
            self.pump_up(&mut up, &mut wakes);
        }
    }

    /// Starts the task that moves what is sent, or wakes it.
    fn pump_up(self: &Arc<Self>, up: &mut Up, wakes: &mut Wakes) {
        if up.starts(wakes) {
            self.ground.spawn(super::up::pump(self.clone()));
        }
    }

    /// Starts the task that moves what is received.
    fn pump_down(self: &Arc<Self>, down: &mut Down) {
        if down.starts() {
            self.ground.spawn(super::down::pump(self.clone()));
        }
    }

    /// The connection inside gets back what the guest has set.
    fn restore_no_delay(&self) {
        let restored = self.inner.set_option(SocketOption::NoDelay(self.settings.no_delay()));
        self.ground.spawn(async move {
            // One that fails now has no no-delay, or is over.
            let _ = restored.await;
        });
    }
}

impl Member for Connection {
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

impl Drop for Connection {
    fn drop(&mut self) {
        self.ground.core.leave(self.number);
    }
}
