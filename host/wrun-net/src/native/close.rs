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

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll;
use rustix::io::{Errno, ioctl_fionread};
use rustix::net::{Shutdown, connect_unspec, shutdown, sockopt};
use rustix::time::Timespec;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::TcpStream as TokioStream;
use tokio::runtime::Handle;

use super::now;
use super::queue::queued;
use super::watched::watched;
use crate::backend::{Closed, Ending, Pending};
use crate::error::Result;

/// Closes now. `cut` says that an error was seen to have ended the connection already.
pub fn close(socket: &TokioStream, cut: bool) -> Pending<Closed> {
    match begin(socket.as_fd(), cut) {
        Ok(Begun::Over(closed)) => now(Ok(closed)),
        Ok(Begun::Lingering { watch, linger, unsent }) => Box::pin(async move {
            let ending = match tokio::time::timeout(linger, watch.settled()).await {
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
    Lingering { watch: Watch, linger: Duration, unsent: Option<u64> },
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
            None => Ok(Begun::Lingering { watch: Watch::new(socket)?, linger, unsent }),
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

/// Waits until a connection that is being closed changes.
///
/// The kernel reports the change as an edge on an event ("both directions are closed") that is on already, and tokio
/// takes such an event for final. So a small epoll of its own sits between the socket and tokio.
struct Watch {
    socket: OwnedFd,
    edges: AsyncFd<OwnedFd>,
}

impl Watch {
    fn new(socket: BorrowedFd<'_>) -> Result<Self> {
        let socket = socket.try_clone_to_owned()?;
        let edges = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = epoll::EventFlags::OUT | epoll::EventFlags::ET;
        epoll::add(&edges, &socket, epoll::EventData::new_u64(0), flags)?;
        Ok(Self { socket, edges: watched(edges, Interest::READABLE)? })
    }

    async fn settled(self) -> Result<Ending> {
        loop {
            if let Some(ending) = ending(self.socket.as_fd())? {
                return Ok(ending);
            }
            let mut ready = self.edges.readable().await?;
            // Taking the edge comes before looking again, so that one which comes after the look wakes.
            if self.take_edge()? == 0 {
                ready.clear_ready();
            }
        }
    }

    fn take_edge(&self) -> Result<usize, Errno> {
        let mut events = [const { std::mem::MaybeUninit::<epoll::Event>::uninit() }; 1];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let (taken, _) = epoll::wait(self.edges.get_ref(), &mut events, Some(&at_once))?;
        Ok(taken.len())
    }
}

/// A second descriptor of a socket that lingers, kept until the first is gone, so that the close that waits in the
/// kernel happens on a thread that may wait.
#[derive(Default)]
pub struct LastOwner(Option<OwnedFd>);

impl LastOwner {
    /// Takes a second descriptor if closing the only one would wait.
    pub fn if_lingering(socket: &TokioStream) -> Self {
        let waits = matches!(sockopt::socket_linger(socket), Ok(Some(linger)) if !linger.is_zero());
        // Without a free descriptor the close waits where it is, which is better than not lingering.
        Self(waits.then(|| socket.as_fd().try_clone_to_owned().ok()).flatten())
    }
}

impl Drop for LastOwner {
    fn drop(&mut self) {
        let Some(socket) = self.0.take() else { return };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || drop(socket))),
            // Outside a runtime nobody else is kept from running.
            Err(_) => drop(socket),
        }
    }
}
