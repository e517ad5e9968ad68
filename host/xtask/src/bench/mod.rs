//! `cargo xtask bench`: guests beside native programs that do the same, held against the limits of the project.
//!
//! - [`lines`]: what is measured, and its limit; those of the throttled backend are in [`impaired`], those of the cache
//!   workloads in [`cache`];
//! - [`programs`]: what is run for that;
//! - [`rounds`]: interleaved rounds and what is made of their figures;
//! - [`figures`]: the figures of a line, held against its limit;
//! - [`show`]: how they are shown.
//!
//! Everything runs on one of the [`cores`], both ends of every connection too: across cores, a round trip measures how fast
//! an idle core wakes up, and flips between two values from run to run. Only what keeps a server busy has the server on
//! another.

mod cache;
mod cores;
mod figures;
mod impaired;
mod lines;
mod programs;
mod rounds;
mod show;

use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::command::{cargo, run as execute, step};
use crate::guests;
use crate::repo::Repo;
use crate::setup::{self, Purpose};
use cores::Cores;
use lines::Line;
use programs::Programs;

const GROUPS: [(&str, &[Line]); 3] = [("main", lines::LINES), ("throttled", impaired::LINES), (CACHE, cache::LINES)];

/// The group that ends with a table of its own.
const CACHE: &str = "cache";

#[derive(clap::Args)]
pub struct Options {
    /// Measure only this line, or the lines of this group: main, throttled or cache
    name: Option<String>,
    /// Build and measure the dev profile, for work on the bench itself: its figures say nothing about the limits
    #[arg(long)]
    dev: bool,
}

pub fn run(repo: &Repo, options: &Options) -> Result<()> {
    let lines = chosen(options.name.as_deref())?;
    let caches = lines.iter().any(|line| cache::LINES.iter().any(|cache| cache.name == line.name));
    let tools = setup::run(repo, if caches { Purpose::Caches } else { Purpose::Guests })?;
    step("building guests", || guests::build(repo, &tools))?;
    step("building wrun and the native programs", || build(repo, options.dev))?;
    let profile = if options.dev { "debug" } else { "release" };
    let cores = Cores::pin();
    match &cores {
        Ok(cores) => println!("Both ends on core {}; median of the rounds, and (lowest to highest).", cores.own),
        Err(error) => println!("NOT pinned to one core ({error:#}), so the figures are noise."),
    }
    let programs = Programs::find(repo, profile, cores.ok());
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
    if options.name.as_deref().is_none_or(|name| name == CACHE) {
        println!(
            "The cache, 20 connections with one operation in flight each:\n\n{}",
            cache::table::measure(&programs)?
        );
    }
    let over = results.iter().filter(|(line, result)| result.verdict(line.limit).is_some()).count();
    if options.dev {
        println!("This was the dev profile: the limits are for release.");
    } else if over > 0 {
        bail!("{over} of the lines are over their limit");
    }
    Ok(())
}

fn chosen(name: Option<&str>) -> Result<Vec<&'static Line>> {
    let chosen = |group: &str, line: &Line| name.is_none_or(|name| name == group || name == line.name);
    let lines: Vec<&Line> = all().filter(|(group, line)| chosen(group, line)).map(|(_, line)| line).collect();
    let names: Vec<&str> = GROUPS.iter().map(|(group, _)| *group).chain(all().map(|(_, line)| line.name)).collect();
    ensure!(!lines.is_empty(), "no line of the bench has this name; write one of {}", names.join(", "));
    Ok(lines)
}

/// Every line with the name of its group.
fn all() -> impl Iterator<Item = (&'static str, &'static Line)> {
    GROUPS.iter().flat_map(|(group, lines)| lines.iter().map(|line| (*group, line)))
}

fn build(repo: &Repo, dev: bool) -> Result<()> {
    let release: &[&str] = if dev { &[] } else { &["--release"] };
    for (package, kind, name) in
        [("wrun", "--bin", "wrun"), ("xtask", "--bin", "native"), ("wrun-net", "--example", "stages")]
    {
        let mut command: Command = cargo(repo);
        execute(command.args(["build", "--package", package, kind, name]).args(release))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_lists_the_right_ones() {
        let error = chosen(Some("tcp")).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(all().all(|(group, line)| error.contains(group) && error.contains(line.name)), "{error}");
        assert_eq!(chosen(Some("bulk")).unwrap().len(), 1);
        assert_eq!(chosen(Some("throttled")).unwrap().len(), impaired::LINES.len());
        assert_eq!(chosen(Some(CACHE)).unwrap().len(), cache::LINES.len());
        assert_eq!(chosen(None).unwrap().len(), all().count());
    }
}
