//! Both sides of a session, with a network between them that loses connections, and keeps some of what was on them for
//! later, to a server that has room for so many answers and forgets.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use cache_rpc::reliable::{Limits, Numbered, Outbox, Refusal, Sessions};
use proptest::prelude::*;

/// After which a session is forgotten.
const IDLE: Duration = Duration::from_secs(60);

/// What may happen next.
#[derive(Debug, Clone)]
enum Event {
    /// The client makes a call, or begins its session if that is still to be done.
    Ask,
    /// One of the messages on the connection reaches the server, whose answer is then on its way.
    Deliver(usize),
    /// One of the answers on the connection reaches the client.
    Answer(usize),
    /// The connection is lost. The server may still get what was on it, and nobody its answers.
    Cut,
    /// A message of a connection that was lost reaches the server.
    Late(usize),
    /// So much time goes by.
    Wait(Duration),
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

fn event_or_wait() -> impl Strategy<Value = Event> {
    prop_oneof![6 => event(), 1 => (1..5_u32).prop_map(|quarters| Event::Wait(IDLE / 4 * quarters))]
}

/// What a client sends.
#[derive(Debug, Clone, Copy)]
enum Message {
    Begin(u128),
    Call(Numbered),
}

/// What it is answered.
#[derive(Debug, Clone, Copy)]
enum Reply {
    Begun,
    Answer { call: u64, answer: u64 },
    Refused { call: u64, refusal: Refusal },
}

struct World {
    now: Duration,
    outbox: Outbox,
    server: Sessions<u64>,
    /// The message that begins the session is on the connection, or its answer.
    beginning: bool,
    /// How often each call was executed, by number.
    executed: HashMap<u64, u32>,
    asked: Vec<u64>,
    answered: HashSet<u64>,
    refused: HashSet<u64>,
    /// The client was told that its session is of no more use.
    over: bool,
    messages: Vec<Message>,
    replies: Vec<Reply>,
    lost: Vec<Message>,
}

impl World {
    /// In which the server has room for so many answers.
    fn new(room: usize) -> Self {
        let limits = Limits { sessions: usize::MAX, bytes: room, idle: IDLE };
        Self {
            now: Duration::ZERO,
            outbox: Outbox::new(1),
            server: Sessions::new(limits, |_| 1),
            beginning: false,
            executed: HashMap::new(),
            asked: Vec::new(),
            answered: HashSet::new(),
            refused: HashSet::new(),
            over: false,
            messages: Vec::new(),
            replies: Vec::new(),
            lost: Vec::new(),
        }
    }

    fn happens(&mut self, event: &Event) {
        match *event {
            Event::Ask => self.ask(),
            Event::Deliver(which) => {
                if let Some(message) = take(&mut self.messages, which) {
                    let reply = self.deliver(message);
                    self.replies.push(reply);
                }
            }
            Event::Answer(which) => {
                if let Some(reply) = take(&mut self.replies, which) {
                    self.take(reply);
                }
            }
            Event::Cut => {
                self.lost.append(&mut self.messages);
                self.replies.clear();
                self.beginning = false;
                self.outbox.lost();
                let again = self.asked.iter().filter(|call| !self.over && !self.is_done(**call));
                let again: Vec<_> = again.map(|call| Message::Call(self.outbox.numbered(*call))).collect();
                self.messages.extend(again);
            }
            Event::Late(which) => {
                if let Some(message) = take(&mut self.lost, which) {
                    // Refused or not: its answer goes nowhere.
                    self.deliver(message);
                }
            }
            Event::Wait(time) => self.now += time,
        }
    }

    fn ask(&mut self) {
        if self.over {
        } else if let Some(call) = self.outbox.begin() {
            self.asked.push(call);
            self.messages.push(Message::Call(self.outbox.numbered(call)));
        } else if !self.outbox.is_begun() && !self.beginning {
            self.beginning = true;
            self.messages.push(Message::Begin(self.outbox.session()));
        }
    }

    fn deliver(&mut self, message: Message) -> Reply {
        match message {
            Message::Begin(session) => {
                self.server.begin(self.now, session).expect("there is room for any number of sessions");
                Reply::Begun
            }
            Message::Call(numbered) => {
                let call = numbered.call;
                let answer = self.server.call(self.now, numbered, || {
                    *self.executed.entry(call).or_default() += 1;
                    call * 10
                });
                match answer {
                    Ok(answer) => Reply::Answer { call, answer },
                    Err(refusal) => Reply::Refused { call, refusal },
                }
            }
        }
    }

    fn take(&mut self, reply: Reply) {
        match reply {
            Reply::Begun => self.outbox.begun(),
            Reply::Answer { call, answer } => {
                assert_eq!(answer, call * 10, "the answer to another call");
                self.outbox.answered(call);
                self.answered.insert(call);
            }
            Reply::Refused { call, refusal } if refusal.is_of_the_call() => {
                self.outbox.answered(call);
                self.refused.insert(call);
            }
            Reply::Refused { .. } => self.over = true,
        }
    }

    fn is_done(&self, call: u64) -> bool {
        self.answered.contains(&call) || self.refused.contains(&call)
    }

    /// At last a connection holds, and what was lost comes later still.
    fn ends(&mut self) {
        self.happens(&Event::Cut);
        while !self.messages.is_empty() || !self.replies.is_empty() {
            self.happens(&Event::Deliver(0));
            self.happens(&Event::Answer(0));
        }
        while !self.lost.is_empty() {
            self.happens(&Event::Late(0));
        }
    }
}

fn take<T>(from: &mut Vec<T>, which: usize) -> Option<T> {
    (!from.is_empty()).then(|| from.swap_remove(which % from.len()))
}

proptest! {
    #[test]
    fn every_call_is_executed_once_and_answered_whatever_is_lost(events in prop::collection::vec(event(), 0..200)) {
        let mut world = World::new(usize::MAX);
        events.iter().for_each(|event| world.happens(event));
        world.ends();
        prop_assert!(!world.over, "a client that keeps the rules is not refused");
        prop_assert_eq!(world.answered.len(), world.asked.len());
        for call in &world.asked {
            prop_assert_eq!(world.executed.get(call), Some(&1), "call {}", call);
        }
    }

    #[test]
    fn where_there_is_little_room_every_call_is_executed_once_or_refused_and_never_executed(
        room in 1..20_usize,
        events in prop::collection::vec(event(), 0..200),
    ) {
        let mut world = World::new(room);
        events.iter().for_each(|event| world.happens(event));
        world.ends();
        prop_assert!(!world.over, "want of room is no end of a session");
        for call in &world.asked {
            prop_assert!(world.answered.contains(call) != world.refused.contains(call), "call {}", call);
            prop_assert_eq!(world.executed.contains_key(call), world.answered.contains(call), "call {}", call);
            prop_assert!(world.executed.get(call).is_none_or(|times| *times == 1), "call {}", call);
        }
    }

    #[test]
    fn no_call_is_executed_twice_however_often_its_session_is_forgotten(
        events in prop::collection::vec(event_or_wait(), 0..300),
    ) {
        let mut world = World::new(usize::MAX);
        events.iter().for_each(|event| world.happens(event));
        world.ends();
        for call in &world.asked {
            prop_assert!(world.executed.get(call).is_none_or(|times| *times == 1), "call {}", call);
            prop_assert!(world.over || world.answered.contains(call), "call {} is lost in silence", call);
            prop_assert!(world.executed.contains_key(call) || !world.answered.contains(call), "call {}", call);
        }
    }
}
