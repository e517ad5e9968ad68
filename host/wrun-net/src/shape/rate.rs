//! When a rate lets bytes go.
//!
//! The model is a wire that carries one thing after another: `next_free = max(now, next_free) + bytes / rate`. It starts
//! idle and saves nothing up, so that no second carries more than the rate and the one thing that was under way as it
//! began. Where the rate changes on the way, as regimes take turns, each part of a thing is carried at the rate of its
//! time.
//!
//! Work is counted in whole billionths of a byte, which is what one byte a second carries in a nanosecond, so that
//! nothing is ever rounded away: the unused part of the last nanosecond is the next thing's, if that waits already.

use std::time::Duration;

use super::nanos::{nanos, saturated};
use super::profile::{OPPORTUNITY, Path, Rate};
use super::schedule::Schedule;
use super::trace::Opportunities;

/// Billionths of a byte.
type Work = u128;

const WORK_A_BYTE: Work = 1_000_000_000;
const WORK_AN_OPPORTUNITY: Work = OPPORTUNITY as Work * WORK_A_BYTE;

/// A wire that all who send share.
#[derive(Debug, Clone)]
pub struct Wire {
    schedule: Schedule,
    /// One for each regime.
    flows: Vec<Flow>,
    /// What all regimes together carry in one cycle of the schedule.
    cycle: Work,
    free: Cursor,
}

/// What a wire carries during a regime.
#[derive(Debug, Clone)]
enum Flow {
    /// Anything, at once.
    Open,
    Shut,
    /// Bytes a second, which is [`Work`] a nanosecond.
    Constant(u64),
    /// The trace starts with each turn of its regime.
    Trace(Opportunities),
}

/// How far the wire is.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    /// Nanoseconds since the start of the run at which all it has taken on has gone.
    at: u64,
    /// What it can still carry at that moment.
    credit: Work,
    /// Opportunities of the trace that are used, of the turn that `at` is in.
    used: u64,
}

impl Wire {
    /// A wire for the same direction of all regimes of a rule.
    pub fn new<'a>(schedule: Schedule, paths: impl IntoIterator<Item = &'a Path>) -> Self {
        let flows: Vec<Flow> = paths.into_iter().map(Flow::new).collect();
        let works = flows.iter().enumerate().map(|(regime, flow)| flow.carries(schedule.lasts(regime)));
        let cycle = works.fold(0, Work::saturating_add);
        Self { schedule, flows, cycle, free: Cursor::default() }
    }

    /// Puts bytes on the wire and says when the last of them goes. `None`: never, and the wire is as it was.
    pub fn carry(&mut self, now: Duration, bytes: u64) -> Option<Duration> {
        let now = nanos(now);
        // Whatever the wire could have carried while nobody was there is lost.
        let start = if now > self.free.at { Cursor { at: now, ..Cursor::default() } } else { self.free };
        self.free = self.run(start, Work::from(bytes) * WORK_A_BYTE)?;
        Some(Duration::from_nanos(self.free.at))
    }

    /// From when on the wire is free for who comes at `now`.
    pub fn free(&self, now: Duration) -> Duration {
        now.max(Duration::from_nanos(self.free.at))
    }

    /// Bytes a second at a time, on average where they follow a trace. `None`: there is no limit; zero: nothing passes.
    pub fn rate(&self, now: Duration) -> Option<f64> {
        match &self.flows[self.schedule.turn(now).regime] {
            Flow::Open => None,
            Flow::Shut => Some(0.0),
            Flow::Constant(rate) => Some(*rate as f64),
            Flow::Trace(opportunities) => Some(opportunities.a_second() * OPPORTUNITY as f64),
        }
    }

    /// Where the wire is after this work, from a cursor on.
    fn run(&self, from: Cursor, work: Work) -> Option<Cursor> {
        let flow = &self.flows[self.schedule.turn(Duration::from_nanos(from.at)).regime];
        if work <= from.credit && !matches!(flow, Flow::Shut) {
            return Some(Cursor { credit: from.credit - work, ..from });
        }
        let mut left = work.saturating_sub(from.credit);
        let Cursor { mut at, mut used, .. } = from;
        loop {
            let turn = self.schedule.turn(Duration::from_nanos(at));
            let begins = nanos(turn.begins);
            let ends = turn.ends.map(nanos);
            let flow = &self.flows[turn.regime];
            let done = flow.run(at - begins, used, left);
            let done = done.map(|done| Cursor { at: begins.saturating_add(done.at), ..done });
            match (done, ends) {
                (Some(done), None) => return Some(done),
                (Some(done), Some(ends)) if flow.fits(done.at, ends) => return Some(done),
                (_, None) => return None,
                (_, Some(ends)) => {
                    left -= flow.carries(ends - begins).saturating_sub(flow.carried(at - begins, used)).min(left);
                    (at, used) = (ends, 0);
                }
            }
            // Cycles that go by as a whole are not walked through, however many they are.
            let cycles = left.saturating_sub(1).checked_div(self.cycle)?;
            left -= cycles * self.cycle;
            at = saturated(Work::from(at) + cycles * Work::from(self.schedule.cycle()));
        }
    }
}

impl Flow {
    fn new(path: &Path) -> Self {
        match &path.rate {
            _ if path.offline => Self::Shut,
            None => Self::Open,
            Some(Rate::Constant(rate)) => Self::Constant(*rate),
            Some(Rate::Trace(trace)) => Opportunities::new(trace).map_or(Self::Shut, Self::Trace),
        }
    }

    /// Where this work is done that begins at `at`, all times since the beginning of the turn, if the turn had no end.
    fn run(&self, at: u64, used: u64, work: Work) -> Option<Cursor> {
        match self {
            Self::Open => Some(Cursor { at, ..Cursor::default() }),
            Self::Shut | Self::Constant(0) => None,
            _ if work == 0 => Some(Cursor { at, credit: 0, used }),
            Self::Constant(rate) => {
                let rate = Work::from(*rate);
                let takes = work.div_ceil(rate);
                Some(Cursor { at: saturated(Work::from(at) + takes), credit: takes * rate - work, used: 0 })
            }
            Self::Trace(opportunities) => {
                let count = work.div_ceil(WORK_AN_OPPORTUNITY);
                let first = used.max(opportunities.before(at));
                let used = first.saturating_add(saturated(count));
                let credit = count * WORK_AN_OPPORTUNITY - work;
                Some(Cursor { at: opportunities.time(used.saturating_sub(1)), credit, used })
            }
        }
    }

    /// Whether what is done at `done` is done before a turn is over: an opportunity at its very end is the next turn's.
    fn fits(&self, done: u64, ends: u64) -> bool {
        match self {
            Self::Trace(_) => done < ends,
            _ => done <= ends,
        }
    }

    /// What a turn carries that lasts this long.
    fn carries(&self, lasts: u64) -> Work {
        match self {
            Self::Open => Work::MAX,
            Self::Shut => 0,
            Self::Constant(rate) => Work::from(lasts) * Work::from(*rate),
            Self::Trace(opportunities) => Work::from(opportunities.before(lasts)) * WORK_AN_OPPORTUNITY,
        }
    }

    /// What of it is over at `at`, used or not.
    fn carried(&self, at: u64, used: u64) -> Work {
        match self {
            Self::Open | Self::Shut => 0,
            Self::Constant(rate) => Work::from(at) * Work::from(*rate),
            Self::Trace(opportunities) => Work::from(used.max(opportunities.before(at))) * WORK_AN_OPPORTUNITY,
        }
    }
}
