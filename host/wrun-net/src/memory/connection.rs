//! What lies between two streams: bytes on their way, and how each side has ended.
//!
//! Both directions are under one lock, since most of what one side does changes what the other may. Wakers are woken
//! and dropped after it, never under it: either may run code that comes back here.

use std::collections::VecDeque;
use std::net::Shutdown;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::settings::Settings;
use crate::backend::Ending;
use crate::error::{Error, Result};
use crate::sync::lock;

/// One end of a connection.
pub struct End {
    shared: Arc<Mutex<[Side; 2]>>,
    /// Which of the two sides it is.
    index: usize,
}

/// What is known of one side.
#[derive(Default)]
struct Side {
    settings: Settings,
    /// Bytes for this side. The first of them, up to its receive buffer, have reached it; the rest still waits in the
    /// send buffer of the other.
    inbox: VecDeque<u8>,
    /// It sends no more.
    send_ended: bool,
    /// It reads no more.
    receive_ended: bool,
    /// Closed, by an explicit close or by its drop.
    closed: bool,
    /// The connection was cut.
    cut: bool,
    /// The cut has not been told yet.
    untold: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// An explicit close that waits for the other side to take what is left.
    closer: Option<Waker>,
}

/// Wakers to be woken once the lock is gone.
#[derive(Default)]
#[must_use]
struct Wakes([Option<Waker>; 6]);

impl Wakes {
    /// Everybody who waits on either side. Who has waited for something else looks, and waits again.
    fn all(us: &mut Side, peer: &mut Side) -> Self {
        let [a, b, c] = [us.reader.take(), us.writer.take(), us.closer.take()];
        Self([a, b, c, peer.reader.take(), peer.writer.take(), peer.closer.take()])
    }

    fn wake(self) {
        self.0.into_iter().flatten().for_each(Waker::wake);
    }
}

impl Side {
    fn open(&self) -> Result<()> {
        if self.closed { Err(Error::InvalidState) } else { Ok(()) }
    }

    /// The cut, if it is still to be told.
    fn tell_cut(&mut self) -> Result<()> {
        if std::mem::take(&mut self.untold) { Err(Error::ConnectionReset) } else { Ok(()) }
    }

    fn readable(&self, peer: &Side) -> bool {
        self.closed || self.cut || self.receive_ended || peer.send_ended || !self.inbox.is_empty()
    }

    fn writable(&self, peer: &Side) -> bool {
        self.closed || self.cut || self.send_ended || self.room(peer) > 0
    }

    /// How many bytes it may still write.
    fn room(&self, peer: &Side) -> usize {
        (self.settings.send_buffer + peer.settings.receive_buffer).saturating_sub(peer.inbox.len())
    }

    /// How many bytes it has written that have not reached the other side.
    fn queued(&self, peer: &Side) -> usize {
        peer.inbox.len().saturating_sub(peer.settings.receive_buffer)
    }

    /// The connection is cut from the other side: what had arrived can still be read.
    fn cut_from_afar(&mut self) {
        self.inbox.truncate(self.settings.receive_buffer);
        self.cut = true;
        self.untold = !self.closed;
    }
}

/// Where an explicit close stands after its first step.
pub enum Closing {
    Over(Ending),
    /// It is to wait for this long.
    Lingering(Duration),
}

impl End {
    /// The two ends of a new connection.
    pub fn pair(connecting: Settings, accepting: Settings) -> (Self, Self) {
        let side = |settings| Side { settings, ..Side::default() };
        let shared = Arc::new(Mutex::new([side(connecting), side(accepting)]));
        (Self { shared: shared.clone(), index: 0 }, Self { shared, index: 1 })
    }

    /// Both sides, this one first.
    fn sides<T>(&self, act: impl FnOnce(&mut Side, &mut Side) -> T) -> T {
        let mut sides: MutexGuard<'_, [Side; 2]> = lock(&self.shared);
        let [first, second] = &mut *sides;
        if self.index == 0 { act(first, second) } else { act(second, first) }
    }

    /// Reads or changes the settings.
    pub fn settings<T>(&self, act: impl FnOnce(&mut Settings) -> Result<T>) -> Result<T> {
        let (result, wakes) = self.sides(|us, peer| {
            us.open()?;
            // Another buffer size may have made room for either side, or have brought a lingering close to its end.
            Ok::<_, Error>((act(&mut us.settings), Wakes::all(us, peer)))
        })?;
        wakes.wake();
        result
    }

    pub fn open(&self) -> Result<()> {
        self.sides(|us, _| us.open())
    }

    pub fn read(&self, buffer: &mut [u8]) -> Result<usize> {
        let (count, wakes) = self.sides(|us, peer| {
            us.open()?;
            if us.inbox.is_empty() {
                if peer.send_ended {
                    return Ok((0, Wakes::default()));
                }
                us.tell_cut()?;
                let ended = us.cut || us.receive_ended;
                return if ended { Ok((0, Wakes::default())) } else { Err(Error::WouldBlock) };
            }
            let count = take(&mut us.inbox, buffer);
            let mut wakes = Wakes::default();
            wakes.0[0] = peer.writer.take();
            wakes.0[1] = peer.closer.take();
            Ok((count, wakes))
        })?;
        wakes.wake();
        Ok(count)
    }

    pub fn write(&self, data: &[u8]) -> Result<usize> {
        let (count, wakes) = self.sides(|us, peer| {
            us.open()?;
            if us.send_ended {
                return Err(Error::InvalidState);
            }
            if us.cut {
                us.untold = false;
                return Err(Error::ConnectionReset);
            }
            if peer.closed {
                // It is sent, and answered with a reset, which the next call meets, as does a close that lingers there.
                peer.cut = true;
                us.cut_from_afar();
                return Ok((data.len(), Wakes::all(us, peer)));
            }
            let count = us.room(peer).min(data.len());
            if count == 0 && !data.is_empty() {
                return Err(Error::WouldBlock);
            }
            peer.inbox.extend(&data[..count]);
            let mut wakes = Wakes::default();
            wakes.0[0] = peer.reader.take();
            Ok((count, wakes))
        })?;
        wakes.wake();
        Ok(count)
    }

    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        let (ready, _replaced) = self.sides(|us, peer| {
            if us.readable(peer) {
                (Poll::Ready(()), None)
            } else {
                (Poll::Pending, us.reader.replace(cx.waker().clone()))
            }
        });
        ready
    }

    pub fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<()> {
        let (ready, _replaced) = self.sides(|us, peer| {
            if us.writable(peer) {
                (Poll::Ready(()), None)
            } else {
                (Poll::Pending, us.writer.replace(cx.waker().clone()))
            }
        });
        ready
    }

    pub fn shutdown(&self, how: Shutdown) -> Result<()> {
        let wakes = self.sides(|us, peer| {
            us.open()?;
            us.receive_ended |= how != Shutdown::Write;
            us.send_ended |= how != Shutdown::Read;
            Ok::<_, Error>(Wakes::all(us, peer))
        })?;
        wakes.wake();
        Ok(())
    }

    /// Bytes written that have not reached the other side.
    pub fn queued(&self) -> Result<u64> {
        self.sides(|us, peer| {
            us.open()?;
            Ok(us.queued(peer) as u64)
        })
    }

    /// The first step of an explicit close, with the bytes that were still queued before it.
    pub fn close(&self) -> Result<(Closing, u64)> {
        let (closing, unsent, wakes) = self.sides(|us, peer| {
            us.open()?;
            let unsent = us.queued(peer) as u64;
            Ok::<_, Error>((end(us, peer), unsent, Wakes::all(us, peer)))
        })?;
        wakes.wake();
        Ok((closing, unsent))
    }

    /// How a lingering close has ended, once it has.
    pub fn poll_lingered(&self, cx: &mut Context<'_>) -> Poll<Ending> {
        let (ending, _replaced) = self.sides(|us, peer| {
            if us.cut {
                return (Poll::Ready(Ending::Reset), None);
            }
            if us.queued(peer) == 0 {
                return (Poll::Ready(Ending::Acknowledged), None);
            }
            (Poll::Pending, us.closer.replace(cx.waker().clone()))
        });
        ending
    }

    /// Cuts the connection, whatever its settings say.
    pub fn cut(&self) {
        let wakes = self.sides(|us, peer| {
            us.closed = true;
            cut(us, peer);
            Wakes::all(us, peer)
        });
        wakes.wake();
    }
}

impl Drop for End {
    fn drop(&mut self) {
        // Closed before is no news.
        let _ = self.close();
    }
}

/// Ends a connection as a close does.
fn end(us: &mut Side, peer: &mut Side) -> Closing {
    us.closed = true;
    if us.cut {
        return Closing::Over(Ending::Reset);
    }
    if us.settings.linger.is_some_and(|time| time.is_zero()) || !us.inbox.is_empty() {
        cut(us, peer);
        return Closing::Over(Ending::Reset);
    }
    us.send_ended = true;
    match us.settings.linger {
        None => Closing::Over(Ending::Background),
        Some(_) if us.queued(peer) == 0 => Closing::Over(Ending::Acknowledged),
        Some(time) => Closing::Lingering(time),
    }
}

fn cut(us: &mut Side, peer: &mut Side) {
    us.cut = true;
    us.inbox = VecDeque::new();
    peer.cut_from_afar();
}

/// Moves bytes out of a queue, at most as many as fit.
fn take(queue: &mut VecDeque<u8>, buffer: &mut [u8]) -> usize {
    let count = queue.len().min(buffer.len());
    let (front, back) = queue.as_slices();
    let first = front.len().min(count);
    buffer[..first].copy_from_slice(&front[..first]);
    buffer[first..count].copy_from_slice(&back[..count - first]);
    queue.drain(..count);
    count
}
