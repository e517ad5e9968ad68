//! Which versions of a key a read may still see, with writes under way on several connections at once.
//!
//! Writes of one key that overlap may be executed in any order, so they count together, as a burst: from a write that
//! begins when none is under way until none is any more. Once one of a burst is acknowledged, what was there before the
//! burst is overwritten for good: all writes before it had ended when it began. So a read that begins after that sees the
//! burst's first version or a later one.
//!
//! A write that failed without an answer may be executed at any time, so it stays under way, and its burst never ends.
//!
//! Left out: which of a burst's versions is the last, which nobody here can know; the order of two reads.

use std::collections::HashMap;

/// The most keys that can be kept: 128 MiB.
pub const MOST_KEYS: u32 = 16 << 20;

/// What is known of the writes of all keys. A version is a number that grows with each write, from 1.
#[derive(Debug)]
pub struct History {
    /// By key, the oldest version that a read which begins now may see; 0 while no write was acknowledged.
    oldest: Vec<u64>,
    /// By key.
    bursts: HashMap<u32, Burst>,
}

#[derive(Debug)]
struct Burst {
    first: u64,
    under_way: u64,
}

impl History {
    /// Of so many keys, at most [`MOST_KEYS`].
    pub fn new(keys: u32) -> Self {
        Self { oldest: vec![0; keys as usize], bursts: HashMap::new() }
    }

    /// A write of a version begins.
    pub fn write(&mut self, key: u32, version: u64) {
        self.bursts.entry(key).or_insert(Burst { first: version, under_way: 0 }).under_way += 1;
    }

    /// A write was answered: it was executed, or it was refused and will not be. One that was not answered is none of these.
    pub fn answered(&mut self, key: u32, executed: bool) {
        let Some(burst) = self.bursts.get_mut(&key) else { return };
        if executed {
            self.oldest[key as usize] = burst.first;
        }
        burst.under_way -= 1;
        if burst.under_way == 0 {
            self.bursts.remove(&key);
        }
    }

    /// The oldest version of a key that a read may see which begins now; 0 for any.
    pub fn oldest(&self, key: u32) -> u64 {
        self.oldest[key as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_write_that_was_acknowledged_makes_every_one_before_it_too_old() {
        let mut history = History::new(2);
        for version in 1..=3 {
            history.write(1, version);
            assert_eq!(history.oldest(1), version - 1, "until it is acknowledged");
            history.answered(1, true);
            assert_eq!(history.oldest(1), version);
        }
        assert_eq!(history.oldest(0), 0, "another key");
        assert!(history.bursts.is_empty());
    }

    #[test]
    fn writes_that_overlap_may_be_executed_in_any_order() {
        let mut history = History::new(1);
        for version in 1..=3 {
            history.write(0, version);
        }
        for _ in 0..3 {
            history.answered(0, true);
            assert_eq!(history.oldest(0), 1, "the first may be the last to be executed");
        }
        history.write(0, 4);
        history.answered(0, true);
        assert_eq!(history.oldest(0), 4);
    }

    #[test]
    fn a_write_that_was_refused_is_over_and_one_without_an_answer_never() {
        let mut history = History::new(1);
        history.write(0, 1);
        history.answered(0, true);
        history.write(0, 2);
        history.answered(0, false);
        assert_eq!(history.oldest(0), 1, "what was refused overwrote nothing");
        // The third gets no answer.
        for version in 3..=5 {
            history.write(0, version);
        }
        for _ in 4..=5 {
            history.answered(0, true);
            assert_eq!(history.oldest(0), 3, "it may still come");
        }
        history.write(0, 6);
        history.answered(0, true);
        assert_eq!(history.oldest(0), 3);
    }

    /// What may happen to one of the operations that are under way.
    #[derive(Debug, Clone)]
    enum Step {
        Write,
        Read,
        /// The server executes, of what is under way, the one at this place.
        Execute(prop::sample::Index),
        /// What was executed, or is refused, is answered.
        Answer(prop::sample::Index),
        /// The client gives it up; it may still be executed.
        Lose(prop::sample::Index),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            2 => Just(Step::Write),
            2 => Just(Step::Read),
            4 => any::<prop::sample::Index>().prop_map(Step::Execute),
            4 => any::<prop::sample::Index>().prop_map(Step::Answer),
            1 => any::<prop::sample::Index>().prop_map(Step::Lose),
        ]
    }

    /// An operation on its way: a read's oldest version, or a write's own, and what the server has made of it.
    #[derive(Debug)]
    struct UnderWay {
        oldest: Option<u64>,
        version: Option<u64>,
        executed: bool,
        lost: bool,
    }

    proptest! {
        /// Against a server that is a single value and executes what is under way in any order.
        #[test]
        fn no_right_server_is_ever_accused(steps in prop::collection::vec(step(), 0..200)) {
            let (mut history, mut value, mut next) = (History::new(1), 0, 0);
            let mut under_way: Vec<UnderWay> = Vec::new();
            for step in steps {
                match step {
                    Step::Write => {
                        next += 1;
                        history.write(0, next);
                        under_way.push(UnderWay { oldest: None, version: Some(next), executed: false, lost: false });
                    }
                    Step::Read => {
                        let oldest = Some(history.oldest(0));
                        under_way.push(UnderWay { oldest, version: None, executed: false, lost: false });
                    }
                    _ if under_way.is_empty() => {}
                    Step::Execute(place) => {
                        let one = place.index(under_way.len());
                        let one = &mut under_way[one];
                        if !one.executed {
                            one.executed = true;
                            value = one.version.unwrap_or(value);
                            prop_assert!(one.oldest.is_none_or(|oldest| oldest <= value), "{one:?} {value}");
                        }
                    }
                    Step::Answer(place) => {
                        let place = place.index(under_way.len());
                        if !under_way[place].lost {
                            let one = under_way.swap_remove(place);
                            if one.version.is_some() {
                                history.answered(0, one.executed);
                            }
                        }
                    }
                    Step::Lose(place) => {
                        let place = place.index(under_way.len());
                        under_way[place].lost = true;
                    }
                }
            }
        }
    }
}
