//! What is in hand of one direction of one socket: first on its way, then there.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use tokio::time::Instant;

use super::budget::Held;
use super::tally::{LineTally, Passage};

/// Things on their way, in the order of their times, and those that are there, in the order they came in.
pub struct Transit<T> {
    flying: BinaryHeap<Reverse<Flight<T>>>,
    landed: VecDeque<Landed<T>>,
    /// One has passed once it is taken away. Otherwise it has as it lands.
    passes_when_taken: bool,
    landed_cost: usize,
    /// Numbers make the order of those that are due at one time the order they were sent in.
    next: u64,
    held: Held,
}

/// Something that is there.
struct Landed<T> {
    item: T,
    cost: usize,
    /// Whom to tell of its passage, if that is still to come.
    passage: Option<(Arc<LineTally>, Passage)>,
}

/// Something on its way.
struct Flight<T> {
    due: Instant,
    number: u64,
    item: T,
    cost: usize,
    /// Whom to tell of its passage.
    passage: Option<(Arc<LineTally>, Passage)>,
}

impl<T> Flight<T> {
    fn key(&self) -> (Instant, u64) {
        (self.due, self.number)
    }
}

impl<T> PartialEq for Flight<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Flight<T> {}

impl<T> PartialOrd for Flight<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Flight<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<T> Transit<T> {
    /// For those that have passed when they are there.
    pub fn new(held: Held) -> Self {
        let (flying, landed) = (BinaryHeap::new(), VecDeque::new());
        Self { flying, landed, passes_when_taken: false, landed_cost: 0, next: 0, held }
    }

    /// For those that have passed when they were handed on from there, however long that takes.
    pub fn handing_on(held: Held) -> Self {
        Self { passes_when_taken: true, ..Self::new(held) }
    }

    /// Sends something on its way. `cost` is what it takes in memory, in bytes.
    pub fn send(&mut self, item: T, cost: usize, due: Instant, passage: Option<(Arc<LineTally>, Passage)>) {
        self.held.take(cost);
        let number = self.next;
        self.next += 1;
        self.flying.push(Reverse(Flight { due, number, item, cost, passage }));
    }

    /// When the next of what is on its way is due.
    pub fn next_due(&self) -> Option<Instant> {
        self.flying.peek().map(|Reverse(flight)| flight.due)
    }

    /// Lets land what is due, and says whether anything did.
    pub fn land(&mut self, now: Instant) -> bool {
        let before = self.landed.len();
        while self.next_due().is_some_and(|due| due <= now) {
            let Some(Reverse(flight)) = self.flying.pop() else { break };
            let Flight { item, cost, mut passage, .. } = flight;
            if !self.passes_when_taken
                && let Some((tally, passage)) = passage.take()
            {
                tally.passed(passage, now);
            }
            self.landed_cost += cost;
            self.landed.push_back(Landed { item, cost, passage });
        }
        self.landed.len() > before
    }

    /// The first of those that are there.
    pub fn first(&mut self) -> Option<&mut T> {
        self.landed.front_mut().map(|landed| &mut landed.item)
    }

    /// Takes the first of those that are there away.
    pub fn take(&mut self) -> Option<T> {
        let Landed { item, cost, passage } = self.landed.pop_front()?;
        if let Some((tally, passage)) = passage {
            tally.passed(passage, Instant::now());
        }
        self.landed_cost -= cost;
        self.held.give_back(cost);
        Some(item)
    }

    /// Keeps only some, wherever they are.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        let mut gone = 0;
        self.flying.retain(|Reverse(flight)| {
            let kept = keep(&flight.item);
            gone += if kept { 0 } else { flight.cost };
            kept
        });
        self.landed.retain(|Landed { item, cost, .. }| {
            let kept = keep(item);
            if !kept {
                gone += cost;
                self.landed_cost -= cost;
            }
            kept
        });
        self.held.give_back(gone);
    }

    /// Takes back what has not left the queue of its line by now, in the order it was sent in.
    pub fn recall(&mut self, now: Instant) -> Vec<T> {
        let waits = |flight: &Flight<T>| flight.passage.as_ref().is_some_and(|(_, passage)| passage.sent > now);
        if !self.flying.iter().any(|Reverse(flight)| waits(flight)) {
            return Vec::new();
        }
        let (mut recalled, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.flying).into_iter().partition(|Reverse(flight)| waits(flight));
        self.flying = kept.into();
        recalled.sort_unstable_by_key(|Reverse(flight)| flight.number);
        let take = |Reverse(flight): Reverse<Flight<T>>| {
            self.held.give_back(flight.cost);
            flight.item
        };
        recalled.into_iter().map(take).collect()
    }

    /// A sum over all, wherever they are.
    pub fn sum(&self, of: impl Fn(&T) -> u64) -> u64 {
        let flying = self.flying.iter().map(|Reverse(flight)| &flight.item);
        flying.chain(self.landed.iter().map(|landed| &landed.item)).map(of).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.flying.is_empty() && self.landed.is_empty()
    }

    /// What all that is there takes in memory.
    pub fn landed_cost(&self) -> usize {
        self.landed_cost
    }

    pub fn held(&self) -> &Held {
        &self.held
    }
}
