//! The wire against a plain simulation of it: a queue that is served millisecond by millisecond.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::kit::{ms, rate, rule};
use crate::shape::profile::{OPPORTUNITY, Path, Rate, Trace};
use crate::shape::rate::Wire;
use crate::shape::schedule::Schedule;

/// What is carried during a regime, in whole bytes a millisecond.
#[derive(Debug, Clone)]
enum Carries {
    All,
    Nothing,
    Steadily(u64),
    Trace(Vec<u64>),
}

impl Carries {
    fn path(&self) -> Path {
        match self {
            Self::All => Path::default(),
            Self::Nothing => Path { offline: true, ..Path::default() },
            Self::Steadily(bytes) => rate(bytes * 1000),
            Self::Trace(times) => {
                Path { rate: Some(Rate::Trace(Trace { milliseconds: times.clone() })), ..Path::default() }
            }
        }
    }

    /// Bytes that may go in the millisecond that begins this long after the turn, and whether all go at its beginning.
    fn within(&self, since: u64) -> (u64, bool) {
        match self {
            Self::All => (u64::MAX, true),
            Self::Nothing => (0, true),
            Self::Steadily(bytes) => (*bytes, false),
            Self::Trace(times) => {
                let period = times[times.len() - 1];
                // A repetition ends where the next begins, so that two may have one at the same time.
                let repetitions = (since / period).saturating_sub(1)..=since / period;
                let count = repetitions.flat_map(|turn| times.iter().map(move |at| turn * period + at));
                (count.filter(|&at| at == since).count() as u64 * OPPORTUNITY, true)
            }
        }
    }
}

fn carries() -> impl Strategy<Value = Carries> {
    let times = prop::collection::vec(0..20_u64, 0..6);
    let trace = (times, 1..25_u64).prop_map(|(mut times, last)| {
        times.retain(|&at| at <= last);
        times.sort_unstable();
        times.push(last);
        Carries::Trace(times)
    });
    prop_oneof![
        1 => Just(Carries::All),
        1 => Just(Carries::Nothing),
        3 => (1..3000_u64).prop_map(Carries::Steadily),
        3 => trace,
    ]
}

/// The milliseconds in which the last byte of each goes: the first and the last moment that are possible. `None` for
/// what has not gone when the simulation ends.
fn simulate(regimes: &[(u64, Carries)], sent: &[(u64, u64)], lasts: u64) -> Vec<Option<(u64, u64)>> {
    let mut gone = Vec::new();
    let mut sent = sent.iter().peekable();
    let mut queue = VecDeque::new();
    let cycle: u64 = regimes.iter().map(|(lasts, _)| lasts).sum();
    for now in 0..lasts {
        while let Some(&(_, bytes)) = sent.next_if(|&&(at, _)| at <= now) {
            queue.push_back(bytes);
        }
        let mut since = if regimes.len() == 1 { now } else { now % cycle };
        let turn = regimes.iter().find(|(lasts, _)| {
            let is_now = regimes.len() == 1 || since < *lasts;
            since -= if is_now { 0 } else { *lasts };
            is_now
        });
        let (mut left, at_once) = turn.expect("a cycle is all of its turns").1.within(since);
        while let Some(bytes) = queue.front_mut() {
            let goes = left.min(*bytes);
            (left, *bytes) = (left - goes, *bytes - goes);
            if *bytes > 0 {
                break;
            }
            queue.pop_front();
            gone.push(Some(if at_once { (now, now) } else { (now, now + 1) }));
        }
    }
    gone.resize(gone.len() + queue.len() + sent.count(), None);
    gone
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_wire_lets_go_what_a_simulation_does_when_it_does(
        regimes in prop::collection::vec((1..40_u64, carries()), 1..5),
        sent in prop::collection::vec((0..60_u64, 1..9000_u64), 1..30),
    ) {
        const LASTS: u64 = 5000;
        let mut now = 0;
        let sent: Vec<(u64, u64)> = sent.into_iter().map(|(after, bytes)| { now += after; (now, bytes) }).collect();
        let paths: Vec<Path> = regimes.iter().map(|(_, carries)| carries.path()).collect();
        let lasts = regimes.iter().map(|(lasts, _)| ms(*lasts));
        let schedule = Schedule::new(&rule(lasts.zip(paths.clone())).regimes);
        let mut wire = Wire::new(schedule, &paths);
        for ((at, bytes), simulated) in sent.iter().zip(simulate(&regimes, &sent, LASTS)) {
            let departs = wire.carry(ms(*at), *bytes);
            match simulated {
                Some((from, to)) => {
                    let departs = departs.expect("what goes in the simulation goes");
                    prop_assert!(
                        (ms(from)..=ms(to)).contains(&departs),
                        "{} bytes at {} ms go at {:?}, in the simulation from {} to {} ms", bytes, at, departs, from, to
                    );
                }
                None => prop_assert!(departs.is_none_or(|departs| departs >= ms(LASTS)), "{:?}", departs),
            }
        }
    }
}
