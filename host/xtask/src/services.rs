//! Installing a web server for tests without starting it, and without leaving that wish behind.
//!
//! - [`NoServices`]: the wish, in Debian's own place for it;
//! - [`Held`]: ctrl-C is waited out, so that the wish is taken back.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, ensure};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// Where Debian's packages ask whether they may start what they bring. It belongs to whoever writes it first.
pub const POLICY: &str = "/usr/sbin/policy-rc.d";

/// The line by which a file of this program is known; behind it is its process.
const MARK: &str = "# Written by `cargo xtask` while it installs packages, as process ";

/// While it lives, packages do not start the services that they bring.
pub struct NoServices {
    /// `None` where somebody else has said before what may be started.
    ours: Option<PathBuf>,
}

impl NoServices {
    pub fn ask(policy: &Path) -> Result<Self> {
        if policy.exists() {
            return Ok(Self { ours: None });
        }
        let cannot = || format!("cannot write {}", policy.display());
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(policy).with_context(cannot)?;
        let asked = Self { ours: Some(policy.to_owned()) };
        // 101 is Debian's for an action that is forbidden by policy.
        write!(file, "#!/bin/sh\n{MARK}{}\nexit 101\n", std::process::id()).with_context(cannot)?;
        Ok(asked)
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if let Some(policy) = &self.ours {
            let _ = fs::remove_file(policy);
        }
    }
}

/// Removes what an earlier run, which was killed, has left behind. Files of others are left alone.
pub fn remove_stale(policy: &Path) {
    let text = fs::read_to_string(policy).unwrap_or_default();
    let writer = text.lines().find_map(|line| line.strip_prefix(MARK));
    if writer.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
        let _ = fs::remove_file(policy);
    }
}

/// From [`Held::begin`] to its end, a signal that asks this program to end is only noted. Programs that it has started
/// hear it all the same.
pub struct Held {
    asked: Arc<AtomicBool>,
    /// Whether signals do again what they usually do.
    over: Arc<AtomicBool>,
}

impl Held {
    pub fn begin() -> Result<Self> {
        let held = Self { asked: Arc::default(), over: Arc::default() };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register(signal, held.asked.clone())
                .and_then(|_| flag::register_conditional_default(signal, held.over.clone()))
                .context("cannot hold ctrl-C back while packages are installed")?;
        }
        Ok(held)
    }

    pub fn asked_to_end(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// # Errors
    /// When this program was asked to end meanwhile.
    pub fn end(self) -> Result<()> {
        ensure!(!self.asked_to_end(), "interrupted");
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::{Signal, raise};

    use super::*;

    fn policy(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("xtask-policy-{name}-{}", std::process::id()))
    }

    #[test]
    fn the_wish_is_a_program_that_says_no_and_is_taken_back() {
        let policy = policy("ask");
        let asked = NoServices::ask(&policy).unwrap();
        let status = std::process::Command::new("sh").arg(&policy).status().unwrap();
        assert!(status.code() == Some(101) && crate::command::is_program(&policy));
        drop(asked);
        assert!(!policy.exists());
    }

    #[test]
    fn what_somebody_else_has_said_stays() {
        let policy = policy("other");
        fs::write(&policy, "#!/bin/sh\nexit 0\n").unwrap();
        drop(NoServices::ask(&policy).unwrap());
        remove_stale(&policy);
        assert_eq!(fs::read_to_string(&policy).unwrap(), "#!/bin/sh\nexit 0\n");
        fs::remove_file(&policy).unwrap();
    }

    #[test]
    fn what_a_killed_run_left_is_removed_and_what_a_living_one_needs_is_not() {
        let policy = policy("stale");
        // No process has this number: Linux stops at 2^22.
        for (process, stays) in [(std::process::id(), true), (99_999_999, false)] {
            fs::write(&policy, format!("#!/bin/sh\n{MARK}{process}\nexit 101\n")).unwrap();
            remove_stale(&policy);
            assert_eq!(policy.exists(), stays, "{process}");
        }
    }

    #[test]
    fn a_signal_is_noted_and_told_at_the_end() {
        let held = Held::begin().unwrap();
        raise(Signal::SIGHUP).unwrap();
        assert_eq!(held.end().unwrap_err().to_string(), "interrupted");
        assert!(Held::begin().unwrap().end().is_ok());
    }
}
