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
    /// Calls as near as that which were refused for want of room. They stay so: their client goes by it.
    refused: BTreeSet<u64>,
    heard: Duration,
}

impl<A: Clone> Sessions<A> {
    /// None yet. `size` says how many bytes of [`Limits::bytes`] an answer counts for.
    pub fn new(limits: Limits, size: fn(&A) -> usize) -> Self {
        Self { limits, size, known: HashMap::new(), heard: BTreeSet::new(), kept: 0 }
    }

    /// Begins a session at `now`, a time that never goes back. It need not be a new one.
    ///
    /// # Errors
    /// [`Refusal::Full`].
    pub fn begin(&mut self, now: Duration, id: u128) -> Result<(), Refusal> {
        self.forget_idle(now);
        if !self.known.contains_key(&id) {
            if self.known.len() >= self.limits.sessions {
                return Err(Refusal::Full { sessions: self.limits.sessions });
            }
            let session = Session { acknowledged: 0, answers: BTreeMap::new(), refused: BTreeSet::new(), heard: now };
            self.heard.insert((now, id));
            self.known.insert(id, session);
        }
        Ok(())
    }

    /// Forgets a session whose client wants no more of it, with all its answers; one that is not known is forgotten already.
    pub fn end(&mut self, id: u128) {
        if let Some(session) = self.known.remove(&id) {
            self.heard.remove(&(session.heard, id));
            self.kept -= session.answers.values().map(self.size).sum::<usize>();
        }
    }

    /// The answer to a call that was received at `now`, a time that never goes back: executed, or kept from when it was.
    ///
    /// # Errors
    /// A [`Refusal`]; the call is not executed. What it acknowledges is taken note of even so.
    pub fn call(&mut self, now: Duration, numbered: Numbered, execute: impl FnOnce() -> A) -> Result<A, Refusal> {
        self.forget_idle(now);
        let Numbered { session: id, call, acknowledged } = numbered;
        let session = self.known.get_mut(&id).ok_or(Refusal::Unknown)?;
        self.heard.remove(&(session.heard, id));
        self.heard.insert((now, id));
        session.heard = now;

        if acknowledged > session.acknowledged {
            session.acknowledged = acknowledged;
            while let Some(first) = session.answers.first_entry().filter(|first| *first.key() <= acknowledged) {
                self.kept -= (self.size)(&first.remove());
            }
            while session.refused.first().is_some_and(|first| *first <= acknowledged) {
                session.refused.pop_first();
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
        if self.kept >= self.limits.bytes || session.refused.contains(&call) {
            session.refused.insert(call);
            return Err(Refusal::Kept { limit: self.limits.bytes });
        }
        let answer = execute();
        self.kept += (self.size)(&answer);
        session.answers.insert(call, answer.clone());
        Ok(answer)
    }

    fn forget_idle(&mut self, now: Duration) {
        while let Some(&(heard, id)) = self.heard.first()
            && now.saturating_sub(heard) >= self.limits.idle
        {
            self.end(id);
        }
    }
}

/// Why a call of a session is not executed, or a session not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Unknown,
    Full {
        sessions: usize,
    },
    /// Answers to a call that the client has made twice and waits for no more.
    Acknowledged {
        call: u64,
    },
    Ahead {
        call: u64,
        acknowledged: u64,
    },
    /// There is no room for an answer.
    Kept {
        limit: usize,
    },
}

impl Refusal {
    /// Whether it is of this call alone, and the session goes on. After any other the session is of no more use.
    pub fn is_of_the_call(self) -> bool {
        matches!(self, Self::Kept { .. })
    }
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
            Self::Kept { limit } => write!(
                f,
                "not executed, as its answer could not be kept: {limit} bytes of answers, as many as may be, are not \
                 acknowledged; try again later, with a new call"
            ),
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
        /// With sessions that were begun in second 0.
        fn with(begun: impl IntoIterator<Item = u128>) -> Self {
            let mut sessions = Sessions::new(LIMITS, |_| 10);
            begun.into_iter().for_each(|session| sessions.begin(Duration::ZERO, session).expect("there is room"));
            Self { sessions, executed: 0 }
        }

        fn begin(&mut self, second: u64, session: u128) -> Result<(), Refusal> {
            self.sessions.begin(Duration::from_secs(second), session)
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
        let mut server = Counting::with([1]);
        assert_eq!(server.call(0, 1, 1, 0), Ok(1));
        assert_eq!(server.call(0, 1, 2, 0), Ok(2));
        assert_eq!(server.call(0, 1, 1, 0), Ok(1));
        assert_eq!(server.call(0, 1, 3, 1), Ok(3));
        assert_eq!(server.call(0, 1, 2, 1), Ok(2));
        assert_eq!(server.executed, 3);
    }

    #[test]
    fn sessions_share_no_numbers() {
        let mut server = Counting::with([1, 2]);
        assert_eq!(server.call(0, 1, 1, 0), Ok(1));
        assert_eq!(server.call(0, 2, 1, 0), Ok(2));
    }

    #[test]
    fn an_acknowledged_call_that_was_still_on_its_way_is_refused() {
        let mut server = Counting::with([1]);
        assert_eq!(server.call(0, 1, 1, 0), Ok(1));
        assert_eq!(server.call(0, 1, 2, 1), Ok(2));
        assert_eq!(server.call(0, 1, 1, 0), Err(Refusal::Acknowledged { call: 1 }));
    }

    #[test]
    fn numbers_may_come_in_any_order_within_the_window_and_not_beyond() {
        let mut server = Counting::with([1]);
        assert_eq!(server.call(0, 1, WINDOW, 0), Ok(1));
        assert_eq!(server.call(0, 1, 1, 0), Ok(2));
        let ahead = Refusal::Ahead { call: WINDOW + 1, acknowledged: 0 };
        assert_eq!(server.call(0, 1, WINDOW + 1, 0), Err(ahead));
        assert_eq!(server.call(0, 1, WINDOW + 1, 1), Ok(3));
        assert!(matches!(server.call(0, 1, u64::MAX, 0), Err(Refusal::Ahead { .. })));
    }

    #[test]
    fn a_call_does_not_begin_a_session_whatever_it_acknowledges() {
        let mut server = Counting::with([]);
        assert_eq!(server.call(0, 1, 1, 0), Err(Refusal::Unknown));
        assert_eq!(server.call(0, 1, 9, 8), Err(Refusal::Unknown));
        assert_eq!(server.executed, 0);
    }

    #[test]
    fn a_session_that_was_idle_is_forgotten_and_its_calls_are_refused_even_if_none_was_acknowledged() {
        let mut server = Counting::with([1, 2]);
        assert_eq!(server.call(59, 1, 1, 0), Ok(1));
        assert_eq!(server.call(59, 2, 1, 0), Ok(2));
        assert_eq!(server.call(118, 1, 1, 0), Ok(1));
        assert_eq!(server.call(119, 2, 1, 0), Err(Refusal::Unknown));
        assert_eq!(server.call(119, 2, 2, 1), Err(Refusal::Unknown));
        assert_eq!(server.call(178, 1, 1, 0), Err(Refusal::Unknown));
        assert_eq!(server.sessions.kept, 0);
    }

    #[test]
    fn a_session_more_is_refused_until_one_is_idle_or_ended() {
        let mut server = Counting::with([1]);
        assert_eq!(server.begin(30, 2), Ok(()));
        assert_eq!(server.begin(30, 2), Ok(()));
        assert_eq!(server.begin(59, 3), Err(Refusal::Full { sessions: 2 }));
        assert_eq!(server.begin(60, 3), Ok(()));
        assert_eq!(server.begin(60, 4), Err(Refusal::Full { sessions: 2 }));
        server.sessions.end(2);
        assert_eq!(server.begin(60, 4), Ok(()));
    }

    #[test]
    fn an_ended_session_gives_back_what_was_kept_of_it() {
        let mut server = Counting::with([1, 2]);
        assert_eq!(server.call(0, 1, 1, 0), Ok(1));
        assert_eq!(server.call(0, 2, 1, 0), Ok(2));
        server.sessions.end(1);
        server.sessions.end(1);
        assert_eq!(server.sessions.kept, 10);
        assert_eq!(server.call(0, 1, 1, 0), Err(Refusal::Unknown));
        assert_eq!(server.call(61, 2, 1, 0), Err(Refusal::Unknown));
        assert_eq!(server.sessions.kept, 0);
    }

    #[test]
    fn answers_are_kept_within_the_bound_until_they_are_acknowledged_or_forgotten() {
        let mut server = Counting::with([1, 2]);
        for call in 1..=10 {
            assert!(server.call(0, 1, call, 0).is_ok());
        }
        let kept = Err(Refusal::Kept { limit: 100 });
        assert_eq!(server.call(0, 1, 11, 0), kept);
        assert_eq!(server.call(0, 2, 1, 0), kept);
        // What was executed is still answered, and a refused call's acknowledgement still counts.
        assert_eq!(server.call(0, 1, 3, 0), Ok(3));
        assert_eq!(server.call(1, 1, 12, 4), Ok(11));
        assert_eq!(server.sessions.kept, 70);
        assert_eq!(server.call(2, 2, 1, 0), kept);
        assert_eq!(server.call(61, 2, 2, 1), Ok(12));
        assert_eq!(server.sessions.kept, 10);
    }

    #[test]
    fn a_call_that_was_refused_for_want_of_room_is_not_executed_when_it_comes_again_and_there_is_some() {
        let mut server = Counting::with([1]);
        for call in 1..=10 {
            assert!(server.call(0, 1, call, 0).is_ok());
        }
        let kept = Err(Refusal::Kept { limit: 100 });
        assert_eq!(server.call(0, 1, 11, 0), kept);
        assert_eq!(server.call(0, 1, 11, 10), kept);
        assert_eq!(server.call(0, 1, 12, 11), Ok(11));
        assert_eq!(server.call(0, 1, 11, 10), Err(Refusal::Acknowledged { call: 11 }));
        assert!(server.sessions.known[&1].refused.is_empty());
    }
}
