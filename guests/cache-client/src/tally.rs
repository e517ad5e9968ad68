//! What became of the operations: each one's sample, the counters, and the words at the end.

use std::fmt;
use std::io;
use std::time::Duration;

use cache::client::Answer;
use wrun_guest::{Sample, count};

use crate::history::History;
use crate::keys;
use crate::values::{Values, flags};
use crate::wire::Moved;
use crate::work::{Kind, Operation};

/// An operation that has begun.
#[derive(Debug)]
pub struct Begun {
    pub operation: Operation,
    /// Of a read that is checked, the oldest version it may see; 0 for any.
    pub oldest: u64,
    /// `None` for what is not measured.
    pub sample: Option<Sample>,
}

/// Counts what operations come to.
#[derive(Debug)]
pub struct Tally {
    values: Values,
    /// What reads are checked against; `None` does not check them.
    history: Option<History>,
    ended: Ended,
    pub retries: u64,
    pub reconnects: u64,
    pub moved: Moved,
    told: [u64; 7],
    /// How long the reads and writes took in all.
    pub took: Duration,
    /// Which connections were given up, in words: then fewer were measured than was asked for.
    pub given_up: Option<String>,
    first_failure: Option<String>,
}

/// Operations that have ended.
#[derive(Debug, Default)]
struct Ended {
    preloads: u64,
    writes: u64,
    hits: u64,
    misses: u64,
    /// Reads, writes and preloads that went wrong.
    errors: u64,
}

/// Operations between two times that the counters are told: they cost a call of the host each, and a run that is killed
/// lacks no more than that.
const TOLD_EVERY: u64 = 512;

impl Tally {
    pub fn new(values: Values, history: Option<History>) -> Self {
        Self {
            values,
            history,
            ended: Ended::default(),
            retries: 0,
            reconnects: 0,
            moved: Moved::default(),
            told: [0; 7],
            took: Duration::ZERO,
            given_up: None,
            first_failure: None,
        }
    }

    /// The oldest version of a key that a read may see which begins now; 0 for any.
    pub fn oldest(&self, key: u32) -> u64 {
        self.history.as_ref().map_or(0, |history| history.oldest(key))
    }

    /// A write begins: puts its value over what was in `value`, and gives the flags.
    pub fn write(&mut self, key: u32, value: &mut Vec<u8>) -> u32 {
        let version = self.values.next(key, value);
        if let Some(history) = &mut self.history {
            history.write(key, version);
        }
        flags(version)
    }

    /// An operation was answered.
    pub fn answered(&mut self, begun: Begun, answer: &Answer<'_>) {
        match self.judge(&begun, answer) {
            Ok(count) => {
                *count(&mut self.ended, begun.sample.is_some()) += 1;
                if let Some(sample) = begun.sample {
                    sample.finish();
                }
                self.ended();
            }
            Err(why) => self.failed(begun, &why),
        }
    }

    /// An operation went wrong, for this reason.
    pub fn failed(&mut self, begun: Begun, why: &str) {
        self.ended.errors += 1;
        let Operation { kind, key, .. } = begun.operation;
        self.first_failure.get_or_insert_with(|| {
            let mut name = Vec::new();
            keys::name(key, &mut name);
            format!("{} {}: {why}", kind.name(), String::from_utf8_lossy(&name))
        });
        if let Some(sample) = begun.sample {
            sample.fail(why);
        }
        self.ended();
    }

    /// Where an answer is counted, or why it is none.
    fn judge(&mut self, begun: &Begun, answer: &Answer<'_>) -> Result<fn(&mut Ended, bool) -> &mut u64, String> {
        let Operation { kind, key, .. } = begun.operation;
        match (kind, answer) {
            (Kind::Get, Answer::Value { flags, value }) => {
                if self.history.is_some() {
                    self.check(begun, *flags, value)?;
                }
                Ok(|ended, _| &mut ended.hits)
            }
            (Kind::Get, Answer::Miss) => Ok(|ended, _| &mut ended.misses),
            (Kind::Set, Answer::Done) => {
                self.wrote(key, true);
                Ok(|ended, measured| if measured { &mut ended.writes } else { &mut ended.preloads })
            }
            (kind, Answer::Refused(words)) => {
                if kind == Kind::Set {
                    self.wrote(key, false);
                }
                Err(words.to_string())
            }
            (kind, answer) => Err(format!("{answer:?} for an answer to a {}", kind.name())),
        }
    }

    /// Whether a value is one that this run wrote and that a read may see.
    fn check(&mut self, begun: &Begun, flags: u32, value: &[u8]) -> Result<(), String> {
        match self.values.version(begun.operation.key, flags, value) {
            None => Err(format!("a value that this run did not write for the key, of {} bytes", value.len())),
            Some(version) if version < begun.oldest => {
                let oldest = begun.oldest;
                Err(format!(
                    "an old value: write {version}, though write {oldest} was acknowledged before this read began"
                ))
            }
            Some(_) => Ok(()),
        }
    }

    fn wrote(&mut self, key: u32, executed: bool) {
        if let Some(history) = &mut self.history {
            history.answered(key, executed);
        }
    }

    fn ended(&mut self) {
        if self.operations().is_multiple_of(TOLD_EVERY) {
            self.tell();
        }
    }

    /// How many have ended, well or not.
    pub fn operations(&self) -> u64 {
        let Ended { preloads, writes, hits, misses, errors } = self.ended;
        preloads + writes + hits + misses + errors
    }

    pub fn errors(&self) -> u64 {
        self.ended.errors
    }

    /// Brings the report's counters up to date.
    pub fn tell(&mut self) {
        let Self { ended, moved, .. } = &*self;
        let now = [
            ("hits", ended.hits),
            ("misses", ended.misses),
            ("errors", ended.errors),
            ("retries", self.retries),
            ("reconnects", self.reconnects),
            ("bytes-sent", moved.sent),
            ("bytes-received", moved.received),
        ];
        for ((name, total), told) in now.into_iter().zip(&mut self.told) {
            count(name, total - *told);
            *told = total;
        }
    }

    /// # Errors
    /// When any operation failed, how many and why the first did; when connections were given up, how many and why.
    pub fn verdict(&self) -> io::Result<()> {
        match (&self.first_failure, &self.given_up) {
            (None, None) => Ok(()),
            (Some(first), _) => {
                let (failed, all) = (self.ended.errors, self.operations());
                Err(io::Error::other(format!("{failed} of {all} operations failed; the first was {first}")))
            }
            (None, Some(words)) => Err(io::Error::other(format!("{words}; the others did it all"))),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ended { preloads, writes, hits, misses, errors } = self.ended;
        let well = writes + hits + misses;
        write!(f, "{} operations in {:.1?}", self.operations() - preloads, self.took)?;
        // What failed may have cost no time at all.
        if !self.took.is_zero() {
            let of_them = if errors > 0 { format!("{well} went well, ") } else { String::new() };
            write!(f, ", {of_them}{:.0} a second", well as f64 / self.took.as_secs_f64())?;
        }
        write!(f, "\n{writes} writes, {} reads: {hits} hits, {misses} misses", hits + misses)?;
        if preloads > 0 {
            write!(f, "; {preloads} preloaded")?;
        }
        write!(f, "\n{errors} errors, {} reconnects", self.reconnects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(history: Option<History>) -> Tally {
        Tally::new(Values::new(1, 2, 16..=16), history)
    }

    fn begun(kind: Kind, oldest: u64) -> Begun {
        Begun { operation: Operation { kind, key: 1, due: None }, oldest, sample: None }
    }

    #[test]
    fn an_answer_counts_for_what_it_is_and_one_of_another_kind_is_an_error() {
        let mut tally = tally(None);
        let (get, set) = (Kind::Get, Kind::Set);
        let value = Answer::Value { flags: 0, value: b"any" };
        for (kind, answer, good) in [
            (get, &value, true),
            (get, &Answer::Miss, true),
            (get, &Answer::Done, false),
            (get, &Answer::Refused("SERVER_ERROR busy".into()), false),
            (set, &Answer::Done, true),
            (set, &Answer::Miss, false),
            (set, &value, false),
        ] {
            assert_eq!(tally.judge(&begun(kind, 0), answer).is_ok(), good, "{kind:?}: {answer:?}");
        }
    }

    #[test]
    fn what_failed_is_no_throughput_and_a_connection_that_was_given_up_is_a_failure() {
        let mut tally = tally(None);
        tally.took = Duration::from_secs(2);
        tally.answered(begun(Kind::Get, 0), &Answer::Miss);
        tally.answered(begun(Kind::Get, 0), &Answer::Miss);
        assert!(tally.to_string().starts_with("2 operations in 2.0s, 1 a second\n"), "{tally}");
        assert!(tally.verdict().is_ok());
        tally.given_up = Some("1 of 2 connections were given up, one because: refused".to_owned());
        assert!(tally.verdict().unwrap_err().to_string().starts_with("1 of 2 connections were given up"));
        tally.failed(begun(Kind::Get, 0), "refused");
        tally.failed(begun(Kind::Get, 0), "refused");
        assert!(tally.to_string().starts_with("4 operations in 2.0s, 2 went well, 1 a second\n"), "{tally}");
        assert!(tally.verdict().unwrap_err().to_string().starts_with("2 of 4 operations failed"));
    }

    #[test]
    fn a_read_that_began_after_a_write_was_acknowledged_does_not_pass_with_what_was_there_before() {
        let mut tally = tally(Some(History::new(2)));
        let mut values = [Vec::new(), Vec::new()];
        let flags = values.each_mut().map(|value| {
            let flags = tally.write(1, value);
            assert!(tally.judge(&begun(Kind::Set, 0), &Answer::Done).is_ok());
            flags
        });
        let oldest = tally.oldest(1);
        let [old, new] = [0, 1].map(|place| Answer::Value { flags: flags[place], value: &values[place] });
        let refused = tally.judge(&begun(Kind::Get, oldest), &old).expect_err("an old value");
        assert!(refused.contains("an old value: write 1, though write 2"), "{refused}");
        assert!(tally.judge(&begun(Kind::Get, oldest), &new).is_ok());
        assert!(tally.judge(&begun(Kind::Get, 1), &old).is_ok(), "it began before");
    }
}
