//! A program that runs beside this one and ends with it: a peer of the demo, a server of the bench.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result};

use crate::command::shown;

/// Ended by its process id when dropped, on errors too.
pub struct Server {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    shown: String,
}

impl Server {
    pub fn start(command: &mut Command) -> Result<Self> {
        let shown = shown(command);
        // The open stdin is how the bench's servers notice that their parent is gone, even when it was killed.
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{shown}`"))?;
        let stdout = child.stdout.take().context("a piped stdout is there")?;
        Ok(Self { child, lines: BufReader::new(stdout).lines(), shown })
    }

    /// The next line that it says, for which it is waited.
    pub fn line(&mut self) -> Result<String> {
        let line = self.lines.next().with_context(|| format!("`{}` ended before it said where it is", self.shown))?;
        line.with_context(|| format!("`{}` cannot be read", self.shown))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_server_is_gone() {
        let mut server = Server::start(Command::new("sh").args(["-c", "echo $$; exec sleep 60"])).unwrap();
        let process = format!("/proc/{}", server.line().unwrap());
        assert!(std::fs::exists(&process).unwrap());
        drop(server);
        assert!(!std::fs::exists(&process).unwrap());
    }

    #[test]
    fn a_server_that_ends_without_a_word_is_an_error_that_names_it() {
        let error = Server::start(&mut Command::new("true")).unwrap().line().unwrap_err().to_string();
        assert_eq!(error, "`true` ended before it said where it is");
    }
}
