//! How a throttled connection ends, explicitly or by its drop.
//!
//! Where nothing is in hand and the board is like any other, the connection inside does what there is to do. Otherwise a
//! task sees to it, whoever waits for its answer or does not: what is in hand is passed on, the end behind it, and then
//! the connection inside is closed. A cut throws away what is in hand.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::connection::Connection;
use super::settings::linger;
use crate::backend::{Closed, Ending, OptionKind, Pending, SocketOption, TcpStream, now};
use crate::error::{Error, Result};
use crate::shape::profile::{LingerOption, WithoutLinger};
use crate::sync::lock;
use crate::throttled::showing::Showing;
use crate::throttled::slots::Slot;
use crate::throttled::turns::TURN;
use crate::throttled::wakes::Wakes;

/// Where the answer goes, if anybody wants one.
type Answer = Option<oneshot::Sender<Result<Ending>>>;

/// Closes, and says how it went.
pub fn close(connection: &Arc<Connection>, slot: Option<Slot>) -> Pending<Closed> {
    if !connection.close() {
        return now(Err(Error::InvalidState));
    }
    let Some(begun) = begin(connection) else { return connection.inner.close() };
    let queued = connection.inner.queued().ok();
    let unsent = queued.map(|queued| queued + begun.in_hand as u64);
    let (answer, answered) = oneshot::channel();
    let slot = slot.filter(|_| stalls(connection));
    connection.ground.spawn(run(connection.clone(), begun, slot, Some(answer)));
    Box::pin(async move {
        // A task that is gone without an answer was ended with its runtime.
        let ending = answered.await.unwrap_or(Ok(Ending::Background))?;
        Ok(Closed { ending, unsent })
    })
}

/// Closes, because the guest has dropped it.
pub fn abandon(connection: &Arc<Connection>, slot: Option<Slot>) {
    if !connection.close() {
        return;
    }
    if let Some(begun) = begin(connection) {
        let slot = slot.filter(|_| stalls(connection));
        connection.ground.spawn(run(connection.clone(), begun, slot, None));
    }
}

/// Cuts a connection that the guest never had, or cannot have.
pub fn refuse(connection: &Arc<Connection>) {
    if !connection.close() {
        return;
    }
    begin(connection);
    let cutting = connection.clone();
    connection.ground.spawn(async move {
        // One that is over already needs no cutting.
        let _ = cut(&cutting).await;
    });
}

/// Whether the board has a closed socket still take a place, because its close stalls.
fn stalls(connection: &Connection) -> bool {
    matches!(connection.ground.core.terms().profile.board.linger.without, WithoutLinger::Stall(_))
}

/// What a close has found.
struct Begun {
    /// When.
    start: Instant,
    /// The guest has left bytes unread.
    unread: bool,
    /// The guest could know that the connection has failed.
    failed: bool,
    /// Bytes that have not been handed to the connection inside.
    in_hand: usize,
}

/// The first step of any close. `None` where the connection inside is to do the rest.
fn begin(connection: &Arc<Connection>) -> Option<Begun> {
    let mut wakes = Wakes::default();
    let mut more = Wakes::default();
    let (unread, failed) = {
        let mut down = lock(&connection.down);
        let left = (down.unread(), down.has_failed());
        down.give_up(&mut wakes);
        left
    };
    let mut up = lock(&connection.up);
    up.renew(&connection.ground, connection.number);
    more.add(&mut up.writer);
    more.add(&mut up.pump);
    let board = &connection.ground.core.terms().profile.board.linger;
    let is_plain = *board == Default::default() && !unread && !up.is_piped();
    let in_hand = up.in_hand();
    let failed = failed || matches!(up.ended(), Some(Err(_)));
    (!is_plain).then(|| Begun { start: Instant::now(), unread, failed, in_hand })
}

async fn run(connection: Arc<Connection>, begun: Begun, slot: Option<Slot>, mut answer: Answer) {
    let core = &connection.ground.core;
    let board = core.terms().profile.board.linger.clone();
    let set = match board.option {
        LingerOption::Honoured => linger(connection.inner.option(OptionKind::Linger)).await,
        LingerOption::Ignored | LingerOption::NotSupported => None,
    };
    if begun.unread || begun.failed || set == Some(Duration::ZERO) {
        return tell(&mut answer, cut(&connection).await);
    }
    match (set, board.without) {
        (Some(time), _) => return linger_on(&connection, core.after(begun.start, time), &mut answer).await,
        (None, WithoutLinger::Reset) => {
            core.quirks.note(|quirks| quirks.closes_reset += 1);
            return tell(&mut answer, cut(&connection).await);
        }
        (None, WithoutLinger::Stall(time)) => {
            let until = core.after(begun.start, time);
            let stall = Showing::new(core, |quirks| &mut quirks.closes_stalled, begun.start, until);
            connection.ground.until(until).await;
            drop(stall);
        }
        (None, WithoutLinger::Background) => {}
    }
    // To the board it is closed now, whatever is still to be passed on.
    drop(slot);
    tell(&mut answer, Ok(Ending::Background));
    let _ = pass_on(&connection).await;
}

fn tell(answer: &mut Answer, ending: Result<Ending>) {
    if let Some(answer) = answer.take() {
        // Whoever asked may not want to know any more.
        let _ = answer.send(ending);
    }
}

/// Passes everything on and waits for the acknowledgement, of which nothing is said after the deadline.
async fn linger_on(connection: &Arc<Connection>, deadline: Instant, answer: &mut Answer) {
    let acknowledged = async {
        let ending = pass_on(connection).await;
        if ending == Ok(Ending::Acknowledged) {
            let way_back = lock(&connection.up).way_back(&connection.ground);
            let ground = &connection.ground;
            ground.until(ground.core.after(Instant::now(), way_back)).await;
        }
        ending
    };
    let mut acknowledged = std::pin::pin!(acknowledged);
    let ending = tokio::select! {
        biased;
        ending = &mut acknowledged => return tell(answer, ending),
        () = connection.ground.until(deadline) => Ok(Ending::TimedOut),
    };
    tell(answer, ending);
    // What is left goes on in the background.
    let _ = acknowledged.await;
}

/// Hands everything over to the connection inside, the end behind it, and closes that.
async fn pass_on(connection: &Arc<Connection>) -> Result<Ending> {
    connection.finish()?;
    let passed = poll_fn(|cx| {
        discard(&*connection.inner, cx);
        poll_ended(connection, cx)
    });
    if passed.await.is_err() {
        return Ok(Ending::Reset);
    }
    Ok(connection.inner.close().await?.ending)
}

/// How the sending has ended, once it has.
fn poll_ended(connection: &Connection, cx: &Context<'_>) -> Poll<Result<()>> {
    let mut up = lock(&connection.up);
    if let Some(ended) = up.ended() {
        return Poll::Ready(ended);
    }
    let replaced = up.closer.keep(cx);
    drop(up);
    drop(replaced);
    Poll::Pending
}

/// Reads what nobody wants: left unread, it would make a reset of the end, and the peer might lose what is on its way.
fn discard(inner: &dyn TcpStream, cx: &mut Context<'_>) {
    let mut chunk = [0; 4096];
    for _ in 0..TURN {
        if inner.poll_read_ready(cx).is_pending() {
            return;
        }
        match inner.try_read(&mut chunk) {
            Ok(1..) | Err(Error::WouldBlock) => {}
            Ok(0) | Err(_) => return,
        }
    }
    // There may be more, after the others' turn.
    cx.waker().wake_by_ref();
}

/// Cuts the connection: what is in hand is gone, and the peer gets a reset, where the stack inside can send one.
async fn cut(connection: &Arc<Connection>) -> Result<Ending> {
    {
        let mut wakes = Wakes::default();
        lock(&connection.up).cut(&mut wakes);
    }
    let _ = connection.inner.set_option(SocketOption::Linger(Some(Duration::ZERO))).await;
    connection.inner.close().await?;
    Ok(Ending::Reset)
}
