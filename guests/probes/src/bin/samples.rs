//! Makes samples, for tests of the report: `samples [OPTIONS] NAME...`
//!
//! - `--count N`: so many of each name, with the phases `prepare` and `work` \[3]
//! - `--failing`: every third fails, with a reason
//! - `--unfinished`: one more of each name is never finished
//! - `--late TIME`: one more of each name that started so long ago, with the phases `waiting` and `work`
//! - `--reason TEXT`, `--note TEXT`: other words than its own
//! - `--then-spin`: prints a line when all that is done, and never ends
//! - `--million`: 1,000,001 more of the first name, without phases: more than a report keeps one by one
//!
//! Each run also adds to the counters `made` and `names`, and leaves a note.

use std::process::ExitCode;

use wrun_guest::args::duration;
use wrun_guest::lexopt::{Arg, Parser, ValueExt};
use wrun_guest::{Sample, announce, count, note};

const MILLION: u64 = 1_000_001;

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let (mut names, mut number) = (Vec::new(), 3_u64);
        let (mut failing, mut unfinished, mut million, mut then_spin) = (false, false, false, false);
        let (mut reason, mut words, mut late) = ("every third fails".to_owned(), None, None);
        let mut parser = Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Long("count") => number = parser.value()?.parse()?,
                Arg::Long("failing") => failing = true,
                Arg::Long("unfinished") => unfinished = true,
                Arg::Long("million") => million = true,
                Arg::Long("then-spin") => then_spin = true,
                Arg::Long("late") => late = Some(parser.value()?.parse_with(duration)?),
                Arg::Long("reason") => reason = parser.value()?.string()?,
                Arg::Long("note") => words = Some(parser.value()?.string()?),
                Arg::Value(name) => names.push(name.string()?),
                other => return Err(other.unexpected().into()),
            }
        }
        let first = names.first().ok_or("usage: samples [OPTIONS] NAME...")?;
        let more = if million { MILLION } else { 0 };
        let of_each = number + u64::from(unfinished) + u64::from(late.is_some());
        announce(of_each * names.len() as u64 + more);
        for name in &names {
            for turn in 1..=number {
                let sample = Sample::start(name);
                sample.phase("prepare");
                sample.phase("work");
                if failing && turn % 3 == 0 {
                    sample.fail(&reason);
                } else {
                    sample.finish();
                }
                count("made", 1);
            }
            if let Some(ago) = late {
                let sample = Sample::since(name, ago, Some("waiting"));
                sample.phase("work");
                sample.finish();
            }
        }
        for _ in 0..more {
            Sample::start(first).finish();
        }
        count("made", more);
        count("names", names.len() as u64);
        note(&words.unwrap_or_else(|| format!("made samples of {}", names.join(", "))));
        if unfinished {
            let open: Vec<Sample> = names.iter().map(|name| Sample::start(name)).collect();
            // Still open when the guest ends, as when it is killed.
            std::mem::forget(open);
        }
        if then_spin {
            println!("made them");
            loop {
                std::hint::spin_loop();
            }
        }
        Ok(())
    })
}
