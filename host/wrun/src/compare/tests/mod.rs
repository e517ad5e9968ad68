//! Whole comparisons, through [`super::compare`].

mod any;
mod conditions;
mod forms;
mod verdicts;

use super::data::Comparison;
use super::fixture::run;
use super::{Options, Run, compare};

fn compared(base: Run, other: Run) -> Comparison {
    compare(&[base, other], &Options::default()).unwrap()
}

/// Requests of so many microseconds.
fn waits(label: &str, us: impl IntoIterator<Item = u64>) -> Run {
    run(label, us.into_iter().map(|us| vec![("wait", us)]))
}

/// The first so many requests of a run, failed.
fn failing(mut run: Run, failed: usize) -> Run {
    run.report.samples.iter_mut().take(failed).for_each(|sample| sample.error = Some("connection refused".into()));
    run
}
