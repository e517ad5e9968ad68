//! Debian's package manager, where it may be used.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::command::{quietly, run};

/// Whether this machine is a Debian.
pub fn is_here() -> bool {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    release.lines().any(|line| line.trim_end() == "ID=debian") && Path::new("/usr/bin/apt-get").exists()
}

/// Whether this process may install: it is root.
pub fn may_install() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Those of `packages` that are not installed. All of them where there is no dpkg.
pub fn missing<'a>(packages: &[&'a str]) -> Vec<&'a str> {
    let query =
        quietly(Command::new("dpkg-query").args(["-W", "-f", "${Package} ${db:Status-Status}\n"]).args(packages));
    let installed = query.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let is_installed = |package: &&str| installed.lines().any(|line| line == format!("{package} installed"));
    packages.iter().filter(|package| !is_installed(package)).copied().collect()
}

/// The command that installs `packages`, as a user types it.
pub fn command(packages: &[&str]) -> String {
    format!("apt-get install --no-install-recommends {}", packages.join(" "))
}

/// Installs `packages`, and never removes another for them.
pub fn install(packages: &[&str]) -> Result<()> {
    let known = quietly(apt_get().args(["--simulate", "--no-install-recommends", "install"]).args(packages));
    if !known.is_some_and(|output| output.status.success()) {
        run(apt_get().arg("update"))?;
    }
    let _quiet = NoServices::ask()?;
    run(apt_get().args(["--yes", "--no-remove", "--no-install-recommends", "install"]).args(packages))
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq");
    command
}

/// While it lives, packages do not start the services that they bring: a web server for tests is not wanted on port 80.
struct NoServices(Option<&'static Path>);

impl NoServices {
    fn ask() -> Result<Self> {
        // Debian's own place for this wish: 101 says that an action is forbidden by policy.
        let policy = Path::new("/usr/sbin/policy-rc.d");
        if policy.exists() {
            return Ok(Self(None));
        }
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o755)
            .open(policy)
            .with_context(|| format!("cannot write {}", policy.display()))?;
        let asked = Self(Some(policy));
        std::io::Write::write_all(&mut file, b"#!/bin/sh\nexit 101\n")?;
        Ok(asked)
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if let Some(policy) = self.0 {
            let _ = fs::remove_file(policy);
        }
    }
}
