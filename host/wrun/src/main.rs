//! `wrun`: parse, plan, run, print, exit code.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A socket call crosses into the host and back with a few small allocations, which are a tenth of what wrun itself
/// costs with the C library's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match wrun::cli::parse() {
        Ok(cli) => wrun::main(cli),
        Err(refused) => refused.exit(),
    }
}
