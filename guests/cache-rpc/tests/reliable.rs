//! Both sides of a session, with a network between them that loses connections, and keeps some of what was on them for
//! later.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use cache_rpc::reliable::{Limits, Numbered, Outbox, Sessions};
use proptest::prelude::*;

/// What may happen next.
#[derive(Debug, Clone)]
enum Event {
    /// The client makes a call.
    Ask,
    /// One of the calls on the connection reaches the server, whose answer is then on its way.
    Deliver(usize),
    /// One of the answers on the connection reaches the client.
    Answer(usize),
    /// The connection is lost. The server may still get what was on it, and nobody its answers.
    Cut,
    /// A call of a connection that was lost reaches the server.
    Late(usize),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        5 => Just(Event::Ask),
        5 => any::<usize>().prop_map(Event::Deliver),
        4 => any::<usize>().prop_map(Event::Answer),
        1 => Just(Event::Cut),
        2 => any::<usize>().prop_map(Event::Late),
    ]
}

struct World {
    outbox: Outbox,
    server: Sessions<u64>,
    /// How often each call was executed, by number.
    executed: HashMap<u64, u32>,
    asked: Vec<u64>,
    answered: HashSet<u64>,
    calls: Vec<Numbered>,
    answers: Vec<(u64, u64)>,
    lost: Vec<Numbered>,
}

impl World {
    fn new() -> Self {
        let limits = Limits { sessions: 1, bytes: usize::MAX, idle: Duration::from_secs(1) };
        Self {
            outbox: Outbox::new(1),
            server: Sessions::new(limits, |_| 1),
            executed: HashMap::new(),
            asked: Vec::new(),
            answered: HashSet::new(),
            calls: Vec::new(),
            answers: Vec::new(),
            lost: Vec::new(),
        }
    }

    fn happens(&mut self, event: &Event) {
        match *event {
            Event::Ask => {
                if let Some(call) = self.outbox.begin() {
                    self.asked.push(call);
                    self.calls.push(self.outbox.numbered(call));
                }
            }
            Event::Deliver(which) => {
                if let Some(numbered) = take(&mut self.calls, which) {
                    let answer = self.execute(numbered).expect("a client that keeps the rules is not refused");
                    self.answers.push((numbered.call, answer));
                }
            }
            Event::Answer(which) => {
                if let Some((call, answer)) = take(&mut self.answers, which) {
                    assert_eq!(answer, call * 10, "the answer to another call");
                    self.outbox.answered(call);
                    self.answered.insert(call);
                }
            }
            Event::Cut => {
                self.lost.append(&mut self.calls);
                self.answers.clear();
                let again = self.asked.iter().filter(|call| !self.answered.contains(call));
                self.calls.extend(again.map(|call| self.outbox.numbered(*call)));
            }
            Event::Late(which) => {
                if let Some(numbered) = take(&mut self.lost, which) {
                    // Refused or not: its answer goes nowhere.
                    let _ = self.execute(numbered);
                }
            }
        }
    }

    fn execute(&mut self, numbered: Numbered) -> Option<u64> {
        let answer = self.server.call(Duration::ZERO, numbered, || {
            *self.executed.entry(numbered.call).or_default() += 1;
            numbered.call * 10
        });
        answer.ok()
    }
}

fn take<T>(from: &mut Vec<T>, which: usize) -> Option<T> {
    (!from.is_empty()).then(|| from.swap_remove(which % from.len()))
}

proptest! {
    #[test]
    fn every_call_is_executed_once_and_answered_whatever_is_lost(events in prop::collection::vec(event(), 0..200)) {
        let mut world = World::new();
        for event in &events {
            world.happens(event);
        }
        // In the end a connection holds, and what was lost comes later still.
        world.happens(&Event::Cut);
        while !world.calls.is_empty() || !world.answers.is_empty() {
            world.happens(&Event::Deliver(0));
            world.happens(&Event::Answer(0));
        }
        while !world.lost.is_empty() {
            world.happens(&Event::Late(0));
        }
        prop_assert_eq!(world.answered.len(), world.asked.len());
        for call in &world.asked {
            prop_assert_eq!(world.executed.get(call), Some(&1), "call {}", call);
        }
    }
}
