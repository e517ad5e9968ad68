//! Which cores the bench runs on: one for itself and every client, and another for a server that is to have its own.

use anyhow::{Context as _, Result};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The first two cores that this process may use, or the only one twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cores {
    pub own: usize,
    pub other: usize,
}

impl Cores {
    /// Keeps this process, and with it every program it starts, on the first core it may use.
    pub fn pin() -> Result<Self> {
        let allowed = sched_getaffinity(Pid::from_raw(0)).context("cannot read which cores are allowed")?;
        let mut cores = (0..CpuSet::count()).filter(|core| allowed.is_set(*core).unwrap_or(false));
        let own = cores.next().context("no core is allowed")?;
        let cores = Self { own, other: cores.next().unwrap_or(own) };
        stay(own)?;
        Ok(cores)
    }

    /// Does something on the other core. A program that is started there stays there.
    pub fn on_other<T>(self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        stay(self.other)?;
        let result = work();
        stay(self.own)?;
        result
    }
}

fn stay(core: usize) -> Result<()> {
    let mut one = CpuSet::new();
    one.set(core).and_then(|()| sched_setaffinity(Pid::from_raw(0), &one)).context("cannot pin this process to a core")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::command::stdout;

    #[test]
    fn a_program_stays_on_the_core_it_was_started_on() {
        // In a thread of its own, since the other tests are not to be pinned.
        let lists = std::thread::spawn(|| {
            let cores = Cores::pin()?;
            let allowed = || stdout(Command::new("sh").args(["-c", "grep Cpus_allowed_list /proc/self/status"]));
            let other = cores.on_other(allowed)?;
            Ok::<_, anyhow::Error>((cores, other, allowed()?))
        });
        let (cores, other, own) = lists.join().unwrap().unwrap();
        assert_eq!(other.split_whitespace().last(), Some(cores.other.to_string().as_str()));
        assert_eq!(own.split_whitespace().last(), Some(cores.own.to_string().as_str()));
    }
}
