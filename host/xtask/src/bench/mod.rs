//! `cargo xtask bench`: guests beside native programs that do the same, held against the limits of the project.
//!
//! - [`lines`]: what is measured, and its limit;
//! - [`programs`]: what is run for that;
//! - [`rounds`]: interleaved rounds and what is made of their figures;
//! - [`figures`]: the figures of a line, held against its limit;
//! - [`show`]: how they are shown.
//!
//! Everything runs on one core, both ends of every connection too: across cores, a round trip measures how fast an
//! idle core wakes up, and flips between two values from run to run.

mod figures;
mod lines;
mod programs;
mod rounds;
mod show;

use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::command::{cargo, run as execute, step};
use crate::guests;
use crate::repo::Repo;
use crate::setup::{self, Purpose};
use lines::{LINES, Line};
use programs::Programs;

#[derive(clap::Args)]
pub struct Options {
    /// Measure only this line; see the first column of the table
    name: Option<String>,
    /// Build and measure the dev profile, for work on the bench itself: its figures say nothing about the limits
    #[arg(long)]
    dev: bool,
}

pub fn run(repo: &Repo, options: &Options) -> Result<()> {
    let lines = chosen(options.name.as_deref())?;
    let tools = setup::run(repo, Purpose::Guests)?;
    step("building guests", || guests::build(repo, &tools))?;
    step("building wrun and the native programs", || build(repo, options.dev))?;
    let programs = Programs::find(repo, if options.dev { "debug" } else { "release" });
    match pin() {
        Ok(core) => println!("Both ends on core {core}; median of the rounds, and (lowest to highest)."),
        Err(error) => println!("NOT pinned to one core ({error:#}), so the figures are noise."),
    }
    if !programs.has_stock() {
        println!("No stock wasmtime on PATH, so wrun is not held against it.");
    }

    let mut results = Vec::new();
    for line in lines {
        let result = (line.measure)(&programs).with_context(|| format!("cannot measure {}", line.name))?;
        println!("\n{}", show::text(line, &result));
        results.push((line, result));
    }
    println!("\nAll of it as a table:\n\n{}", show::table(&results));
    let over = results.iter().filter(|(line, result)| result.verdict(line.limit).is_some()).count();
    if options.dev {
        println!("This was the dev profile: the limits are for release.");
    } else if over > 0 {
        bail!("{over} of the lines are over their limit");
    }
    Ok(())
}

fn chosen(name: Option<&str>) -> Result<Vec<&'static Line>> {
    let lines: Vec<&Line> = LINES.iter().filter(|line| name.is_none_or(|name| name == line.name)).collect();
    let names: Vec<&str> = LINES.iter().map(|line| line.name).collect();
    ensure!(!lines.is_empty(), "no line of the bench has this name; write one of {}", names.join(", "));
    Ok(lines)
}

fn build(repo: &Repo, dev: bool) -> Result<()> {
    let release: &[&str] = if dev { &[] } else { &["--release"] };
    for (package, program) in [("wrun", "wrun"), ("xtask", "native")] {
        let mut command: Command = cargo(repo);
        execute(command.args(["build", "--package", package, "--bin", program]).args(release))?;
    }
    Ok(())
}

/// Keeps this process, and with it every program it starts, on the first core it may use; and says which.
fn pin() -> Result<usize> {
    let this = Pid::from_raw(0);
    let allowed = sched_getaffinity(this).context("cannot read which cores are allowed")?;
    let core =
        (0..CpuSet::count()).find(|core| allowed.is_set(*core).unwrap_or(false)).context("no core is allowed")?;
    let mut one = CpuSet::new();
    one.set(core).and_then(|()| sched_setaffinity(this, &one)).context("cannot pin this process")?;
    Ok(core)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_lists_the_right_ones() {
        let error = chosen(Some("tcp")).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(LINES.iter().all(|line| error.contains(line.name)), "{error}");
        assert_eq!(chosen(Some("bulk")).unwrap().len(), 1);
        assert_eq!(chosen(None).unwrap().len(), LINES.len());
    }
}
