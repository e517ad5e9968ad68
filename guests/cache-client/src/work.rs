//! What is still to be done, and on which server.
//!
//! Operations come in an order that the seed decides, each for the server that holds its key. One that comes before its
//! server has a free connection is kept aside, so that the others' connections go on; of those only so many.

use std::collections::VecDeque;
use std::time::Duration;

use cache::client::Ketama;

use crate::args::Settings;
use crate::keys::{self, Keys};
use crate::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Get,
    Set,
}

impl Kind {
    /// As its samples are called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Set => "set",
        }
    }
}

/// One read or write of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    pub kind: Kind,
    pub key: u32,
    /// When it is due, since the work began; `None` as soon as there is a free connection.
    pub due: Option<Duration>,
}

/// Operations that are kept aside, for each server.
const ASIDE: usize = 1024;

pub struct Work {
    source: Source,
    /// Between two operations' due times.
    pace: Option<Duration>,
    drawn: u64,
    servers: Ketama,
    /// By server.
    aside: Vec<VecDeque<Operation>>,
    name: Vec<u8>,
}

/// Where operations come from.
enum Source {
    /// Every key is written once.
    Preload { next: u32, keys: u32 },
    /// Reads and writes, so many of each, in random order.
    Mixed { reads: u64, writes: u64, keys: Keys, random: Random },
}

impl Work {
    /// A write of every key.
    pub fn preload(settings: &Settings) -> Self {
        Self::new(settings, Source::Preload { next: 0, keys: settings.keys }, None)
    }

    /// The reads and writes.
    pub fn mixed(settings: &Settings, seed: u64) -> Self {
        let keys = Keys::new(settings.keys, settings.distribution);
        let random = Random::new(seed);
        let source = Source::Mixed { reads: settings.reads, writes: settings.writes, keys, random };
        Self::new(settings, source, settings.pace)
    }

    fn new(settings: &Settings, source: Source, pace: Option<Duration>) -> Self {
        let named = settings.servers.iter().map(|server| (server.host.as_str(), server.port));
        let servers = Ketama::new(settings.circle, named);
        let aside = settings.servers.iter().map(|_| VecDeque::new()).collect();
        Self { source, pace, drawn: 0, servers, aside, name: Vec::new() }
    }

    /// The next operation for a server that is due by now, in time since the work began.
    pub fn next(&mut self, server: usize, now: Duration) -> Option<Operation> {
        if let Some(operation) = self.aside[server].pop_front() {
            return Some(operation);
        }
        while self.aside.iter().map(VecDeque::len).sum::<usize>() < ASIDE * self.aside.len() {
            if self.due().is_some_and(|due| due > now) {
                return None;
            }
            let operation = self.draw()?;
            let holder = self.holder(operation.key);
            if holder == server {
                return Some(operation);
            }
            self.aside[holder].push_back(operation);
        }
        None
    }

    /// Takes back an operation that was given for a server and not begun; it is the server's next again.
    pub fn put_back(&mut self, server: usize, operation: Operation) {
        self.aside[server].push_front(operation);
    }

    /// When the next that was not drawn yet is due; `None` if there is none, or it is due whenever there is room.
    pub fn due(&self) -> Option<Duration> {
        // The last of all sets no time to wait for.
        if self.source.is_empty() {
            return None;
        }
        let nanoseconds = self.pace?.as_nanos() * u128::from(self.drawn);
        Some(Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX)))
    }

    pub fn is_empty(&self) -> bool {
        self.source.is_empty() && self.aside.iter().all(VecDeque::is_empty)
    }

    fn draw(&mut self) -> Option<Operation> {
        let due = self.due();
        let (kind, key) = self.source.draw()?;
        self.drawn += 1;
        Some(Operation { kind, key, due })
    }

    fn holder(&mut self, key: u32) -> usize {
        if self.aside.len() == 1 {
            return 0;
        }
        keys::name(key, &mut self.name);
        self.servers.server(&self.name)
    }
}

impl Source {
    fn is_empty(&self) -> bool {
        match self {
            Self::Preload { next, keys } => next == keys,
            Self::Mixed { reads, writes, .. } => *reads == 0 && *writes == 0,
        }
    }

    fn draw(&mut self) -> Option<(Kind, u32)> {
        if self.is_empty() {
            return None;
        }
        match self {
            Self::Preload { next, .. } => {
                let key = *next;
                *next += 1;
                Some((Kind::Set, key))
            }
            Self::Mixed { reads, writes, keys, random } => {
                // Each order of the operations that are left is as likely as any other.
                let (kind, left) = match random.below(reads.saturating_add(*writes)) {
                    place if place < *reads => (Kind::Get, reads),
                    _ => (Kind::Set, writes),
                };
                *left -= 1;
                Some((kind, keys.draw(random)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{self, Command};

    fn settings(more: &[&str]) -> Settings {
        let args = [&["--servers", "h:1", "--reads", "300", "--writes", "200"], more].concat();
        match args::parse(wrun_guest::lexopt::Parser::from_args(args)) {
            Ok(Command::Run(settings)) => settings,
            other => panic!("{other:?}"),
        }
    }

    fn all(mut work: Work) -> Vec<Operation> {
        let operations = std::iter::from_fn(|| work.next(0, Duration::MAX)).collect();
        assert!(work.is_empty());
        operations
    }

    #[test]
    fn as_many_of_each_come_as_were_asked_for_and_in_the_seeds_order() {
        let settings = settings(&["--keys", "50"]);
        let first = all(Work::mixed(&settings, 1));
        let gets = first.iter().filter(|operation| operation.kind == Kind::Get).count();
        assert_eq!((first.len(), gets), (500, 300));
        assert!(first.iter().all(|operation| operation.key < 50 && operation.due.is_none()));
        assert_eq!(first, all(Work::mixed(&settings, 1)));
        assert_ne!(first, all(Work::mixed(&settings, 2)));
        // Mixed: neither kind waits for the other.
        let early = first[..100].iter().filter(|operation| operation.kind == Kind::Get).count();
        assert!((30..90).contains(&early), "{early}");
    }

    #[test]
    fn a_preload_writes_each_key_once() {
        let keys: Vec<u32> = all(Work::preload(&settings(&["--keys", "7"]))).iter().map(|one| one.key).collect();
        assert_eq!(keys, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn at_a_rate_nothing_comes_before_it_is_due_and_everything_keeps_its_time() {
        let mut work = Work::mixed(&settings(&["--rate", "100"]), 1);
        assert_eq!(work.next(0, Duration::ZERO).and_then(|operation| operation.due), Some(Duration::ZERO));
        assert_eq!(work.next(0, Duration::from_millis(9)), None);
        assert_eq!(work.due(), Some(Duration::from_millis(10)));
        // Late, as when all connections were busy.
        for due in [10, 20, 30] {
            let operation = work.next(0, Duration::from_millis(35)).expect("due");
            assert_eq!(operation.due, Some(Duration::from_millis(due)));
        }
        assert_eq!(work.next(0, Duration::from_millis(35)), None);
    }

    #[test]
    fn a_servers_keys_wait_for_it_while_the_others_go_on_but_only_so_many() {
        let settings = settings(&["--servers", "a:1,b:1", "--writes", "100000"]);
        let mut work = Work::mixed(&settings, 1);
        let servers = Ketama::new(settings.circle, [("a", 1), ("b", 1)]);
        let holder = |operation: &Operation| servers.server(format!("key-{}", operation.key).as_bytes());
        let of_a: Vec<Operation> = std::iter::from_fn(|| work.next(0, Duration::MAX)).collect();
        assert!(of_a.iter().all(|operation| holder(operation) == 0));
        assert_eq!(work.aside[1].len(), 2 * ASIDE);
        let of_b: Vec<Operation> = (0..2 * ASIDE).filter_map(|_| work.next(1, Duration::MAX)).collect();
        assert!(of_b.len() == 2 * ASIDE && of_b.iter().all(|operation| holder(operation) == 1));
        // And there is work again for the first, which can be put back.
        let next = work.next(0, Duration::MAX).expect("work for the first");
        work.put_back(0, next);
        assert_eq!(work.next(0, Duration::ZERO), Some(next));
        assert!(work.next(0, Duration::MAX).is_some() && !work.is_empty());
    }
}
