//! The task that moves what is sent into the connection inside.

use std::net::Shutdown;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::time::Instant;

use super::Stage;
use crate::backend::SocketOption;
use crate::error::Error;
use crate::sync::lock;
use crate::throttled::alarm::Bell;
use crate::throttled::tcp::connection::Connection;
use crate::throttled::turns::{TURN, in_turns};
use crate::throttled::wakes::Wakes;

/// The most that is handed to the connection inside at once.
const CHUNK: usize = 64 << 10;

/// What a pump does next.
enum Step {
    /// It is over.
    Rest,
    /// Some bytes are there.
    Write,
    /// The end is there.
    Finish,
    Wait,
}

/// Moves what is sent into the connection inside, until nothing is in hand and nobody waits.
pub async fn pump(connection: Arc<Connection>) {
    // The pieces are as they left: the stack inside is not to hold them back once more.
    let hurries = {
        let mut up = lock(&connection.up);
        up.shaped && !std::mem::replace(&mut up.hurried, true)
    };
    if hurries {
        // A stack without the option does as it does.
        let _ = connection.inner.set_option(SocketOption::NoDelay(true)).await;
    }
    let mut bell = connection.ground.bell();
    let mut chunk = Vec::new();
    in_turns(|cx| poll(&connection, &mut bell, &mut chunk, cx)).await;
}

fn poll(
    connection: &Arc<Connection>,
    bell: &mut Bell,
    chunk: &mut Vec<u8>,
    cx: &mut Context<'_>,
) -> Poll<ControlFlow<()>> {
    let inner = &connection.inner;
    for _ in 0..TURN {
        let (step, deadline) = next(connection, chunk, cx);
        let goes_on = match step {
            Step::Rest => return Poll::Ready(ControlFlow::Break(())),
            Step::Write => match inner.try_write(chunk) {
                Ok(count) => {
                    lock(&connection.up).pipe.consume(count);
                    true
                }
                Err(Error::WouldBlock) => inner.poll_write_ready(cx).is_ready(),
                Err(error) => {
                    let mut wakes = Wakes::default();
                    lock(&connection.up).fail(error, &mut wakes);
                    true
                }
            },
            Step::Finish => {
                // Where this fails the connection is over, as the next call will find.
                let _ = inner.shutdown(Shutdown::Write);
                let mut wakes = Wakes::default();
                let mut up = lock(&connection.up);
                up.stage = Stage::Finished;
                wakes.add(&mut up.closer);
                true
            }
            Step::Wait => false,
        };
        if !goes_on && deadline.is_none_or(|deadline| bell.poll(deadline, cx).is_pending()) {
            return Poll::Pending;
        }
    }
    Poll::Ready(ControlFlow::Continue(()))
}

/// What is to be done now, and when to look again whatever comes of it.
fn next(connection: &Arc<Connection>, chunk: &mut Vec<u8>, cx: &Context<'_>) -> (Step, Option<Instant>) {
    let ground = &connection.ground;
    let mut wakes = Wakes::default();
    let mut up = lock(&connection.up);
    let replaced = up.pump.keep(cx);
    up.renew(ground, connection.number);
    let now = Instant::now();
    up.let_go(ground, &connection.settings, now);
    up.pipe.land(now);
    let mut deadlines = [
        up.pipe.next_due().filter(|due| !ground.core.is_never(*due)),
        up.nagle.until().map(|until| ground.core.at(until)).filter(|until| !ground.core.is_never(*until)),
        None,
    ];
    if up.writer.is_there() {
        match up.admits(ground) {
            Ok(_) => wakes.add(&mut up.writer),
            Err(when) => deadlines[2] = when,
        }
    }
    let deadline = deadlines.into_iter().flatten().min();
    let step = if up.pipe.there() > 0 {
        let front = up.pipe.front();
        chunk.clear();
        chunk.extend_from_slice(&front[..front.len().min(CHUNK)]);
        Step::Write
    } else if up.pipe.ending().is_some() && up.stage == Stage::Finishing {
        Step::Finish
    } else if up.pipe.is_still() && !up.writer.is_there() {
        up.pumping = false;
        wakes.add(&mut up.closer);
        Step::Rest
    } else {
        Step::Wait
    };
    drop(up);
    drop(replaced);
    (step, deadline)
}
