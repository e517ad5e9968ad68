//! Fails in the ordinary way: words on standard error, exit status 1.

use std::process::ExitCode;

fn main() -> ExitCode {
    wrun_guest::run(|| Err("this guest fails on purpose".into()))
}
