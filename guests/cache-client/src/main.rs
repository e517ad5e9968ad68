//! cache-client: reads and writes a cache over many connections, and says where the time of each operation went.
//!
//! One sample `get` or `set` for each operation. What goes wrong is that operation's error, and the run goes on.
//!
//! By kind:
//! - what was typed: [`args`];
//! - what is to be done: [`work`], with its [`keys`], [`values`] and their [`random`] numbers;
//! - how it is said: [`protocol`], the one place where conversations are made, of the crate `cache` or of [`rpc`], [`secure`]
//!   or not;
//! - the network: [`wire`] moves the bytes of one [`connection`], [`run`] is the one loop over all of them;
//! - what became of it: [`tally`], and for reads that are checked the [`history`] of writes.
//!
//! Left out: deletes and increments, which the protocols have and this workload does not; several keys in one request;
//! threads.

mod args;
mod connection;
mod history;
mod keys;
mod protocol;
mod random;
mod rpc;
mod run;
mod secure;
mod tally;
mod values;
mod wire;
mod work;

use std::process::ExitCode;

use args::Command;

fn main() -> ExitCode {
    wrun_guest::run(|| match args::parse(wrun_guest::lexopt::Parser::from_env())? {
        Command::Help => {
            print!("{}", args::HELP);
            Ok(())
        }
        Command::Run(settings) => {
            let tally = run::all(&settings)?;
            println!("{tally}");
            tally.verdict().map_err(Into::into)
        }
    })
}
