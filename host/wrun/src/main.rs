//! `wrun`: parse, plan, run, print, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    match wrun::cli::parse() {
        Ok(cli) => wrun::main(cli),
        Err(refused) => refused.exit(),
    }
}
