//! `wrun`: parse, plan, run, print, exit code.

use std::process::ExitCode;

use clap::Parser;
use wrun::cli::Cli;

fn main() -> ExitCode {
    wrun::main(Cli::parse())
}
