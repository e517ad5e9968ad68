//! How a TCP connection ends: observed by an explicit close, or unobserved when it is dropped.
//!
//! `close(2)` tells nobody how it went: after a wait it returns the same whether the peer acknowledged, cut the
//! connection or stayed silent. So an explicit close does what `close(2)` would, by calls that leave the socket open to
//! be looked at, and the descriptor goes when the guest drops it:
//!
//! | the kernel's close | here |
//! | --- | --- |
//! | linger time zero, or data left unread: reset | dissolve the connection, which sends the same reset |
//! | no linger time: the end of the stream is sent behind what is queued | shut both directions down |
//! | a linger time: the same, then wait | the same, then watch the queue empty, the end of the stream included |

use std::future::poll_fn;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::{Errno, ioctl_fionread};
use rustix::net::{Shutdown, connect_unspec, shutdown, sockopt};
use tokio::net::TcpStream as TokioStream;

use super::edges::Edges;
use super::queue::queued;
use crate::backend::{Closed, Ending, Pending, now};
use crate::error::Result;

/// Closes now. `cut` says that an error was seen to have ended the connection already.
pub fn close(socket: &TokioStream, cut: bool) -> Pending<Closed> {
    match begin(socket.as_fd(), cut) {
        Ok(Begun::Over(closed)) => now(Ok(closed)),
        Ok(Begun::Lingering { socket, edges, linger, unsent }) => Box::pin(async move {
            let settled = poll_fn(|cx| edges.poll(cx, || Ok(ending(socket.as_fd())?)));
            let ending = match tokio::time::timeout(linger, settled).await {
                Ok(ending) => ending?,
                // What is still queued goes on in the background, as after a `close(2)` whose time has passed.
                Err(_) => Ending::TimedOut,
            };
            Ok(Closed { ending, unsent })
        }),
        Err(error) => now(Err(error)),
    }
}

enum Begun {
    Over(Closed),
    Lingering { socket: OwnedFd, edges: Edges, linger: Duration, unsent: Option<u64> },
}

fn begin(socket: BorrowedFd<'_>, cut: bool) -> Result<Begun> {
    let unsent = queued(socket).ok();
    let over = |ending| Ok(Begun::Over(Closed { ending, unsent }));
    let linger = sockopt::socket_linger(socket)?;
    // From here on the waiting is done here, and the close of the descriptor must not do it again.
    sockopt::set_socket_linger(socket, None)?;
    if cut || sockopt::socket_error(socket)?.is_err() {
        return over(Ending::Reset);
    }
    if linger == Some(Duration::ZERO) || ioctl_fionread(socket)? > 0 {
        connect_unspec(socket)?;
        return over(Ending::Reset);
    }
    match shutdown(socket, Shutdown::Both) {
        // Both sides had ended and all was acknowledged before.
        Ok(()) | Err(Errno::NOTCONN) => {}
        Err(errno) => return Err(errno.into()),
    }
    match linger {
        None => over(Ending::Background),
        Some(linger) => match ending(socket)? {
            Some(ending) => over(ending),
            None => {
                // The guest may drop its own before the wait is over.
                let socket = socket.try_clone_to_owned()?;
                Ok(Begun::Lingering { edges: Edges::of(&socket)?, socket, linger, unsent })
            }
        },
    }
}

/// How the connection has ended, once it has.
fn ending(socket: BorrowedFd<'_>) -> Result<Option<Ending>, Errno> {
    if sockopt::socket_error(socket)?.is_err() {
        return Ok(Some(Ending::Reset));
    }
    // The end of the stream counts as a byte in the queue until the peer has acknowledged it.
    Ok((queued(socket)? == 0).then_some(Ending::Acknowledged))
}

/// Before the close of a descriptor that nobody observes: takes a linger time away.
///
/// It has no effect on the connection, and would hold the thread up until all is acknowledged or the time has passed.
/// Zero stays, which cuts.
pub fn unobserved(socket: &TokioStream) {
    if matches!(sockopt::socket_linger(socket), Ok(Some(linger)) if !linger.is_zero()) {
        // The socket is open and knows the option, so this cannot fail; if it did, the close would only wait.
        let _ = sockopt::set_socket_linger(socket, None);
    }
}
