//! The repository's own commands: `cargo xtask setup | guests | demo | test | bench`.
//!
//! What is left out: anything a user of the built `wrun` needs. That is `wrun` itself.

mod bench;
mod child;
mod command;
mod debian;
mod demo;
mod guests;
mod repo;
mod services;
mod setup;
mod test;
mod toolchain;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::repo::Repo;
use crate::setup::Purpose;

/// Builds, shows, tests and measures this repository.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Sets up what is missing, or says what to type where it may not
    Setup,
    /// Builds the guests
    Guests,
    /// Runs socket-client against an HTTP and an HTTPS peer on loopback and shows both reports
    Demo,
    /// Checks formatting and lints, and runs every test
    Test,
    /// Measures guests beside native programs and holds them against the limits
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let task = Cli::parse().task;
    let repo = Repo::here();
    let outcome = match task {
        Task::Setup => setup::run(&repo, Purpose::Tests).map(drop),
        Task::Guests => setup::run(&repo, Purpose::Guests).and_then(|tools| guests::build(&repo, &tools)).map(drop),
        Task::Demo => demo::run(&repo),
        Task::Test => test::run(&repo),
        Task::Bench(options) => bench::run(&repo, &options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
