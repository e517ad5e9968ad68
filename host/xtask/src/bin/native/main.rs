//! What the bench's guests are held against: the same work, on the standard library, as a native program.
//!
//! [`servers`], [`counter`] and [`stopwatch`] print their address and then serve until their stdin ends. [`clients`], [`many`] and [`cache`] do what the guest of
//! the same name does and print their figures as `p50_ns=N total_ns=N`. `watch` runs another program and prints what it
//! took in all.

mod cache;
mod clients;
mod counter;
mod many;
mod servers;
mod stopwatch;

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};

/// How much is written and read at once where it is a lot, in bytes. The probe has the same.
const CHUNK: usize = 64 * 1024;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["nothing"] => Ok(()),
        ["echo-server", "tcp"] => servers::tcp(servers::echo),
        ["echo-server", "udp"] => servers::udp(),
        ["sink"] => servers::tcp(servers::swallow),
        ["meter"] => servers::tcp(servers::meter),
        ["counter"] => counter::serve(),
        ["stopwatch"] => stopwatch::serve(),
        ["echo", protocol @ ("tcp" | "udp"), address, count] => clients::echo(protocol, address, count),
        ["bulk", address, bytes] => clients::bulk(address, bytes),
        ["many", address, count] => many::run(address, count),
        ["cache", arguments @ ..] => cache::load(arguments),
        ["cache-fill", address, count, largest] => cache::fill(address, count, largest),
        ["cache-idle", address, idle, busy, count] => cache::idle(address, idle, busy, count),
        ["watch", program, arguments @ ..] => watch(program, arguments),
        _ => bail!(
            "write one of: nothing, echo-server tcp|udp, sink, meter, counter, stopwatch, echo tcp|udp ADDRESS COUNT, bulk ADDRESS BYTES, \
             many ADDRESS COUNT, cache ADDRESS CONNECTIONS PIPELINE parallel|one-at-a-time READS WRITES VALUE_SIZE KEYS, \
             cache-fill ADDRESS COUNT LARGEST, cache-idle ADDRESS IDLE BUSY COUNT, watch PROGRAM ARGUMENTS"
        ),
    }
}

/// Lets this process have as many files open as it may: a thousand connections are more than many systems begin with.
fn raise_open_files() -> Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most).context("cannot raise the limit of open files")
}

/// Runs a program out of sight. This process is small on purpose: what a parent holds when it starts a child counts,
/// in Linux, as the child's.
fn watch(program: &str, arguments: &[&str]) -> Result<()> {
    let start = Instant::now();
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output()?;
    let total = start.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{program}` failed ({}): {said}", output.status);
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss() * 1024;
    println!("total_ns={} peak_bytes={peak}", total.as_nanos());
    Ok(())
}
