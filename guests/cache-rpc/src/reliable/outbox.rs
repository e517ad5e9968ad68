//! The client's side of a session: which number a call has, and which calls have no answer yet.

use std::collections::VecDeque;

use super::{Numbered, WINDOW};

/// The calls of a session that are not acknowledged. It outlives the connections on which they are made.
#[derive(Debug)]
pub struct Outbox {
    session: u128,
    /// Whether the server has said that the session is begun.
    begun: bool,
    /// Every call up to this number is answered.
    acknowledged: u64,
    /// Whether they are answered, for the calls from `acknowledged + 1` on. The first is not, or there is none.
    calls: VecDeque<bool>,
}

impl Outbox {
    /// A session that is not begun. `session` has to be random: whoever guesses it can read the session's answers.
    pub fn new(session: u128) -> Self {
        Self { session, begun: false, acknowledged: 0, calls: VecDeque::new() }
    }

    /// Which session it is.
    pub fn session(&self) -> u128 {
        self.session
    }

    pub fn is_begun(&self) -> bool {
        self.begun
    }

    /// The server has answered that the session is begun.
    pub fn begun(&mut self) {
        self.begun = true;
    }

    /// The connection is lost. A session that is not known to be begun becomes another: its beginning may still be on its
    /// way, and must never be sent twice.
    pub fn lost(&mut self) {
        if !self.begun {
            // As hard to guess as the one before.
            self.session = self.session.wrapping_add(1);
        }
    }

    /// The number of a new call; nothing before the session is begun, or while as many as may be are not acknowledged.
    pub fn begin(&mut self) -> Option<u64> {
        if !self.begun || self.calls.len() as u64 >= WINDOW {
            return None;
        }
        self.calls.push_back(false);
        Some(self.acknowledged + self.calls.len() as u64)
    }

    /// What is to be sent with a call, the first time and every other.
    pub fn numbered(&self, call: u64) -> Numbered {
        Numbered { session: self.session, call, acknowledged: self.acknowledged }
    }

    /// The client has the answer to `call`. A number that was never given, or that was answered before, changes nothing.
    pub fn answered(&mut self, call: u64) {
        let place = call.checked_sub(self.acknowledged + 1).and_then(|place| usize::try_from(place).ok());
        if let Some(answered) = place.and_then(|place| self.calls.get_mut(place)) {
            *answered = true;
        }
        while self.calls.pop_front_if(|answered| *answered).is_some() {
            self.acknowledged += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun() -> Outbox {
        let mut outbox = Outbox::new(7);
        outbox.begun();
        outbox
    }

    #[test]
    fn a_session_has_no_calls_before_it_is_begun_and_is_another_when_that_was_lost() {
        let mut outbox = Outbox::new(u128::MAX);
        assert_eq!(outbox.begin(), None);
        outbox.lost();
        assert_eq!((outbox.session(), outbox.is_begun()), (0, false));
        outbox.begun();
        outbox.lost();
        assert_eq!((outbox.session(), outbox.begin()), (0, Some(1)));
    }

    #[test]
    fn calls_are_acknowledged_up_to_the_first_without_an_answer() {
        let mut outbox = begun();
        let calls = [(); 3].map(|()| outbox.begin().expect("the window is wide"));
        assert_eq!(calls, [1, 2, 3]);
        outbox.answered(2);
        assert_eq!(outbox.numbered(3), Numbered { session: 7, call: 3, acknowledged: 0 });
        outbox.answered(1);
        assert_eq!(outbox.numbered(3).acknowledged, 2);
        assert_eq!(outbox.begin(), Some(4));
    }

    #[test]
    fn a_full_window_gives_no_number_until_its_first_call_is_answered() {
        let mut outbox = begun();
        assert!((1..=WINDOW).all(|call| outbox.begin() == Some(call)));
        assert_eq!(outbox.begin(), None);
        outbox.answered(2);
        assert_eq!(outbox.begin(), None);
        outbox.answered(1);
        assert_eq!(outbox.begin(), Some(WINDOW + 1));
        assert_eq!(outbox.begin(), Some(WINDOW + 2));
        assert_eq!(outbox.begin(), None);
    }

    #[test]
    fn an_answer_to_no_call_changes_nothing() {
        let mut outbox = begun();
        assert_eq!(outbox.begin(), Some(1));
        for call in [0, 2, u64::MAX] {
            outbox.answered(call);
        }
        assert_eq!(outbox.numbered(1).acknowledged, 0);
        outbox.answered(1);
        outbox.answered(1);
        assert_eq!(outbox.begin(), Some(2));
    }
}
