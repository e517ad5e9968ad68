//! What all sockets of a throttled backend share.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::Instant;

use super::account::Account;
use super::alarm::{Alarm, Bell, Precision};
use super::budget::{Budget, Held};
use super::leftover::Leftovers;
use super::slots::Slots;
use super::tally::QuirkTally;
use super::terms::Terms;
use crate::backend::OptionKind;
use crate::error::{Error, Result};
use crate::shape::Profile;
use crate::shape::dice::Seed;
use crate::shape::profile::LingerOption;
use crate::sync::lock;

pub struct Core {
    /// What times are counted from.
    epoch: Instant,
    pub seed: Seed,
    alarm: Arc<Alarm>,
    budget: Arc<Budget>,
    terms: Mutex<Arc<Terms>>,
    /// The number of the terms that hold, for whoever has found out what they mean for him and wants to know whether
    /// that is still so.
    current: AtomicU64,
    /// How many sockets and lookups the guest has had.
    born: AtomicU64,
    /// Those who want to be told of new terms.
    members: Mutex<HashMap<u64, Weak<dyn Member>>>,
    renewed: Notify,
    pub quirks: QuirkTally,
    pub slots: Slots,
    pub leftovers: Leftovers,
}

/// Somebody who may be waiting for what new terms may change.
pub trait Member: Send + Sync {
    /// The terms are new: wakes everybody who waits.
    fn renewed(self: Arc<Self>);
}

impl Core {
    pub fn new(profile: Profile, seed: u64, precision: Precision) -> Self {
        Self {
            epoch: Instant::now(),
            seed: Seed(seed),
            alarm: Alarm::new(precision),
            budget: Arc::default(),
            terms: Mutex::new(Arc::new(Terms::new(profile, FIRST))),
            current: AtomicU64::new(FIRST),
            born: AtomicU64::new(0),
            members: Mutex::default(),
            renewed: Notify::new(),
            quirks: QuirkTally::default(),
            slots: Slots::default(),
            leftovers: Leftovers::default(),
        }
    }

    pub fn terms(&self) -> Arc<Terms> {
        lock(&self.terms).clone()
    }

    /// The number of the terms that hold.
    pub fn current(&self) -> u64 {
        self.current.load(Ordering::Acquire)
    }

    /// Puts another profile in place, from now on. Waits for nobody; wakes everybody, to look again.
    pub fn replace(&self, profile: Profile) {
        {
            let mut terms = lock(&self.terms);
            let number = terms.number + 1;
            *terms = Arc::new(Terms::new(profile, number));
            self.current.store(number, Ordering::Release);
        }
        let members = lock(&self.members).values().filter_map(Weak::upgrade).collect::<Vec<_>>();
        members.into_iter().for_each(Member::renewed);
        self.renewed.notify_waiters();
    }

    /// Until the terms are new, counted from when this is first polled or enabled.
    pub fn renewed(&self) -> Notified<'_> {
        self.renewed.notified()
    }

    pub fn account(&self) -> Account {
        Account { paths: self.terms().account(), quirks: self.quirks.account() }
    }

    /// Time since the beginning.
    pub fn since(&self, instant: Instant) -> Duration {
        instant.saturating_duration_since(self.epoch)
    }

    /// The moment at this time since the beginning, which may be [never](Self::is_never).
    pub fn at(&self, time: Duration) -> Instant {
        self.epoch + time.min(NEVER)
    }

    /// Whether a moment is so far away that nobody needs to wait for it.
    pub fn is_never(&self, moment: Instant) -> bool {
        moment >= self.epoch + NEVER
    }

    /// The moment so much later, however much that is.
    pub fn after(&self, moment: Instant, time: Duration) -> Instant {
        self.at(self.since(moment).saturating_add(time))
    }

    /// A number for a new socket or lookup of the guest's. When its peers connect changes nothing about it: those have
    /// numbers beyond, as their listener [counts](accepted) them.
    pub fn birth(&self) -> u64 {
        self.born.fetch_add(1, Ordering::Relaxed)
    }

    pub fn enter(&self, number: u64, member: Weak<dyn Member>) {
        lock(&self.members).insert(number, member);
    }

    pub fn leave(&self, number: u64) {
        let left = lock(&self.members).remove(&number);
        drop(left);
    }

    pub fn held(&self) -> Held {
        Held::new(self.budget.clone())
    }

    /// Whether the board has the option at all.
    pub fn admits(&self, kind: OptionKind) -> Result<()> {
        let terms = self.terms();
        let board = &terms.profile.board;
        let is_refused = board.unsupported.contains(&kind)
            || kind == OptionKind::Linger && board.linger.option == LingerOption::NotSupported;
        if is_refused {
            self.quirks.note(|quirks| quirks.options_refused += 1);
            return Err(Error::NotSupported);
        }
        Ok(())
    }
}

/// The number of a connection that a listener has accepted, by the place in the listener's row, so that whoever else
/// connects meanwhile changes none of its chances. Beyond 4,294,967,295 of either, some would share theirs.
pub fn accepted(listener: u64, index: u32) -> u64 {
    (listener.wrapping_add(1) << u32::BITS) | u64::from(index)
}

/// Thirty years: what any clock can show, and nobody waits for.
const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// The first terms have this number, so that 0 stands for none.
const FIRST: u64 = 1;

/// The core, with the runtime that a socket lives on.
#[derive(Clone)]
pub struct Ground {
    pub core: Arc<Core>,
    runtime: Handle,
}

impl Ground {
    /// On the runtime of whoever asks.
    pub fn here(core: &Arc<Core>) -> Result<Self> {
        match Handle::try_current() {
            Ok(runtime) => Ok(Self { core: core.clone(), runtime }),
            Err(_) => Err(Error::Rig("throttled sockets can only be opened on a tokio runtime".into())),
        }
    }

    pub fn bell(&self) -> Bell {
        Bell::new(self.core.alarm.clone(), self.runtime.clone())
    }

    /// Starts a task, from whatever thread.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(task);
    }

    /// Waits for a moment.
    pub fn until(&self, moment: Instant) -> impl Future<Output = ()> + Send + 'static {
        self.bell().until(moment)
    }
}
