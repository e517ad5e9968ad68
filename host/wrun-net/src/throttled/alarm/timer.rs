//! The one timer under an alarm.

use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, Sleep, sleep_until};

use super::Precision;
use crate::error::Result;
use crate::watched::watched;

pub enum Timer {
    Fine {
        /// The kernel's timer, which is readable once its time has come.
        timer: AsyncFd<OwnedFd>,
        set: Option<Instant>,
    },
    Coarse(Option<Pin<Box<Sleep>>>),
}

impl Timer {
    pub fn new(precision: Precision) -> Self {
        match precision {
            Precision::Fine => Self::fine().unwrap_or(Self::Coarse(None)),
            Precision::Coarse => Self::Coarse(None),
        }
    }

    /// Fails where no descriptor is left, or the system has no such timer.
    fn fine() -> Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Self::Fine { timer: watched(timer, Interest::READABLE)?, set: None })
    }

    /// Ready when the deadline has passed, or a little before: who asks looks at the clock, and asks again.
    pub fn poll(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let polled = match self {
            Self::Fine { timer, set } => poll_fine(timer, set, deadline, cx),
            Self::Coarse(sleep) => {
                let sleep = sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
                if sleep.deadline() != deadline {
                    sleep.as_mut().reset(deadline);
                }
                sleep.as_mut().poll(cx).map(Ok)
            }
        };
        match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) => Poll::Ready(()),
            // A timer that failed is of no more use.
            Poll::Ready(Err(_)) => {
                *self = Self::Coarse(None);
                Poll::Ready(())
            }
        }
    }
}

fn poll_fine(
    timer: &AsyncFd<OwnedFd>,
    set: &mut Option<Instant>,
    deadline: Instant,
    cx: &mut Context<'_>,
) -> Poll<Result<()>> {
    loop {
        if *set != Some(deadline) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Poll::Ready(Ok(()));
            }
            // Setting it takes back that an earlier time has come.
            timerfd_settime(timer, TimerfdTimerFlags::empty(), &once(left))?;
            *set = Some(deadline);
        }
        let mut readiness = ready!(timer.poll_read_ready(cx))?;
        let mut rung = [0; 8];
        match rustix::io::read(timer, &mut rung) {
            Ok(_) => {
                *set = None;
                return Poll::Ready(Ok(()));
            }
            // The readiness was that of an earlier time.
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => readiness.clear_ready(),
            Err(errno) => return Poll::Ready(Err(errno.into())),
        }
    }
}

/// After this long, once. Longer than any kernel takes is the longest that it takes.
fn once(left: std::time::Duration) -> Itimerspec {
    let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
    let tv_sec = i64::from(i32::try_from(left.as_secs()).unwrap_or(i32::MAX));
    Itimerspec { it_interval: zero, it_value: Timespec { tv_sec, tv_nsec: left.subsec_nanos().into() } }
}
