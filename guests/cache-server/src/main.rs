//! cache-server: a server that speaks memcached's protocols, as a workload.
//!
//! It serves until it is ended from outside, as with SIGTERM; what it counted until then is in the report.
//!
//! By kind: [`args`] is what was typed; [`server`] is the one loop that all connections are served from, [`connection`]
//! one of them; [`memory`] is how much may be used; [`tally`] keeps the report's counters current. What is said on a
//! connection is the crate `cache`'s.
//!
//! Left out: threads (a guest has one), UDP, TLS, Unix sockets.

mod args;
mod connection;
mod memory;
mod server;
mod tally;

use std::process::ExitCode;

use args::Command;

fn main() -> ExitCode {
    wrun_guest::run(|| match args::parse(wrun_guest::lexopt::Parser::from_env())? {
        Command::Help => {
            print!("{}", args::HELP);
            Ok(())
        }
        Command::Serve(settings) => server::serve(&settings),
    })
}
