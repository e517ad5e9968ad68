//! The server's side: what is kept of each session, within bounds.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::time::Duration;

use super::{Numbered, WINDOW};

/// What all sessions together may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub sessions: usize,
    /// Bytes of answers that are kept. While there are as many, calls are refused; so one answer can be above it.
    pub bytes: usize,
    /// Time without a call after which a session is forgotten. It has to be longer than a client tries again.
    pub idle: Duration,
}

/// Every session that a server knows, with answers of type `A`.
pub struct Sessions<A> {
    limits: Limits,
    /// An answer's bytes.
    size: fn(&A) -> usize,
    known: HashMap<u128, Session<A>>,
    /// When each session was heard of last, the longest ago first.
    heard: BTreeSet<(Duration, u128)>,
    /// Bytes of all answers that are kept.
    kept: usize,
}

struct Session<A> {
    acknowledged: u64,
    /// By number, all of them above `acknowledged` and at most [`WINDOW`] above.
    answers: BTreeMap<u64, A>,
    heard: Duration,
}

impl<A: Clone> Sessions<A> {
    /// None yet. `size` says how many bytes of [`Limits::bytes`] an answer counts for.
    pub fn new(limits: Limits, size: fn(&A) -> usize) -> Self {
        Self { limits, size, known: HashMap::new(), heard: BTreeSet::new(), kept: 0 }
    }

    /// The answer to a call that was received at `now`, a time that never goes back: executed, or kept from when it was.
    ///
    /// # Errors
    /// A [`Refusal`]; the call is not executed. What it acknowledges is taken note of even so.
    pub fn call(&mut self, now: Duration, numbered: Numbered, execute: impl FnOnce() -> A) -> Result<A, Refusal> {
        self.forget_idle(now);
        let Numbered { session: id, call, acknowledged } = numbered;
        if !self.known.contains_key(&id) {
            if acknowledged > 0 {
                return Err(Refusal::Unknown);
            }
            if self.known.len() >= self.limits.sessions {
                return Err(Refusal::Full { sessions: self.limits.sessions });
            }
        }
        let session =
            self.known.entry(id).or_insert_with(|| Session { acknowledged: 0, answers: BTreeMap::new(), heard: now });
        self.heard.remove(&(session.heard, id));
        self.heard.insert((now, id));
        session.heard = now;

        if acknowledged > session.acknowledged {
            session.acknowledged = acknowledged;
            while let Some(first) = session.answers.first_entry().filter(|first| *first.key() <= acknowledged) {
                self.kept -= (self.size)(&first.remove());
            }
        }
        if let Some(answer) = session.answers.get(&call) {
            return Ok(answer.clone());
        }
        if call <= session.acknowledged {
            return Err(Refusal::Acknowledged { call });
        }
        if call - session.acknowledged > WINDOW {
            return Err(Refusal::Ahead { call, acknowledged: session.acknowledged });
        }
        if self.kept >= self.limits.bytes {
            return Err(Refusal::Kept { bytes: self.kept });
        }
        let answer = execute();
        self.kept += (self.size)(&answer);
        session.answers.insert(call, answer.clone());
        Ok(answer)
    }

    fn forget_idle(&mut self, now: Duration) {
        while let Some(&(heard, id)) = self.heard.first() {
            if now.saturating_sub(heard) < self.limits.idle {
                break;
            }
            self.heard.pop_first();
            if let Some(session) = self.known.remove(&id) {
                self.kept -= session.answers.values().map(self.size).sum::<usize>();
            }
        }
    }
}

/// Why a call of a session is not executed. The session is of no more use to its client, but for [`Refusal::Acknowledged`],
/// which answers to a call that the client has made twice and waits for no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Unknown,
    Full { sessions: usize },
    Acknowledged { call: u64 },
    Ahead { call: u64, acknowledged: u64 },
    Kept { bytes: usize },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => write!(f, "the session is not known, or was idle for too long: begin another"),
            Self::Full { sessions } => write!(f, "there are {sessions} sessions, as many as may be: try again later"),
            Self::Acknowledged { call } => write!(f, "call {call} was acknowledged, so its answer is kept no more"),
            Self::Ahead { call, acknowledged } => {
                write!(
                    f,
                    "call {call} is more than {WINDOW} above {acknowledged}, up to which answers are acknowledged"
                )
            }
            Self::Kept { bytes } => write!(f, "{bytes} bytes of answers are not acknowledged: try again later"),
        }
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { sessions: 2, bytes: 100, idle: Duration::from_secs(60) };

    /// Sessions whose every call answers with how many were executed, and weighs ten bytes.
    struct Counting {
        sessions: Sessions<u32>,
        executed: u32,
    }

    impl Counting {
        fn new() -> Self {
            Self { sessions: Sessions::new(LIMITS, |_| 10), executed: 0 }
        }

        fn call(&mut self, second: u64, session: u128, call: u64, acknowledged: u64) -> Result<u32, Refusal> {
            let numbered = Numbered { session, call, acknowledged };
            self.sessions.call(Duration::from_secs(second), numbered, || {
                self.executed += 1;
                self.executed
            })
        }
    }

    #[test]
    fn a_call_that_comes_again_gets_its_answer_and_is_not_executed() {
        let mut server = Counting::new();
        assert_eq!(server.call(0, 1, 1, 0), Ok(1));
        assert_eq!(server.call(0, 1, 2, 0), Ok(2));
        assert_eq!(server.call(0, 1, 1, 0), Ok(1));
        assert_eq!(server.call(0, 1, 3, 1), Ok(3));
        assert_eq!(server.call(0, 1, 2, 1), Ok(2));
        assert_eq!(server.executed, 3);
    }

    #[test]
    fn sessions_share_no_numbers() {
        let mut server = Counting::new();
        assert_eq!(server.call(0, 1, 1, 0), Ok(1));
        assert_eq!(server.call(0, 2, 1, 0), Ok(2));
    }

    #[test]
    fn an_acknowledged_call_that_was_still_on_its_way_is_refused() {
        let mut server = Counting::new();
        assert_eq!(server.call(0, 1, 1, 0), Ok(1));
        assert_eq!(server.call(0, 1, 2, 1), Ok(2));
        assert_eq!(server.call(0, 1, 1, 0), Err(Refusal::Acknowledged { call: 1 }));
    }

    #[test]
    fn numbers_may_come_in_any_order_within_the_window_and_not_beyond() {
        let mut server = Counting::new();
        assert_eq!(server.call(0, 1, WINDOW, 0), Ok(1));
        assert_eq!(server.call(0, 1, 1, 0), Ok(2));
        let ahead = Refusal::Ahead { call: WINDOW + 1, acknowledged: 0 };
        assert_eq!(server.call(0, 1, WINDOW + 1, 0), Err(ahead));
        assert_eq!(server.call(0, 1, WINDOW + 1, 1), Ok(3));
        assert!(matches!(server.call(0, 1, u64::MAX, 0), Err(Refusal::Ahead { .. })));
    }

    #[test]
    fn a_session_that_was_forgotten_is_refused_and_not_begun_again() {
        let mut server = Counting::new();
        assert_eq!(server.call(0, 1, 9, 8), Err(Refusal::Unknown));
        assert_eq!(server.call(0, 1, 1, 0), Ok(1));
        assert_eq!(server.call(59, 1, 2, 1), Ok(2));
        assert_eq!(server.call(118, 1, 2, 1), Ok(2));
        assert_eq!(server.call(178, 1, 3, 2), Err(Refusal::Unknown));
    }

    #[test]
    fn a_session_more_is_refused_until_one_is_idle() {
        let mut server = Counting::new();
        assert_eq!(server.call(0, 1, 1, 0), Ok(1));
        assert_eq!(server.call(30, 2, 1, 0), Ok(2));
        assert_eq!(server.call(59, 3, 1, 0), Err(Refusal::Full { sessions: 2 }));
        assert_eq!(server.call(60, 3, 1, 0), Ok(3));
        assert_eq!(server.call(60, 2, 1, 0), Ok(2));
    }

    #[test]
    fn answers_are_kept_within_the_bound_until_they_are_acknowledged_or_forgotten() {
        let mut server = Counting::new();
        for call in 1..=10 {
            assert!(server.call(0, 1, call, 0).is_ok());
        }
        assert_eq!(server.call(0, 1, 11, 0), Err(Refusal::Kept { bytes: 100 }));
        assert_eq!(server.call(0, 2, 1, 0), Err(Refusal::Kept { bytes: 100 }));
        // What was executed is still answered, and a refused call's acknowledgement still counts.
        assert_eq!(server.call(0, 1, 3, 0), Ok(3));
        assert_eq!(server.call(1, 1, 11, 4), Ok(11));
        assert_eq!(server.sessions.kept, 70);
        assert_eq!(server.call(61, 2, 1, 0), Ok(12));
        assert_eq!(server.sessions.kept, 10);
    }
}
