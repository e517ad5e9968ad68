//! The tool: what can be typed, what it means, running a guest, and its report.
//!
//! `main → cli → plan → run → guest → wasi`, and beside them `policy` and `report`. The README's architecture section
//! says what points where, and why.

pub mod calibrate;
pub mod chart;
pub mod check;
pub mod cli;
pub mod compare;
pub mod exit;
pub mod guest;
mod near;
mod peer;
pub mod plan;
pub mod policy;
pub mod profile;
pub mod progress;
mod replace;
pub mod report;
pub mod run;
mod series;
mod supervise;
mod told;
pub mod trace;
pub mod units;
pub mod warning;
pub mod wasi;

use std::io::Write;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::CommandFactory;

use cli::{Cli, Command};
use guest::Host;
use plan::{ReportTo, Series};
use report::words::printable;

/// How long whoever reads standard error may take for the last words of a run that was made to end.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Does what was asked, says what went wrong, and answers with the exit code.
pub fn main(cli: Cli) -> ExitCode {
    let code = match (cli.command, cli.run) {
        (Some(Command::Check(check)), _) => self::check(&check),
        (Some(Command::Show(show)), _) => self::show(&show),
        (Some(Command::Profile(profile)), _) => self::profile(&profile.kind),
        (Some(Command::Compare(compare)), _) => compare::command::run(&compare),
        (Some(Command::Peer(peer)), _) => peer::serve(peer).map(|()| exit::OK),
        (Some(Command::Completions(completions)), _) => self::completions(&completions),
        (None, Some(run)) => self::run(run, cli.judging),
        (None, None) => Err(anyhow::anyhow!("no guest was given: see wrun --help")),
    };
    ExitCode::from(code.unwrap_or_else(|error| {
        say(&failure(&error));
        exit::USAGE
    }))
}

fn run(run: cli::Run, judging: cli::Judging) -> Result<u8> {
    let series = Series::new(run, judging)?;
    let quiet = series.plans.iter().any(|plan| plan.quiet);
    let mut finished = series::run(&series, |line| {
        if !quiet && series.is_several() {
            say(line);
        }
    })?;
    if let ([done], [plan]) = (&mut finished.done[..], &series.plans[..])
        && plan.report == Some(ReportTo::Stdout)
    {
        done.written = print(&done.report.to_json_pretty());
    }
    let told::Told { words, code, hurried } = told::told(&series, finished, quiet)?;
    if hurried {
        say_within(words, LAST_WORDS)
    } else {
        say(&words)
    }
    Ok(code)
}

fn check(check: &cli::Check) -> Result<u8> {
    let (about, problem) = guest::load::examine(&Host::new()?, &check.guest)?;
    print(&check::describe(&about, problem.as_ref()))?;
    Ok(if problem.is_none() { exit::OK } else { exit::USAGE })
}

fn completions(completions: &cli::Completions) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut Cli::command(), "wrun", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(exit::OK)
}

fn show(show: &cli::Show) -> Result<u8> {
    let report = report::read::read(&show.report)?;
    print(&report::text::render(&report))?;
    Ok(exit::OK)
}

fn profile(kind: &cli::ProfileKind) -> Result<u8> {
    print(&match kind {
        cli::ProfileKind::List => profile::commands::list()?,
        cli::ProfileKind::Show { profile } => profile::commands::show(profile)?,
        cli::ProfileKind::Check { profile } => profile::commands::check(profile)?,
    })?;
    Ok(exit::OK)
}

/// An error as a line, or what is wrong with a profile as several. Parts of it may be a stranger's words.
fn failure(error: &anyhow::Error) -> String {
    if let Some(unfit) = error.downcast_ref::<profile::Unfit>() {
        return format!("wrun: {unfit}\n");
    }
    format!("wrun: {}\n", printable(&format!("{error:#}")))
}

/// To standard output, in colour only where that is a terminal. A reader that has left early is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("standard output cannot be written"),
    }
}

/// To standard error, in colour only where that is a terminal. There is nobody to tell if that fails.
pub(crate) fn say(text: &str) {
    let mut out = anstream::stderr().lock();
    _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The same, as far as whoever reads it takes it within the time.
fn say_within(text: String, time: Duration) {
    let (said, heard) = mpsc::channel();
    std::thread::spawn(move || {
        say(&text);
        // Nobody waits any more where the time has passed.
        _ = said.send(());
    });
    _ = heard.recv_timeout(time);
}
