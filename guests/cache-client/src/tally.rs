//! What became of the operations: each one's sample, the counters, and the words at the end.

use std::fmt;
use std::io;
use std::time::Duration;

use cache::client::Answer;
use wrun_guest::{Sample, count};

use crate::keys;
use crate::values::Values;
use crate::wire::Moved;
use crate::work::{Kind, Operation};

/// An operation that has begun.
#[derive(Debug)]
pub struct Begun {
    pub operation: Operation,
    /// `None` for what is not measured.
    pub sample: Option<Sample>,
}

/// Counts what operations come to.
#[derive(Debug)]
pub struct Tally {
    /// What values are checked against; `None` does not check them.
    verify: bool,
    pub values: Values,
    ended: Ended,
    pub retries: u64,
    pub reconnects: u64,
    pub moved: Moved,
    told: [u64; 7],
    /// How long the reads and writes took in all.
    pub took: Duration,
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
    pub fn new(values: Values, verify: bool) -> Self {
        Self {
            verify,
            values,
            ended: Ended::default(),
            retries: 0,
            reconnects: 0,
            moved: Moved::default(),
            told: [0; 7],
            took: Duration::ZERO,
            first_failure: None,
        }
    }

    /// An operation was answered.
    pub fn answered(&mut self, begun: Begun, answer: &Answer<'_>) {
        match self.judge(begun.operation, answer) {
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
    fn judge(&mut self, operation: Operation, answer: &Answer<'_>) -> Result<fn(&mut Ended, bool) -> &mut u64, String> {
        match (operation.kind, answer) {
            (Kind::Get, Answer::Value { flags, value }) => {
                if self.verify && !self.values.is_own(operation.key, *flags, value) {
                    let length = value.len();
                    return Err(format!("a value that this run did not write for the key, of {length} bytes"));
                }
                Ok(|ended, _| &mut ended.hits)
            }
            (Kind::Get, Answer::Miss) => Ok(|ended, _| &mut ended.misses),
            (Kind::Set, Answer::Done) => {
                Ok(|ended, measured| if measured { &mut ended.writes } else { &mut ended.preloads })
            }
            (_, Answer::Refused(words)) => Err(words.to_string()),
            (kind, answer) => Err(format!("{answer:?} for an answer to a {}", kind.name())),
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
    /// When any operation failed, how many and why the first did.
    pub fn verdict(&self) -> io::Result<()> {
        match &self.first_failure {
            None => Ok(()),
            Some(first) => {
                let (failed, all) = (self.ended.errors, self.operations());
                Err(io::Error::other(format!("{failed} of {all} operations failed; the first was {first}")))
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ended { preloads, writes, hits, misses, errors } = self.ended;
        let all = self.operations() - preloads;
        write!(f, "{all} operations in {:.1?}", self.took)?;
        if !self.took.is_zero() {
            write!(f, ", {:.0} a second", all as f64 / self.took.as_secs_f64())?;
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

    fn tally(verify: bool) -> Tally {
        Tally::new(Values::new(1, 16..=16), verify)
    }

    fn get(key: u32) -> Operation {
        Operation { kind: Kind::Get, key, due: None }
    }

    #[test]
    fn an_answer_counts_for_what_it_is_and_one_of_another_kind_is_an_error() {
        let mut tally = tally(false);
        let set = Operation { kind: Kind::Set, ..get(1) };
        let value = Answer::Value { flags: 0, value: b"any" };
        for (operation, answer, good) in [
            (get(1), &value, true),
            (get(1), &Answer::Miss, true),
            (get(1), &Answer::Done, false),
            (get(1), &Answer::Refused("SERVER_ERROR busy".into()), false),
            (set, &Answer::Done, true),
            (set, &Answer::Miss, false),
            (set, &value, false),
        ] {
            assert_eq!(tally.judge(operation, answer).is_ok(), good, "{operation:?}: {answer:?}");
        }
    }
}
