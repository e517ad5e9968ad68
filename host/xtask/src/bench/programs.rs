//! What the bench runs, and what it reads from what that says.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::cores::Cores;
use crate::child::{Server, tied};
use crate::command::{on_path, stdout};
use crate::repo::Repo;

/// Everything that is run. It ends with this program.
pub struct Programs {
    wrun: PathBuf,
    native: PathBuf,
    stages: PathBuf,
    guests: PathBuf,
    stock: Option<PathBuf>,
    scratch: PathBuf,
    /// `None` where nothing could be pinned.
    cores: Option<Cores>,
}

impl Programs {
    pub fn find(repo: &Repo, profile: &str, cores: Option<Cores>) -> Self {
        Self {
            wrun: repo.program(profile, "wrun"),
            native: repo.program(profile, "native"),
            stages: repo.program(profile, "examples/stages"),
            guests: repo.guest("nothing").parent().map(PathBuf::from).unwrap_or_default(),
            stock: on_path("wasmtime"),
            scratch: repo.target.join("bench"),
            cores,
        }
    }

    pub fn has_stock(&self) -> bool {
        self.stock.is_some()
    }

    /// One of the bench's own programs.
    pub fn native(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.native);
        tied(&mut command).args(arguments);
        command
    }

    /// The example that puts one throttled backend around another.
    pub fn stages(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.stages);
        tied(&mut command).args(arguments);
        command
    }

    /// One of the probes, in `wrun`. Names and arguments are the same as for the native programs.
    pub fn guest(&self, probe: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.wrun);
        tied(&mut command).args(["--quiet", "--allow", "loopback"]);
        command.arg(self.probe(probe)).arg("--").args(arguments);
        command
    }

    /// The same on sockets that are impaired by a profile, given as its text or, in one word, as its name.
    pub fn impaired(&self, profile: &str, probe: &str, arguments: &[&str]) -> Result<Command> {
        let profile = if profile.contains(char::is_whitespace) {
            let file = self.scratch.join(format!("{:x}.toml", hash(profile)));
            std::fs::create_dir_all(&self.scratch)
                .and_then(|()| std::fs::write(&file, profile))
                .with_context(|| format!("cannot write {}", file.display()))?;
            file
        } else {
            profile.into()
        };
        let mut command = Command::new(&self.wrun);
        tied(&mut command).args(["--quiet", "--allow", "loopback", "--backend", "throttled", "--profile"]);
        command.arg(profile).args(["--seed", SEED]).arg(self.probe(probe)).arg("--").args(arguments);
        Ok(command)
    }

    /// Where the bench may write.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// wrun itself.
    pub fn wrun(&self) -> Command {
        let mut command = Command::new(&self.wrun);
        tied(&mut command);
        command
    }

    /// A probe that uses no socket, in stock wasmtime, if that is there.
    pub fn stock(&self, probe: &str) -> Option<Command> {
        let mut command = Command::new(self.stock.as_ref()?);
        command.arg("run").arg(self.probe(probe));
        Some(command)
    }

    pub fn probe(&self, name: &str) -> PathBuf {
        self.guests.join(format!("{name}.wasm"))
    }

    /// Starts something where it leaves the core of the bench alone, if the machine has another.
    pub fn on_other_core<T>(&self, start: impl FnOnce() -> Result<T>) -> Result<T> {
        match self.cores {
            Some(cores) => cores.on_other(start),
            None => start(),
        }
    }

    /// Starts a server that says its address first.
    pub fn server(&self, arguments: &[&str]) -> Result<(Server, String)> {
        let mut server = Server::start(&mut self.native(arguments))?;
        let address = server.line()?;
        Ok((server, address))
    }

    /// A run's own wall time in nanoseconds and resident memory in bytes, both from process start to finish.
    pub fn whole(&self, command: &Command) -> Result<(f64, f64)> {
        let mut watch = self.native(&["watch"]);
        watch.arg(command.get_program()).args(command.get_args());
        let said = stdout(&mut watch)?;
        Ok((figure(&said, "total_ns")?, figure(&said, "peak_bytes")?))
    }
}

/// Under which an impaired run decides, so that every bench meets the same losses.
const SEED: &str = "20261130";

/// A short name for a text.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The number after `name=` in what a program has said.
pub fn figure(said: &str, name: &str) -> Result<f64> {
    let value = said.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    value.and_then(|value| value.parse().ok()).with_context(|| format!("there is no `{name}=` in {said:?}"))
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
}
