//! Debian's package manager, where it may be used.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::command::{quietly, run};
use crate::services::{Held, NoServices, POLICY};

/// Packages that bring a service, which Debian starts as soon as it is there.
const WITH_SERVICES: &[&str] = &["memcached", "nginx-light"];

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

/// Installs `packages`, and never removes another for them. Services that they bring are not started.
pub fn install(packages: &[&str]) -> Result<()> {
    let quiet = packages.iter().any(|package| WITH_SERVICES.contains(package));
    let held = Held::begin()?;
    let services = if quiet { Some(NoServices::ask(Path::new(POLICY))?) } else { None };
    let outcome = fetch_and_install(packages, &held);
    drop(services);
    held.end()?;
    outcome
}

fn fetch_and_install(packages: &[&str], held: &Held) -> Result<()> {
    let install = ["--no-remove", "--no-install-recommends", "install"];
    let known = quietly(apt_get().arg("--simulate").args(install).args(packages));
    let known = known.is_some_and(|output| output.status.success());
    if !known {
        run(apt_get().arg("update"))?;
    }
    let install = || run(apt_get().arg("--yes").args(install).args(packages));
    match install() {
        // Lists of last month know the packages, and name files that are there no more.
        Err(error) if known && !held.asked_to_end() => {
            eprintln!("xtask: {error:#}: once more, with new lists of packages");
            run(apt_get().arg("update"))?;
            install()
        }
        outcome => outcome,
    }
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq");
    command
}
