//! Who ends a run: the guest itself, the time limit, or a signal.
//!
//! The guest has a thread of its own. The supervisor waits for the first of the three, and gives the guest's thread a
//! short time to let go; a guest that cannot be brought to that, such as one that writes to a pipe nobody reads, is
//! left where it is, and the report is finished without it.

use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::oneshot;

use crate::exit;
use crate::guest::End;
use crate::report::data::{Calibration, Family, Outcome};

/// How long a guest that is being ended may take to let go.
const GRACE: Duration = Duration::from_millis(500);

/// How long what a guest wrote last, and the socket had not taken, may take to leave after its end.
pub const LAST_BYTES: Duration = Duration::from_secs(5);

/// What the supervisor hears of.
pub enum Event {
    Ended(Ended),
    Signal(i32),
}

/// A guest's end, with what can be said only then.
pub struct Ended {
    /// `None` where it was made to end.
    pub end: Option<End>,
    /// Since the run began.
    pub at: Duration,
    /// Whether it asked for more sockets than it may have.
    pub sockets_exhausted: bool,
    pub calibration: Option<Calibration>,
}

impl Ended {
    /// It was made to end.
    pub fn stopped(at: Duration) -> Self {
        Self { end: None, at, sockets_exhausted: false, calibration: None }
    }

    /// It could not be run at all.
    pub fn broken(words: String, at: Duration) -> Self {
        Self { end: Some(End::Rig(words)), at, sockets_exhausted: false, calibration: None }
    }
}

/// How a run ended.
pub struct Supervised {
    pub outcome: Outcome,
    /// Since the run began, where the guest came to an end at all.
    pub ended_at: Option<Duration>,
    pub calibration: Option<Calibration>,
}

/// Turns SIGINT and SIGTERM into events, for the rest of the process's life.
pub fn watch_signals(events: Sender<Event>) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("signals cannot be watched")?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            if events.send(Event::Signal(signal)).is_err() {
                // The run is over. Whoever asks again gets what a process without us does.
                std::process::exit(128 + signal);
            }
        }
    })?;
    Ok(())
}

/// Waits for the end of the run, and brings it about where it must.
pub fn supervise(inbox: &Receiver<Event>, timeout: Option<Duration>, stop: oneshot::Sender<()>) -> Supervised {
    let deadline = timeout.map(|timeout| Instant::now() + timeout);
    let outcome = match next(inbox, deadline) {
        Some(Event::Ended(ended)) => {
            let (at, calibration) = (ended.at, ended.calibration.clone());
            return Supervised { outcome: outcome(ended), ended_at: Some(at), calibration };
        }
        Some(Event::Signal(signal)) => interrupted(signal),
        None => time_limit(timeout.unwrap_or_default()),
    };
    // A guest that has just ended by itself has nobody to tell.
    _ = stop.send(());
    let ended_at = match next(inbox, Some(Instant::now() + GRACE)) {
        Some(Event::Ended(ended)) => Some(ended.at),
        // The user asks again, and is in a hurry; or the guest does not let go.
        Some(Event::Signal(_)) | None => None,
    };
    Supervised { outcome, ended_at, calibration: None }
}

/// The next event, or `None` at the deadline or when nobody is left to send one.
fn next(inbox: &Receiver<Event>, deadline: Option<Instant>) -> Option<Event> {
    match deadline {
        None => inbox.recv().ok(),
        Some(deadline) => inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok(),
    }
}

fn outcome(ended: Ended) -> Outcome {
    let (family, code, words, backtrace) = match ended.end {
        None => (Family::Interrupted, exit::INTERRUPTED, "the run was ended".to_owned(), Vec::new()),
        Some(End::Success) => (Family::Ok, exit::OK, "the guest ended well".to_owned(), Vec::new()),
        Some(End::Failure(_)) if ended.sockets_exhausted => {
            let words = "the guest failed, after asking for more sockets than --max-sockets allows".to_owned();
            (Family::Limit, exit::SOCKETS, words, Vec::new())
        }
        Some(End::Failure(code)) => {
            let words = match code {
                // One is all that a guest can say before WASI 0.2.12.
                None | Some(1) => "the guest failed".to_owned(),
                Some(code) => format!("the guest failed, with {code} as its own code"),
            };
            (Family::Guest, exit::GUEST, words, Vec::new())
        }
        Some(End::Trap { words, backtrace }) => {
            (Family::Guest, exit::TRAP, format!("the guest trapped: {words}"), backtrace)
        }
        Some(End::OutOfMemory { words }) => {
            (Family::Limit, exit::MEMORY, format!("{words}; see --max-memory"), Vec::new())
        }
        Some(End::Rig(words)) => (Family::Rig, exit::RIG, words, Vec::new()),
    };
    Outcome { family, code: Some(code), words, backtrace }
}

fn interrupted(signal: i32) -> Outcome {
    let (code, name) = match signal {
        SIGTERM => (exit::TERMINATED, "SIGTERM"),
        _ => (exit::INTERRUPTED, "ctrl-C"),
    };
    let words = format!("the guest was ended by {name}");
    Outcome { family: Family::Interrupted, code: Some(code), words, backtrace: Vec::new() }
}

fn time_limit(timeout: Duration) -> Outcome {
    let words = format!("the guest was ended after the {timeout:?} of --timeout");
    Outcome { family: Family::Limit, code: Some(exit::TIMEOUT), words, backtrace: Vec::new() }
}
