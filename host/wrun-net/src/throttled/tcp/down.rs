//! What a guest's peer sends, on its way from the connection inside.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::connection::Connection;
use super::pipe::{Ending, Pipe};
use super::route::{News, Route};
use crate::error::{Error, Result};
use crate::sync::lock;
use crate::throttled::account::Way;
use crate::throttled::alarm::Bell;
use crate::throttled::budget::THERE;
use crate::throttled::core::Ground;
use crate::throttled::course::Course;
use crate::throttled::showing::Showing;
use crate::throttled::talk::Talk;
use crate::throttled::turns::{TURN, in_turns};
use crate::throttled::wakes::{Waiting, Wakes};

/// The most that is read from the connection inside at once: on the stack of whoever polls the task.
const CHUNK: usize = 16 << 10;

pub struct Down {
    route: Route,
    /// The rule changes something of what is received.
    shaped: bool,
    pipe: Pipe,
    /// Answers that stall.
    stalls: Vec<Showing>,
    /// The connection inside has no more.
    ended: bool,
    /// The guest was told that the connection has failed.
    failed: bool,
    /// The guest has ended its receiving.
    deaf: bool,
    /// Nobody will read any more.
    over: bool,
    pumping: bool,
    /// It has had a pump, so that what is received has been taken from the connection inside.
    piped: bool,
    pub pump: Waiting,
    pub reader: Waiting,
}

impl Down {
    pub fn new(ground: &Ground, remote: Option<SocketAddr>, course: Option<Course>) -> Self {
        Self {
            route: Route::new(Way::Down, remote, course),
            shaped: false,
            pipe: Pipe::new(ground.core.held()),
            stalls: Vec::new(),
            ended: false,
            failed: false,
            deaf: false,
            over: false,
            pumping: false,
            piped: false,
            pump: Waiting::default(),
            reader: Waiting::default(),
        }
    }

    /// Looks at the terms again if there are new ones, and answers with their number.
    pub fn renew(&mut self, ground: &Ground, number: u64) -> u64 {
        let news = self.route.renew(ground, number);
        if news != News::None {
            self.shaped = self.route.shapes(|effects| !effects.stalls.answer.is_none());
        }
        if news == News::Other {
            // Nor does what is sent anew stall any longer.
            self.stalls.clear();
            self.route.send_anew(&mut self.pipe, ground, Instant::now());
        }
        self.route.number()
    }

    /// Whether what is received goes through the pipe.
    pub fn is_piped(&self) -> bool {
        self.shaped || self.piped
    }

    /// Bytes that a single receive answers with at most.
    pub fn limit(&self) -> usize {
        self.route.terms().and_then(|terms| terms.profile.board.receive).unwrap_or(usize::MAX)
    }

    /// Something has come from the connection inside.
    fn arrive(&mut self, ground: &Ground, talk: &Talk, data: &[u8]) {
        let now = Instant::now();
        let mut stall = None;
        if talk.asked.swap(false, Ordering::Relaxed) {
            // The first of an answer.
            self.route.cut();
            stall = self.draw_stall(ground, now);
        }
        self.pipe.take_in(data);
        self.route.send(&mut self.pipe, ground, now, data.len(), stall.unwrap_or_default());
    }

    fn draw_stall(&mut self, ground: &Ground, now: Instant) -> Option<Duration> {
        let time = self.route.stall(ground.core.since(now), |stalls| &stalls.answer)?;
        let until = ground.core.after(now, time);
        self.stalls.push(Showing::new(&ground.core, |quirks| &mut quirks.answer_stalls, now, until));
        Some(time)
    }

    /// The connection inside has ended, or failed, after which there is nothing but the end.
    fn arrive_ending(&mut self, ground: &Ground, ending: Ending) {
        self.ended = true;
        self.route.end(&mut self.pipe, ground, Instant::now(), ending);
    }

    /// Bytes that can be taken from the connection inside; or when to ask again, `None` for when something has gone.
    fn room(&mut self, ground: &Ground, now: Instant) -> Result<usize, Option<Instant>> {
        if self.ended { Err(None) } else { self.route.room(&self.pipe, ground, now) }
    }

    /// Lets land what is due, and says whether anything did.
    pub fn land(&mut self, now: Instant) -> bool {
        self.stalls.retain(|stall| !stall.is_over(now));
        self.pipe.land(now)
    }

    pub fn read(&mut self, buffer: &mut [u8], wakes: &mut Wakes) -> Result<usize> {
        let was_full = self.pipe.there() >= THERE || self.pipe.room() == 0;
        let count = self.pipe.read(buffer);
        if count > 0 {
            if was_full {
                wakes.add(&mut self.pump);
            }
            return Ok(count);
        }
        match self.pipe.ending() {
            Some(Ending::Failed(error)) => {
                let error = error.clone();
                // It is told once.
                self.failed = true;
                self.pipe.set_ending(Ending::Finished);
                Err(error)
            }
            Some(Ending::Finished) => Ok(0),
            None if self.deaf => Ok(0),
            None => Err(Error::WouldBlock),
        }
    }

    pub fn is_readable(&self) -> bool {
        self.deaf || self.pipe.there() > 0 || self.pipe.ending().is_some()
    }

    /// Bytes that are there and have not been read.
    pub fn unread(&mut self) -> bool {
        self.pipe.land(Instant::now());
        self.pipe.there() > 0
    }

    /// The connection inside has failed, and the guest could know.
    pub fn has_failed(&self) -> bool {
        self.failed || matches!(self.pipe.ending(), Some(Ending::Failed(_)))
    }

    /// The guest wants to hear no more.
    pub fn deafen(&mut self, wakes: &mut Wakes) {
        self.deaf = true;
        wakes.add(&mut self.reader);
    }

    /// Nobody will read any more: the pump ends.
    pub fn give_up(&mut self, wakes: &mut Wakes) {
        self.over = true;
        self.stalls.clear();
        self.pipe.clear();
        wakes.add(&mut self.reader);
        wakes.add(&mut self.pump);
    }

    /// Whether a pump is to be started.
    pub fn starts(&mut self) -> bool {
        if self.pumping || self.ended && self.pipe.is_still() || self.over {
            return false;
        }
        self.piped = true;
        self.pumping = true;
        true
    }
}

/// Takes what is received from the connection inside, until nothing more comes or nobody will read it.
pub async fn pump(connection: Arc<Connection>) {
    let mut bell = connection.ground.bell();
    in_turns(|cx| poll(&connection, &mut bell, cx)).await;
}

fn poll(connection: &Arc<Connection>, bell: &mut Bell, cx: &mut Context<'_>) -> Poll<ControlFlow<()>> {
    let (ground, inner) = (&connection.ground, &connection.inner);
    for _ in 0..TURN {
        let Some((room, deadline)) = next(connection, cx) else { return Poll::Ready(ControlFlow::Break(())) };
        let is_ready = room > 0 && inner.poll_read_ready(cx).is_ready();
        if is_ready {
            let mut chunk = [0; CHUNK];
            let received = inner.try_read(&mut chunk[..room.min(CHUNK)]);
            let mut down = lock(&connection.down);
            match received {
                Ok(0) => down.arrive_ending(ground, Ending::Finished),
                Ok(count) => down.arrive(ground, &connection.talk, &chunk[..count]),
                Err(Error::WouldBlock) => {}
                Err(error) => down.arrive_ending(ground, Ending::Failed(error)),
            }
        } else {
            if room > 0 {
                lock(&connection.down).route.idle(ground, Instant::now());
            }
            if deadline.is_none_or(|deadline| bell.poll(deadline, cx).is_pending()) {
                return Poll::Pending;
            }
        }
    }
    Poll::Ready(ControlFlow::Continue(()))
}

/// How many bytes to take now, and when to look again. `None`: never.
fn next(connection: &Arc<Connection>, cx: &Context<'_>) -> Option<(usize, Option<Instant>)> {
    let ground = &connection.ground;
    let mut wakes = Wakes::default();
    let mut down = lock(&connection.down);
    let replaced = down.pump.keep(cx);
    down.renew(ground, connection.number);
    let now = Instant::now();
    let landed = down.land(now);
    if landed {
        wakes.add(&mut down.reader);
    }
    let is_over = down.over || down.ended && down.pipe.is_still();
    down.pumping = !is_over;
    let room = down.room(ground, now);
    let deadlines = [down.pipe.next_due().filter(|due| !ground.core.is_never(*due)), room.err().flatten()];
    drop(down);
    drop(replaced);
    if landed {
        connection.heard();
    }
    (!is_over).then(|| (room.unwrap_or(0), deadlines.into_iter().flatten().min()))
}
