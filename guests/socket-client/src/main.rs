//! socket-client: asks an HTTP or HTTPS server for the same thing many times, and says where each request's time went.
//!
//! One sample `request` for each, with the phases resolve, connect, tls, send, wait, receive and close. What goes wrong
//! is that sample's error and the run goes on.
//!
//! By kind: [`args`] and [`url`] are what was typed; [`http`] takes answers apart and does no I/O; [`wire`] is the
//! connection; [`plain`] and [`netmf`] are the two styles of making a request; [`series`] makes them all.
//!
//! Left out: redirects, cookies, proxies, compression, HTTP/2. A body is counted and dropped.

mod args;
mod budget;
mod http;
mod netmf;
mod plain;
mod series;
mod stage;
mod url;
mod wire;

use std::process::ExitCode;

use args::Command;

fn main() -> ExitCode {
    wrun_guest::run(|| match args::parse(wrun_guest::lexopt::Parser::from_env())? {
        Command::Help => {
            print!("{}", args::HELP);
            Ok(())
        }
        Command::Run(settings) => {
            let tally = series::run(&settings)?;
            println!("{tally}");
            tally.verdict().map_err(Into::into)
        }
    })
}
