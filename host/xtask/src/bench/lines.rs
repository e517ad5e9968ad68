//! The lines of the bench: what each runs on either side, and how much it may cost.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::rounds::{Spread, rounds};
use crate::child::Server;
use crate::command::{on_path, stdout};
use crate::repo::Repo;

/// A row of the table.
pub struct Line {
    /// As the user chooses it.
    pub name: &'static str,
    what: &'static str,
    unit: Unit,
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
        what: "UDP, the same",
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
        what: "the same, most memory that was resident",
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

/// How much a guest may cost.
#[derive(Clone, Copy)]
pub enum Limit {
    /// Times the native figure.
    Ratio(f64),
    /// In nanoseconds or bytes; with `below_stock`, also less than stock wasmtime takes, where that is there.
    AtMost { most: f64, below_stock: bool },
}

/// How nanoseconds or bytes are shown.
#[derive(Clone, Copy)]
enum Unit {
    Microseconds,
    Milliseconds,
    Megabytes,
}

impl Unit {
    fn show(self, figure: f64) -> String {
        match self {
            Self::Microseconds => format!("{:.2} us", figure / 1e3),
            Self::Milliseconds => format!("{:.1} ms", figure / 1e6),
            Self::Megabytes => format!("{:.1} MB", figure / 1e6),
        }
    }
}

/// One figure a round: nanoseconds, or bytes.
pub struct Figures {
    guest: Vec<f64>,
    native: Vec<f64>,
    /// Empty where there is no stock wasmtime, or where it is no matter.
    stock: Vec<f64>,
}

impl Figures {
    /// What is wrong, if anything is.
    pub fn verdict(&self, limit: Limit) -> Option<&'static str> {
        let ratio = |base| Spread::of_ratios(&self.guest, base).map(|ratio| ratio.median);
        match limit {
            Limit::Ratio(most) => ratio(&self.native).is_none_or(|ratio| ratio > most).then_some("over the limit"),
            Limit::AtMost { most, below_stock } => {
                if Spread::of(&self.guest).is_none_or(|guest| guest.median > most) {
                    Some("over the limit")
                } else if below_stock && ratio(&self.stock).is_some_and(|ratio| ratio >= 1.0) {
                    Some("not below stock wasmtime")
                } else {
                    None
                }
            }
        }
    }
}

impl Line {
    /// The row as text, a contestant a line.
    pub fn show(&self, figures: &Figures) -> String {
        let mut text = format!("{}: {}", self.name, self.what);
        for (name, of) in [("guest", &figures.guest), ("native", &figures.native), ("wasmtime", &figures.stock)] {
            if let Some(Spread { median, lowest, highest }) = Spread::of(of) {
                let [median, lowest, highest] = [median, lowest, highest].map(|figure| self.unit.show(figure));
                text += &format!("\n    {name:9} {median:>10}  ({lowest} to {highest}, {} rounds)", of.len());
            }
        }
        for (name, base) in [("native", &figures.native), ("wasmtime", &figures.stock)] {
            if let Some(Spread { median, lowest, highest }) = Spread::of_ratios(&figures.guest, base) {
                text += &format!("\n    of {name:9} {median:>7.2}  ({lowest:.2} to {highest:.2})");
            }
        }
        let limit = match self.limit {
            Limit::Ratio(most) => format!("{most:.2} of native"),
            Limit::AtMost { most, below_stock: false } => self.unit.show(most),
            Limit::AtMost { most, below_stock: true } => format!("{}, and below wasmtime", self.unit.show(most)),
        };
        text + &format!("\n    limit     {limit}: {}", figures.verdict(self.limit).unwrap_or("ok"))
    }
}

/// What is run.
pub struct Programs {
    wrun: PathBuf,
    native: PathBuf,
    guests: PathBuf,
    stock: Option<PathBuf>,
}

impl Programs {
    pub fn find(repo: &Repo, profile: &str) -> Self {
        Self {
            wrun: repo.program(profile, "wrun"),
            native: repo.program(profile, "native"),
            guests: repo.guest("nothing").parent().map(PathBuf::from).unwrap_or_default(),
            stock: on_path("wasmtime"),
        }
    }

    pub fn has_stock(&self) -> bool {
        self.stock.is_some()
    }

    /// One of the bench's own programs, or one of the probes in `wrun`; the names and the arguments are the same.
    fn native(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.native);
        command.args(arguments);
        command
    }

    fn guest(&self, probe: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.wrun);
        command.args(["--quiet", "--allow", "loopback"]).arg(self.probe(probe)).arg("--").args(arguments);
        command
    }

    fn probe(&self, name: &str) -> PathBuf {
        self.guests.join(format!("{name}.wasm"))
    }

    /// Starts a server that says its address first.
    fn server(&self, arguments: &[&str]) -> Result<(Server, String)> {
        let mut server = Server::start(&mut self.native(arguments))?;
        let address = server.line()?;
        Ok((server, address))
    }

    /// A run's own wall time in nanoseconds and resident memory in bytes, both from process start to finish.
    fn whole(&self, command: &Command) -> Result<(f64, f64)> {
        let mut watch = self.native(&["watch"]);
        watch.arg(command.get_program()).args(command.get_args());
        let said = stdout(&mut watch)?;
        Ok((figure(&said, "total_ns")?, figure(&said, "peak_bytes")?))
    }
}

/// The number after `name=` in what a program has said.
fn figure(said: &str, name: &str) -> Result<f64> {
    let value = said.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    value.and_then(|value| value.parse().ok()).with_context(|| format!("there is no `{name}=` in {said:?}"))
}

const ROUNDS: usize = 5;
/// For what takes milliseconds.
const SHORT_ROUNDS: usize = 41;

fn echo(programs: &Programs, protocol: &str) -> Result<Figures> {
    let (_server, address) = programs.server(&["echo-server", protocol])?;
    let arguments = [protocol, &address, "10000"];
    pair(programs, "echo", &arguments, "p50_ns", ROUNDS)
}

fn bulk(programs: &Programs) -> Result<Figures> {
    let (_server, address) = programs.server(&["sink"])?;
    pair(programs, "bulk", &[&address, "1000000000"], "total_ns", ROUNDS)
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
    let Some(stock) = &programs.stock else {
        let [native, guest] = rounds(SHORT_ROUNDS, [&mut native, &mut guest])?;
        return Ok(Figures { guest, native, stock: Vec::new() });
    };
    let mut command = Command::new(stock);
    command.arg("run").arg(programs.probe("nothing"));
    let mut stock = || programs.whole(&command).map(take);
    let [native, guest, stock] = rounds(SHORT_ROUNDS, [&mut native, &mut guest, &mut stock])?;
    Ok(Figures { guest, native, stock })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_found_by_its_whole_name() {
        assert_eq!(figure("p50_ns=12 total_ns=34\n", "total_ns").unwrap(), 34.0);
        assert!(figure("subtotal_ns=1", "total_ns").is_err());
        assert!(figure("total_ns=many", "total_ns").unwrap_err().to_string().contains("total_ns=many"));
    }

    #[test]
    fn nothing_is_wrong_only_within_the_limit() {
        let figures = |guest, stock: &[f64]| Figures { guest: vec![guest], native: vec![100.0], stock: stock.to_vec() };
        let at_most = Limit::AtMost { most: 100.0, below_stock: true };
        for (figures, limit, expected) in [
            (figures(110.0, &[]), Limit::Ratio(1.15), None),
            (figures(120.0, &[]), Limit::Ratio(1.15), Some("over the limit")),
            (figures(90.0, &[]), at_most, None),
            (figures(90.0, &[95.0]), at_most, None),
            (figures(90.0, &[80.0]), at_most, Some("not below stock wasmtime")),
            (figures(101.0, &[200.0]), at_most, Some("over the limit")),
        ] {
            assert_eq!(figures.verdict(limit), expected);
        }
    }
}
