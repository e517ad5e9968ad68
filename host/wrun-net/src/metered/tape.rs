//! The clock of a run, and who wants to know.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::meter::{Meter, Role};
use crate::error::Result;

/// The clock of a run, and where measurements go.
pub struct Tape {
    start: Instant,
    sockets: AtomicU64,
    log: Arc<dyn Log>,
    every_call: bool,
}

/// Who wants the measurements. Called on the guest's own thread: be quick.
pub trait Log: Send + Sync {
    /// A socket came to be. Its sums can be read from the meter at any time, by any thread.
    fn socket(&self, meter: Arc<Meter>);

    /// A name was looked up, or its lookup was given up.
    fn lookup(&self, lookup: Lookup);

    /// Whether [`Self::call`] is wanted. Asked once.
    fn wants_calls(&self) -> bool {
        false
    }

    /// One call of a socket has ended, or was given up.
    fn call(&self, _call: &Call) {}
}

/// One call that is over.
#[derive(Debug, Clone)]
pub struct Call {
    /// Number of the socket, from 1 in the order of their making; 0 for a name lookup.
    pub socket: u64,
    /// The operation, as in `connect`.
    pub name: &'static str,
    /// Since the run began.
    pub start: Duration,
    pub took: Duration,
    /// What it was asked with and answered, in words: an address, an option.
    pub detail: String,
    /// Bytes moved, for calls that move bytes.
    pub bytes: Option<u64>,
    /// `None` for a call that was given up before it was answered.
    pub outcome: Option<Result<()>>,
}

/// A name lookup that is over.
#[derive(Debug, Clone)]
pub struct Lookup {
    pub name: String,
    /// Since the run began.
    pub start: Duration,
    pub took: Duration,
    /// `None` for a lookup that was given up before it was answered.
    pub outcome: Option<Result<Vec<IpAddr>>>,
}

impl Tape {
    /// A tape whose time begins now.
    pub fn new(log: Arc<dyn Log>) -> Arc<Self> {
        let every_call = log.wants_calls();
        Arc::new(Self { start: Instant::now(), sockets: AtomicU64::new(0), log, every_call })
    }

    /// The time since the run began.
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// How many sockets there have been.
    pub fn sockets(&self) -> u64 {
        self.sockets.load(Ordering::Relaxed)
    }

    /// A meter for a new socket.
    pub(super) fn meter(&self, role: Role) -> Arc<Meter> {
        let socket = self.sockets.fetch_add(1, Ordering::Relaxed) + 1;
        let meter = Arc::new(Meter::new(socket, role, self.now()));
        self.log.socket(meter.clone());
        meter
    }

    /// The time, if a log wants every call; nobody else pays for reading the clock at the start of a call too.
    pub(super) fn start(&self) -> Option<Duration> {
        self.every_call.then(|| self.now())
    }

    /// A call that began at `start` has ended.
    pub(super) fn call<T>(&self, start: Option<Duration>, result: &Result<T>, note: impl FnOnce() -> Note) {
        let Some(start) = start else { return };
        let took = self.now() - start;
        let Note { socket, name, detail, bytes } = note();
        let outcome = Some(result.as_ref().map(drop).map_err(Clone::clone));
        self.tell(&Call { socket, name, start, took, detail, bytes: bytes.map(|n| n as u64), outcome });
    }

    pub(super) fn tell(&self, call: &Call) {
        self.log.call(call);
    }

    pub(super) fn lookup(&self, lookup: Lookup) {
        self.log.lookup(lookup);
    }
}

/// What a call was about.
pub(super) struct Note {
    pub socket: u64,
    pub name: &'static str,
    pub detail: String,
    pub bytes: Option<usize>,
}
