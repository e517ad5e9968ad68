//! Several runs of one guest: each backend in turn, round after round.
//!
//! Every second round goes through the backends the other way round, so that whatever the machine does meanwhile hits
//! all of them alike. What is left out: what the runs have to say about one another, which is [`crate::compare`]'s.

use anyhow::Result;

use crate::compare::condition::{self, Refused};
use crate::plan::Series;
use crate::report::data::Family;
use crate::report::words::printable;
use crate::report::{Report, text};
use crate::run as once;
use crate::run::Ran;

/// All rounds of one backend.
pub struct Done {
    /// As in `throttled netmf3-board`.
    pub label: String,
    pub report: Report,
    /// Whether it is in the file the plan names.
    pub written: Result<()>,
}

/// What came of a series.
pub struct Finished {
    pub done: Vec<Done>,
    /// Why it ended before its last run, if it did not end by a signal.
    pub stopped: Option<Stopped>,
}

/// Why there are no more runs.
pub enum Stopped {
    /// A condition names what the first run, which ended well, has not.
    Refused(Refused),
    /// The next could not begin.
    Broken(anyhow::Error),
}

/// Runs them all, as far as nobody interrupts; `say` is told of each run as it ends. Fails only before the first guest starts.
pub fn run(series: &Series, say: impl Fn(&str)) -> Result<Finished> {
    let mut done: Vec<Option<Ran>> = series.plans.iter().map(|_| None).collect();
    let mut stopped = None;
    'rounds: for round in 0..series.rounds {
        for turn in 0..done.len() {
            let place = if round % 2 == 0 { turn } else { done.len() - 1 - turn };
            let plan = series.plans[place].in_round(round);
            let so_far = done[place].as_ref().map(|ran| &ran.report);
            let first_of_several = series.is_several() && done.iter().all(Option::is_none);
            let mut short = String::new();
            let ran = match once::run(&plan, so_far, |report| short = text::short(report)) {
                Ok(ran) => ran,
                // What was measured until then is worth more than that.
                Err(error) if done.iter().any(Option::is_some) => {
                    stopped = Some(Stopped::Broken(error));
                    break 'rounds;
                }
                Err(error) => return Err(error),
            };
            let signalled = ran.signalled;
            let unnamed = first_of_several.then(|| unnamed(series, &ran.report)).flatten();
            done[place] = Some(ran);
            let of_rounds =
                if series.rounds > 1 { format!(", round {} of {}", round + 1, series.rounds) } else { String::new() };
            say(&format!("wrun: {}{of_rounds}: {short}\n", printable(&plan.stack.label())));
            stopped = unnamed.map(Stopped::Refused);
            if signalled || stopped.is_some() {
                break 'rounds;
            }
        }
    }
    let labelled = series.plans.iter().zip(done).filter_map(|(plan, ran)| {
        let Ran { report, written, .. } = ran?;
        Some(Done { label: plan.stack.label(), report, written })
    });
    Ok(Finished { done: labelled.collect(), stopped })
}

/// The condition, if any, that is about nothing which the first run has. One in which something went wrong may lack it for that.
fn unnamed(series: &Series, first: &Report) -> Option<Refused> {
    let samples_well = first.statistics.iter().all(|name| name.errors == 0 && name.unfinished == 0);
    let well = first.outcome.family == Family::Ok && samples_well;
    if well { condition::named(first, &series.judging.fail_if).err() } else { None }
}
