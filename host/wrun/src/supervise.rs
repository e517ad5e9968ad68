//! Who ends a run: the guest itself, the time limit, or a signal.
//!
//! The guest has a thread of its own. The supervisor waits for the first of the three, and gives the guest's thread a
//! short time to let go; a guest that cannot be brought to that, such as one that writes to a pipe nobody reads, is
//! left where it is, and the report is finished without it.

use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::oneshot;

use crate::exit;
use crate::guest::End;
use crate::report::data::{Calibration, Family, Outcome};

/// How long a guest that is being ended may take to let go.
const GRACE: Duration = Duration::from_millis(300);

/// What the supervisor hears of, from the guest's thread and from the system.
pub enum Event {
    /// The guest has come to an end by itself.
    Ended(Ended),
    /// It was made to end, at this time since the run began.
    Stopped(Duration),
    /// After `Ended`: nothing is left to do.
    Tidy(Tidied),
    Signal(i32),
}

/// A guest's own end.
pub struct Ended {
    pub end: End,
    /// Since the run began.
    pub at: Duration,
    /// Whether it asked for more sockets than it may have.
    pub sockets_exhausted: bool,
}

/// What was left to do after a guest's own end.
#[derive(Debug, Default)]
pub struct Tidied {
    pub calibration: Option<Calibration>,
    /// Something that the guest had sent was still on its way, and was thrown away.
    pub cut: bool,
}

/// How a run ended.
pub struct Supervised {
    pub outcome: Outcome,
    /// Since the run began, where the guest came to an end at all.
    pub at: Option<Duration>,
    pub tidied: Tidied,
    /// A signal came, even if only after a guest's own end: there is to be no other run.
    pub signalled: bool,
}

/// Who hears of signals: the supervisor of the run that goes on.
static LISTENER: Mutex<Option<Sender<Event>>> = Mutex::new(None);

/// Turns SIGINT and SIGTERM into events, for the rest of the process's life; of several runs, for the latest.
pub fn watch_signals(events: Sender<Event>) -> Result<()> {
    let first = LISTENER.lock().unwrap_or_else(PoisonError::into_inner).replace(events).is_none();
    if !first {
        return Ok(());
    }
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("signals cannot be watched")?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            let listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
            if listener.as_ref().is_none_or(|events| events.send(Event::Signal(signal)).is_err()) {
                // The run is over. Whoever asks again gets what a process without us does.
                std::process::exit(128 + signal);
            }
        }
    })?;
    Ok(())
}

/// How long measuring what wrun itself costs may take, and a pause that is worth a word.
const CALIBRATING: Duration = Duration::from_secs(2);

/// Waits for the end of the run, and brings it about where it must. `tidying` is how long the guest's thread may take
/// after an end of the guest's own: what the guest wrote last, and the socket had not taken, is still to leave; `patient`
/// is called if that takes long enough to wonder.
pub fn supervise(
    inbox: &Receiver<Event>,
    timeout: Option<Duration>,
    tidying: Duration,
    stop: oneshot::Sender<()>,
    patient: impl FnOnce(),
) -> Supervised {
    // A limit beyond what the clock can hold is none.
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let outcome = match next(inbox, deadline) {
        Some(Event::Ended(ended)) => return tidied(inbox, ended, tidying + CALIBRATING, stop, patient),
        Some(Event::Signal(signal)) => interrupted(signal),
        // Nothing else comes first.
        Some(Event::Stopped(_) | Event::Tidy(_)) | None => time_limit(timeout.unwrap_or_default()),
    };
    let signalled = outcome.family == Family::Interrupted;
    // A guest that has just ended by itself has nobody to tell.
    _ = stop.send(());
    let at = match next(inbox, Some(Instant::now() + GRACE)) {
        Some(Event::Ended(ended)) => {
            let tidied = next(inbox, Some(Instant::now() + GRACE)).and_then(Event::tidied).unwrap_or_default();
            return Supervised { at: Some(ended.at), outcome: self::outcome(ended), tidied, signalled };
        }
        Some(Event::Stopped(at)) => Some(at),
        // It does not let go, or the user asks again and is in a hurry.
        Some(Event::Tidy(_) | Event::Signal(_)) | None => None,
    };
    Supervised { outcome, at, tidied: Tidied::default(), signalled }
}

/// The result of a run whose guest has ended by itself, after it was tidied up, or after a signal that will not wait.
fn tidied(
    inbox: &Receiver<Event>,
    ended: Ended,
    patience: Duration,
    stop: oneshot::Sender<()>,
    patient: impl FnOnce(),
) -> Supervised {
    let deadline = Instant::now() + patience;
    let mut event = next(inbox, Some(deadline.min(Instant::now() + CALIBRATING)));
    if event.is_none() {
        patient();
        event = next(inbox, Some(deadline));
    }
    let signalled = matches!(event, Some(Event::Signal(_)));
    if signalled {
        _ = stop.send(());
        event = next(inbox, Some(Instant::now() + GRACE));
    }
    // Whoever does not answer in time has not come to the end of what was to leave.
    let tidied = event.and_then(Event::tidied).unwrap_or(Tidied { calibration: None, cut: true });
    Supervised { at: Some(ended.at), outcome: outcome(ended), tidied, signalled }
}

impl Event {
    fn tidied(self) -> Option<Tidied> {
        match self {
            Self::Tidy(tidied) => Some(tidied),
            _ => None,
        }
    }
}

/// The next event, or `None` at the deadline or when nobody is left to send one.
fn next(inbox: &Receiver<Event>, deadline: Option<Instant>) -> Option<Event> {
    match deadline {
        None => inbox.recv().ok(),
        Some(deadline) => inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok(),
    }
}

fn outcome(Ended { end, sockets_exhausted, .. }: Ended) -> Outcome {
    let (family, code, words, backtrace) = match end {
        End::Success => (Family::Ok, exit::OK, "the guest ended well".to_owned(), Vec::new()),
        // One is all that a guest can say before WASI 0.2.12.
        End::Failure(None | Some(1)) => (Family::Guest, exit::GUEST, "the guest failed".to_owned(), Vec::new()),
        End::Failure(Some(code)) => {
            (Family::Guest, exit::GUEST, format!("the guest failed, with {code} as its own code"), Vec::new())
        }
        End::Trap { words, backtrace } => (Family::Guest, exit::TRAP, format!("the guest trapped: {words}"), backtrace),
        End::OutOfMemory { words } => {
            (Family::Limit, exit::MEMORY, format!("{words}; --max-memory sets another limit"), Vec::new())
        }
        End::Rig(words) => (Family::Rig, exit::RIG, words, Vec::new()),
    };
    if sockets_exhausted && family == Family::Guest {
        let words = format!("{words}, after asking for more sockets than --max-sockets allows");
        return Outcome { family: Family::Limit, code: Some(exit::SOCKETS), words, backtrace };
    }
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const TIDYING: Duration = Duration::from_secs(5);

    fn ended(end: End) -> Event {
        Event::Ended(Ended { end, at: Duration::from_secs(1), sockets_exhausted: false })
    }

    /// Supervises a run of which these events are all there is to hear.
    fn supervised(events: impl IntoIterator<Item = Event>, timeout: Option<Duration>) -> Supervised {
        let (sender, inbox) = mpsc::channel();
        for event in events {
            sender.send(event).unwrap();
        }
        supervise(&inbox, timeout, TIDYING, oneshot::channel().0, || {})
    }

    #[test]
    fn an_end_of_its_own_is_kept_whatever_comes_after_it() {
        let trap = || ended(End::Trap { words: "unreachable".into(), backtrace: Vec::new() });
        for after in [Event::Signal(SIGINT), Event::Tidy(Tidied::default())] {
            let supervised = supervised([trap(), after], Some(Duration::from_secs(3600)));
            assert_eq!(supervised.outcome.code, Some(exit::TRAP));
            assert_eq!(supervised.at, Some(Duration::from_secs(1)));
        }
    }

    #[test]
    fn a_signal_that_finds_the_guest_at_its_end_leaves_it_that_end() {
        let supervised = supervised([Event::Signal(SIGTERM), ended(End::Success)], None);
        assert_eq!(supervised.outcome.code, Some(exit::OK));
    }

    #[test]
    fn a_guest_that_does_not_let_go_is_left_behind() {
        let (sender, inbox) = mpsc::channel();
        sender.send(Event::Signal(SIGTERM)).unwrap();
        let supervised = supervise(&inbox, None, TIDYING, oneshot::channel().0, || {});
        assert_eq!(supervised.outcome.code, Some(exit::TERMINATED));
        assert_eq!(supervised.at, None);
        drop(sender);
    }

    #[test]
    fn a_time_limit_beyond_all_time_is_none() {
        let supervised = supervised([ended(End::Success)], Some(Duration::MAX));
        assert_eq!(supervised.outcome.code, Some(exit::OK));
    }
}
