//! The bytes of one direction of a connection that are in hand: held back, on their way, and there.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::time::Instant;

use crate::error::Error;
use crate::throttled::budget::Held;
use crate::throttled::tally::{LineTally, Passage};

/// Everything stands in one row: first the bytes that are there, then those on their way, then those held back.
pub struct Pipe {
    bytes: VecDeque<u8>,
    /// How many of the bytes are there.
    there: usize,
    /// How many of the bytes are on their way.
    flying: usize,
    marks: VecDeque<Mark>,
    /// What is behind the bytes that are there.
    ending: Option<Ending>,
    held: Held,
}

/// Something on its way. Marks are in the order of their times.
struct Mark {
    due: Instant,
    what: What,
    /// Whom to tell of its passage.
    passage: Option<(Arc<LineTally>, Passage)>,
}

enum What {
    Bytes(usize),
    Ending(Ending),
}

/// How a direction ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// No more is sent.
    Finished,
    Failed(Error),
}

/// What is in hand beyond this, when it is empty again, is not worth keeping.
const SPARE: usize = 1 << 20;

/// What a mark costs besides its bytes, so that many small ones are bounded too.
const OVERHEAD: usize = size_of::<Mark>();

impl Pipe {
    pub fn new(held: Held) -> Self {
        Self { bytes: VecDeque::new(), there: 0, flying: 0, marks: VecDeque::new(), ending: None, held }
    }

    /// Takes bytes in, to be held back until they are sent.
    pub fn take_in(&mut self, data: &[u8]) {
        self.held.take(data.len());
        self.bytes.extend(data);
    }

    /// Sends the first of the bytes that are held back on their way. Answers when they are really due: never before what
    /// was sent earlier.
    pub fn send(&mut self, count: usize, due: Instant, passage: Option<(Arc<LineTally>, Passage)>) {
        let count = count.min(self.held_back());
        self.flying += count;
        self.mark(due, What::Bytes(count), passage);
    }

    /// Sends an end on its way, behind all bytes.
    pub fn end(&mut self, ending: Ending, due: Instant) {
        self.mark(due, What::Ending(ending), None);
    }

    fn mark(&mut self, due: Instant, what: What, passage: Option<(Arc<LineTally>, Passage)>) {
        let in_order = self.marks.back().map_or(due, |last| last.due.max(due));
        // Waiting for its turn is no part of its own delay.
        let later = in_order - due;
        let passage = passage.map(|(tally, passage)| {
            let (handed, sent) = (passage.handed + later, passage.sent + later);
            (tally, Passage { handed, sent, due: in_order, ..passage })
        });
        self.held.take(OVERHEAD);
        self.marks.push_back(Mark { due: in_order, what, passage });
    }

    pub fn next_due(&self) -> Option<Instant> {
        self.marks.front().map(|mark| mark.due)
    }

    /// Lets land what is due, and says whether anything did.
    pub fn land(&mut self, now: Instant) -> bool {
        let mut landed = false;
        while self.next_due().is_some_and(|due| due <= now) {
            let Some(mark) = self.marks.pop_front() else { break };
            self.held.give_back(OVERHEAD);
            match mark.what {
                What::Bytes(count) => {
                    self.there += count;
                    self.flying -= count;
                }
                What::Ending(ending) => self.ending = Some(ending),
            }
            if let Some((tally, passage)) = mark.passage {
                tally.passed(passage, now);
            }
            landed = true;
        }
        landed
    }

    /// Takes back what has not left the queue of its line by now, to be sent again on other terms: the bytes are held
    /// back again. Answers with what was behind them.
    pub fn recall(&mut self, now: Instant) -> Option<Ending> {
        let mut ending = None;
        let waits = |mark: &Mark| match (&mark.what, &mark.passage) {
            (What::Bytes(_), Some((_, passage))) => passage.sent > now,
            (What::Bytes(_), None) => false,
            // An end leaves right behind the bytes.
            (What::Ending(_), _) => true,
        };
        while let Some(mark) = self.marks.pop_back_if(|mark| waits(mark)) {
            self.held.give_back(OVERHEAD);
            match mark.what {
                What::Bytes(count) => self.flying -= count,
                What::Ending(behind) => ending = Some(behind),
            }
        }
        ending
    }

    /// Moves bytes that are there into a buffer, at most as many as fit.
    pub fn read(&mut self, buffer: &mut [u8]) -> usize {
        let count = self.there.min(buffer.len());
        let (front, back) = self.bytes.as_slices();
        let first = front.len().min(count);
        buffer[..first].copy_from_slice(&front[..first]);
        buffer[first..count].copy_from_slice(&back[..count - first]);
        self.consume(count);
        count
    }

    /// Some of the bytes that are there.
    pub fn front(&self) -> &[u8] {
        let (front, _) = self.bytes.as_slices();
        &front[..front.len().min(self.there)]
    }

    /// Drops the first of the bytes that are there.
    pub fn consume(&mut self, count: usize) {
        let count = count.min(self.there);
        self.bytes.drain(..count);
        self.there -= count;
        self.held.give_back(count);
        if self.bytes.is_empty() && self.bytes.capacity() > SPARE {
            self.bytes = VecDeque::new();
        }
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.held.give_back(self.bytes.len() + self.marks.len() * OVERHEAD);
        self.bytes = VecDeque::new();
        self.marks.clear();
        (self.there, self.flying) = (0, 0);
    }

    pub fn there(&self) -> usize {
        self.there
    }

    /// Bytes that nobody has sent on their way yet.
    pub fn held_back(&self) -> usize {
        self.bytes.len() - self.there - self.flying
    }

    pub fn in_hand(&self) -> usize {
        self.bytes.len()
    }

    /// Nothing is on its way or held back.
    pub fn is_still(&self) -> bool {
        self.marks.is_empty() && self.held_back() == 0
    }

    /// How it ended, once all bytes before have been taken.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref().filter(|_| self.there == 0)
    }

    pub fn set_ending(&mut self, ending: Ending) {
        self.ending = Some(ending);
    }

    /// Bytes that it may take in yet.
    pub fn room(&self) -> usize {
        self.held.room()
    }
}
