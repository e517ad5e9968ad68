//! The client's side of a session: which number a call has, and which calls have no answer yet.

use std::collections::VecDeque;

use super::{Numbered, WINDOW};

/// The calls of a session that are not acknowledged. It outlives the connections on which they are made.
#[derive(Debug)]
pub struct Outbox {
    session: u128,
    /// Every call up to this number is answered.
    acknowledged: u64,
    /// Whether they are answered, for the calls from `acknowledged + 1` on. The first is not, or there is none.
    calls: VecDeque<bool>,
}

impl Outbox {
    /// A session that has made no call. `session` has to be random: whoever guesses it can read the session's answers.
    pub fn new(session: u128) -> Self {
        Self { session, acknowledged: 0, calls: VecDeque::new() }
    }

    /// The number of a new call, or nothing while as many as may be are not acknowledged.
    pub fn begin(&mut self) -> Option<u64> {
        if self.calls.len() as u64 >= WINDOW {
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

    #[test]
    fn calls_are_acknowledged_up_to_the_first_without_an_answer() {
        let mut outbox = Outbox::new(7);
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
        let mut outbox = Outbox::new(7);
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
        let mut outbox = Outbox::new(7);
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
