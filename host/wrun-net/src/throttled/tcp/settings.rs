//! What is remembered of a guest's options, because the socket inside is told something else.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::backend::{OptionKind, Options, Pending, SocketOption, now};
use crate::rounding;
use crate::shape::profile::LingerOption;
use crate::sync::lock;
use crate::throttled::core::Core;

/// Shared with the calls that are under way, and copied to a connection from its listener.
#[derive(Default)]
pub struct Settings {
    /// As far as the guest has set it, or its listener's guest.
    no_delay: Arc<AtomicBool>,
    /// The linger time, on a board that ignores it.
    linger: Mutex<Option<Duration>>,
}

impl Settings {
    pub fn no_delay(&self) -> bool {
        self.no_delay.load(Ordering::Relaxed)
    }

    /// Sets no-delay of the socket inside to one thing, and remembers the other as what the guest has set.
    pub fn set_no_delay(&self, inner: &(impl Options + ?Sized), inside: bool, on: bool) -> Pending<()> {
        let set = inner.set_option(SocketOption::NoDelay(inside));
        let no_delay = self.no_delay.clone();
        Box::pin(async move {
            set.await?;
            no_delay.store(on, Ordering::Relaxed);
            Ok(())
        })
    }

    /// Answers for an option, or asks the socket inside.
    pub fn option(&self, core: &Core, inner: &(impl Options + ?Sized), kind: OptionKind) -> Pending<SocketOption> {
        if let Err(error) = core.admits(kind) {
            return now(Err(error));
        }
        if !is_ignored(core, kind) {
            return inner.option(kind);
        }
        let linger = *lock(&self.linger);
        let asked = inner.option(kind);
        // The socket inside says whether there is such an option.
        Box::pin(async move { asked.await.map(|_| SocketOption::Linger(linger)) })
    }

    /// Sets an option of the socket inside, and remembers what is to be remembered.
    pub fn set_option(&self, core: &Core, inner: &(impl Options + ?Sized), option: SocketOption) -> Pending<()> {
        if let Err(error) = core.admits(option.kind()) {
            return now(Err(error));
        }
        match option {
            SocketOption::NoDelay(on) => return self.set_no_delay(inner, on, on),
            SocketOption::Linger(time) if is_ignored(core, OptionKind::Linger) => {
                *lock(&self.linger) = rounding::linger(time);
                let asked = inner.option(OptionKind::Linger);
                return Box::pin(async move { asked.await.map(drop) });
            }
            _ => {}
        }
        inner.set_option(option)
    }
}

impl Clone for Settings {
    fn clone(&self) -> Self {
        Self { no_delay: Arc::new(AtomicBool::new(self.no_delay())), linger: Mutex::new(*lock(&self.linger)) }
    }
}

fn is_ignored(core: &Core, kind: OptionKind) -> bool {
    kind == OptionKind::Linger && core.terms().profile.board.linger.option == LingerOption::Ignored
}

/// The linger time, as the socket inside answers.
pub async fn linger(asked: Pending<SocketOption>) -> Option<Duration> {
    match asked.await {
        Ok(SocketOption::Linger(time)) => time,
        _ => None,
    }
}
