//! The lines of the bench: what each runs on either side, and how much it may cost.

use anyhow::Result;

use super::figures::{Figures, Limit, Unit};
use super::programs::{Programs, figure};
use super::rounds::rounds;
use crate::command::stdout;

/// A row of the table. Its words stand in Markdown as they are.
pub struct Line {
    /// As the user chooses it.
    pub name: &'static str,
    pub what: &'static str,
    pub unit: Unit,
    pub limit: Limit,
    pub measure: fn(&Programs) -> Result<Figures>,
}

pub const LINES: &[Line] = &[
    Line {
        name: "tcp-echo",
        what: "TCP, one byte there and back, 10,000 times, p50",
        unit: Unit::Microseconds,
        limit: Limit::Ratio(1.15),
        measure: |programs| echo(programs, "tcp"),
    },
    Line {
        name: "udp-echo",
        what: "UDP, one byte there and back, 10,000 times, p50",
        unit: Unit::Microseconds,
        limit: Limit::Ratio(1.25),
        measure: |programs| echo(programs, "udp"),
    },
    Line {
        name: "bulk",
        what: "TCP, 1 GB to the other end, time",
        unit: Unit::Milliseconds,
        limit: Limit::Ratio(1.10),
        measure: bulk,
    },
    Line {
        name: "start",
        what: "a guest that does nothing, cached, start to finish of the process",
        unit: Unit::Milliseconds,
        limit: Limit::AtMost { most: 10e6, below_stock: true },
        measure: start,
    },
    Line {
        name: "memory",
        what: "a guest that does nothing, cached, most memory that was resident",
        unit: Unit::Megabytes,
        limit: Limit::AtMost { most: 20e6, below_stock: false },
        measure: memory,
    },
    Line {
        name: "many",
        what: "1000 TCP connections open at once, a byte each way on all, time",
        unit: Unit::Milliseconds,
        limit: Limit::AtMost { most: 1e9, below_stock: false },
        measure: many,
    },
];

const ROUNDS: usize = 5;
/// For what is held against a limit that is close.
const CLOSE_ROUNDS: usize = 61;
/// For what takes milliseconds.
const SHORT_ROUNDS: usize = 41;

fn echo(programs: &Programs, protocol: &str) -> Result<Figures> {
    let (_server, address) = programs.server(&["echo-server", protocol])?;
    let arguments = [protocol, &address, "10000"];
    pair(programs, "echo", &arguments, "p50_ns", CLOSE_ROUNDS)
}

fn bulk(programs: &Programs) -> Result<Figures> {
    let (_server, address) = programs.server(&["sink"])?;
    pair(programs, "bulk", &[&address, "1000000000"], "total_ns", CLOSE_ROUNDS)
}

fn many(programs: &Programs) -> Result<Figures> {
    let (_server, address) = programs.server(&["echo-server", "tcp"])?;
    pair(programs, "many", &[&address, "1000"], "total_ns", ROUNDS)
}

/// A probe and the native program of the same name, by the figure that both say.
fn pair(programs: &Programs, name: &str, arguments: &[&str], said: &str, count: usize) -> Result<Figures> {
    let mut native = || figure(&stdout(programs.native(&[name]).args(arguments))?, said);
    let mut guest = || figure(&stdout(&mut programs.guest(name, arguments))?, said);
    let [native, guest] = rounds(count, [&mut native, &mut guest])?;
    Ok(Figures { guest, native, stock: Vec::new() })
}

fn start(programs: &Programs) -> Result<Figures> {
    whole(programs, |(time, _)| time)
}

fn memory(programs: &Programs) -> Result<Figures> {
    whole(programs, |(_, memory)| memory)
}

fn whole(programs: &Programs, take: fn((f64, f64)) -> f64) -> Result<Figures> {
    let mut native = || programs.whole(&programs.native(&["nothing"])).map(take);
    let mut guest = || programs.whole(&programs.guest("nothing", &[])).map(take);
    let Some(stock) = programs.stock("nothing") else {
        let [native, guest] = rounds(SHORT_ROUNDS, [&mut native, &mut guest])?;
        return Ok(Figures { guest, native, stock: Vec::new() });
    };
    let mut stock = || programs.whole(&stock).map(take);
    let [native, guest, stock] = rounds(SHORT_ROUNDS, [&mut native, &mut guest, &mut stock])?;
    Ok(Figures { guest, native, stock })
}
