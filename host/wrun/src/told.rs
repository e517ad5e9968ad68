//! What is said of the runs of one command when they are over, and the code that it ends with.

use anyhow::Result;

use crate::cli::Format;
use crate::compare::{self, command};
use crate::plan::Series;
use crate::report::data::Family;
use crate::report::text;
use crate::report::words::printable;
use crate::series::{Done, Finished, Stopped};
use crate::{exit, failure, print};

/// The end of a command.
pub struct Told {
    /// For standard error.
    pub words: String,
    pub code: u8,
    /// Somebody waits for the end: a signal or a time limit has come.
    pub hurried: bool,
}

/// Fails only where standard output cannot be written, which has what is for programs.
pub fn told(series: &Series, finished: Finished, quiet: bool) -> Result<Told> {
    let Finished { done, stopped } = finished;
    let mut told = Told { words: String::new(), code: exit::OK, hurried: false };
    let several = series.plans.len() > 1;
    done.iter().for_each(|done| told.ended(done, several, quiet));
    match stopped {
        // There is nothing to be compared with, and no other words about the condition.
        Some(Stopped::Refused(refused)) => {
            let why = format!("{refused}; the other runs were not begun");
            told.failed(&anyhow::anyhow!(why), exit::USAGE);
            return Ok(told);
        }
        Some(Stopped::Broken(error)) => told.failed(&error, exit::RIG),
        None => {}
    }
    told.judged(series, done, quiet)?;
    Ok(told)
}

impl Told {
    /// The first that did not end well decides the code.
    fn ends(&mut self, code: u8) {
        self.code = if self.code == exit::OK { code } else { self.code };
    }

    fn failed(&mut self, error: &anyhow::Error, code: u8) {
        self.words += &failure(error);
        self.ends(code);
    }

    /// A backend's runs: the whole report of one that is alone, otherwise only what went wrong.
    fn ended(&mut self, Done { label, report, written }: &Done, several: bool, quiet: bool) {
        if !quiet && !several {
            self.words += &text::render(report);
        } else if report.outcome.code != Some(exit::OK) {
            let named = if several { format!("{}: ", printable(label)) } else { String::new() };
            self.words += &format!("wrun: {named}{}\n", printable(&report.outcome.words));
        }
        match written {
            Ok(()) => self.ends(report.outcome.code.unwrap_or(exit::RIG)),
            Err(error) => self.failed(error, exit::RIG),
        }
        self.hurried |= matches!(report.outcome.family, Family::Interrupted | Family::Limit);
    }

    /// The comparison, the conditions and the chart, as far as they were asked for.
    fn judged(&mut self, series: &Series, done: Vec<Done>, quiet: bool) -> Result<()> {
        let judging = &series.judging;
        let alone = done.len() == 1;
        if alone && judging.fail_if.is_empty() && judging.chart.is_none() {
            return Ok(());
        }
        let runs: Vec<_> =
            done.into_iter().map(|done| compare::Run { label: done.label, report: done.report }).collect();
        let concluded = match command::conclude(&runs, judging, true) {
            Ok(concluded) => concluded,
            Err(error) => {
                self.failed(&error, exit::USAGE);
                return Ok(());
            }
        };
        if judging.format != Format::Text {
            print(&concluded.words(judging.format))?;
        }
        self.words += &match judging.format {
            _ if quiet => concluded.failing(),
            // Its report, which has the figures, is told already.
            Format::Text if alone => spaced(concluded.conditions()),
            Format::Text => concluded.words(Format::Text),
            format => concluded.aloud(format),
        };
        self.ends(concluded.code());
        Ok(())
    }
}

/// With an empty line before it, if it is anything.
fn spaced(words: String) -> String {
    if words.is_empty() { words } else { format!("\n{words}") }
}
