//! A program that runs beside this one and ends with it: a peer of the demo, a server of the bench.

use std::io::{BufRead as _, BufReader, Lines};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result};
use nix::errno::Errno;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpid, getppid};

use crate::command::shown;

/// Has the kernel end a program, by SIGTERM, when this one ends: one that is killed cannot do it itself.
pub fn tied(command: &mut Command) -> &mut Command {
    let this = getpid();
    let tie = move || {
        set_pdeathsig(Signal::SIGTERM)?;
        // This program may have ended before the child was tied to it.
        if getppid() == this { Ok(()) } else { Err(Errno::ESRCH.into()) }
    };
    // SAFETY: between fork and exec only what is safe in a signal handler may be done. These are two system calls that
    // touch no memory, and an error that allocates none.
    unsafe { command.pre_exec(tie) }
}

/// Ended by its process id when dropped, on errors too.
pub struct Server {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    shown: String,
}

impl Server {
    pub fn start(command: &mut Command) -> Result<Self> {
        let shown = shown(command);
        let mut child = tied(command)
            // The bench's servers end with their stdin.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{shown}`"))?;
        let stdout = child.stdout.take().context("a piped stdout is there")?;
        Ok(Self { child, lines: BufReader::new(stdout).lines(), shown })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it says, for which it is waited.
    pub fn line(&mut self) -> Result<String> {
        let line = self.lines.next().with_context(|| format!("`{}` ended before it said where it is", self.shown))?;
        line.with_context(|| format!("`{}` cannot be read", self.shown))
    }
}

impl Server {
    /// Asks it to end, and waits until it has, with everything that it still has to write.
    pub fn end(mut self) -> Result<()> {
        let process = Pid::from_raw(self.child.id().try_into().context("a process id that is none")?);
        kill(process, Signal::SIGTERM).with_context(|| format!("cannot end `{}`", self.shown))?;
        self.child.wait().with_context(|| format!("cannot wait for the end of `{}`", self.shown))?;
        Ok(())
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
    fn a_server_that_is_asked_to_end_can_still_write_something() {
        let file = std::env::temp_dir().join(format!("xtask-last-words-{}", std::process::id()));
        let script =
            format!("trap 'echo last > {}; exit' TERM; echo here; while :; do sleep 0.01; done", file.display());
        let mut server = Server::start(Command::new("sh").args(["-c", &script])).unwrap();
        server.line().unwrap();
        server.end().unwrap();
        let words = std::fs::read_to_string(&file);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(words.unwrap(), "last\n");
    }

    #[test]
    fn a_tied_program_ends_with_whoever_started_it() {
        use std::os::unix::process::ExitStatusExt as _;

        // The kernel counts the thread that started it, so the end of one will do.
        let start = || tied(Command::new("sleep").arg("60")).spawn().unwrap();
        let mut child = std::thread::spawn(start).join().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::SIGTERM as i32));
    }

    #[test]
    fn a_server_that_ends_without_a_word_is_an_error_that_names_it() {
        let error = Server::start(&mut Command::new("true")).unwrap().line().unwrap_err().to_string();
        assert_eq!(error, "`true` ended before it said where it is");
    }
}
