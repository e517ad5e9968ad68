//! Waiting for changes of a socket that tokio does not tell apart.
//!
//! tokio takes some events of a socket for final: that both directions have ended, and for UDP any ICMP error. From then
//! on it calls the socket ready, whatever is the case. The kernel still reports every further change as an edge, so a
//! small epoll of its own sits between the socket and tokio.

use std::os::fd::{AsFd, OwnedFd};
use std::task::{Context, Poll, ready};

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::error::Result;
use crate::watched::watched;

/// The edges at which a socket gets room to send, ends or fails.
pub struct Edges(AsyncFd<OwnedFd>);

impl Edges {
    /// Watches a socket from now on, for as long as it is open.
    pub fn of(socket: impl AsFd) -> Result<Self> {
        let edges = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = epoll::EventFlags::OUT | epoll::EventFlags::ET;
        epoll::add(&edges, socket, epoll::EventData::new_u64(0), flags)?;
        Ok(Self(watched(edges, Interest::READABLE)?))
    }

    /// Ready when `look` finds something; it is called again after every edge.
    pub fn poll<T>(&self, cx: &mut Context<'_>, mut look: impl FnMut() -> Result<Option<T>>) -> Poll<Result<T>> {
        loop {
            if let Some(found) = look()? {
                return Poll::Ready(Ok(found));
            }
            let mut readiness = ready!(self.0.poll_read_ready(cx))?;
            // Taking the edge comes before looking again, so that one which comes after the look wakes.
            if self.take()? == 0 {
                readiness.clear_ready();
            }
        }
    }

    fn take(&self) -> Result<usize, Errno> {
        let mut events = [const { std::mem::MaybeUninit::<epoll::Event>::uninit() }; 1];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let (taken, _) = epoll::wait(self.0.get_ref(), &mut events, Some(&at_once))?;
        Ok(taken.len())
    }
}
