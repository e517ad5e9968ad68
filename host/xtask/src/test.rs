//! Everything that must hold: formatting, lints, and every test of host, guests and `tests/`.

use std::process::Command;

use anyhow::Result;

use crate::command::{cargo, run as execute, step};
use crate::guests;
use crate::repo::Repo;
use crate::setup::{self, Purpose};

/// Stops at the first failure, with the command that failed.
pub fn run(repo: &Repo) -> Result<()> {
    let tools = setup::run(repo, Purpose::Tests)?;
    step("formatting of host", || execute(cargo(repo).args(["fmt", "--all", "--check"])))?;
    step("formatting of guests", || execute(guest_cargo(repo).args(["fmt", "--all", "--check"])))?;
    step("lints of host", || execute(clippy(&mut cargo(repo))))?;
    step("lints of guests", || execute(clippy(&mut guest_cargo(repo))))?;
    step("building guests", || guests::build(repo, &tools))?;
    step("tests of host", || execute(cargo(repo).args(["test", "--workspace"])))?;
    step("tests of guests", || execute(guest_cargo(repo).args(["test", "--workspace"])))?;
    eprintln!("xtask: everything passed");
    Ok(())
}

/// Cargo in the guests' workspace, for this machine rather than for WebAssembly: lints and unit tests need no sandbox.
fn guest_cargo(repo: &Repo) -> Command {
    let mut command = cargo(repo);
    command.current_dir(repo.guests());
    command
}

fn clippy(command: &mut Command) -> &mut Command {
    command.args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])
}
