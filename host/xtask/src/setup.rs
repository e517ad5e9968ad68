//! Finds what guests and tests need, and installs what is missing where it may.
//!
//! When everything is there it says nothing and costs a moment, so every task begins with it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, is_program, on_path, quietly, run_within};
use crate::debian;
use crate::repo::Repo;
use crate::services;
use crate::toolchain::{C_PACKAGES, CCompiler, DEBIAN_PACKAGES, GuestRust, TARGET, Tools};

/// As a user types it.
const ADD_TARGET: &str = "rustup target add wasm32-wasip2";
/// As a user types it.
const ADD_CHECKS: &str = "rustup component add rustfmt clippy";

/// What is going to be done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Guests are built and run.
    Guests,
    /// Cache guests are also held against memcached.
    Caches,
    /// Tests are run as well, some against servers that nobody here wrote.
    Tests,
}

/// Something that is not there.
struct Missing {
    why: String,
    /// What to install on Debian; empty where that is no help.
    packages: Vec<&'static str>,
    /// What to do elsewhere.
    otherwise: &'static str,
}

/// Makes sure of everything that `purpose` needs, and says what compiles guests.
pub fn run(repo: &Repo, purpose: Purpose) -> Result<Tools> {
    if debian::may_install() {
        services::remove_stale(Path::new(services::POLICY));
    }
    let mut rust = GuestRust::find(repo)?;
    if rust.is_none() && rustup(repo, &format!("guests need Rust's standard library for {TARGET}"), ADD_TARGET) {
        rust = GuestRust::find(repo)?;
    }
    let c = CCompiler::find();
    let checked = purpose != Purpose::Tests || checks(repo) || {
        rustup(repo, "tests need rustfmt and clippy", ADD_CHECKS) && checks(repo)
    };
    let missing = missing(purpose, rust.is_none(), c.is_none(), !checked);
    if !missing.is_empty() {
        install(&missing)?;
    }
    let rust = match rust {
        Some(rust) => rust,
        None => GuestRust::find(repo)?.context("the packages are installed, but there is still no Rust for guests")?,
    };
    let c = c.or_else(CCompiler::find).context("the packages are installed, but there is still no clang for guests")?;
    if purpose == Purpose::Tests {
        browser();
    }
    Ok(Tools { rust, c })
}

/// What tests of the chart's page are run in. They do without where there is none, and say so.
fn browser() {
    const PACKAGES: &[&str] = &["chromium"];
    if ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
        .into_iter()
        .any(|name| on_path(name).is_some())
    {
        return;
    }
    let why = "tests open a chart's page in a headless chromium";
    if !debian::is_here() {
        eprintln!("xtask: {why}, which is not on PATH: they will be skipped");
    } else if !debian::may_install() {
        eprintln!("xtask: {why}: they will be skipped until you type: sudo {}", debian::command(PACKAGES));
    } else {
        eprintln!("xtask: {why}: installing {}", PACKAGES.join(" "));
        if let Err(error) = debian::install(PACKAGES) {
            eprintln!("xtask: {error:#}: they will be skipped");
        }
    }
}

fn missing(purpose: Purpose, no_rust: bool, no_c: bool, no_checks: bool) -> Vec<Missing> {
    let mut missing = Vec::new();
    if no_rust {
        missing.push(Missing {
            why: format!("guests need Rust's standard library for {TARGET}, which rustup could not fetch"),
            packages: debian::missing(DEBIAN_PACKAGES),
            otherwise: ADD_TARGET,
        });
    }
    if no_c {
        missing.push(Missing {
            why: "guests with TLS need a clang and llvm-ar for WebAssembly, to compile the C in ring".to_owned(),
            packages: C_PACKAGES.to_vec(),
            otherwise: "install clang and llvm-ar, version 16 or later, and put them on PATH",
        });
    }
    if no_checks {
        missing.push(Missing {
            why: "tests begin with rustfmt and clippy, which rustup could not fetch".to_owned(),
            packages: Vec::new(),
            otherwise: ADD_CHECKS,
        });
    }
    if purpose == Purpose::Tests {
        if on_path("nginx").is_none() && !is_program(Path::new("/usr/sbin/nginx")) {
            missing.push(Missing {
                why: "tests run guests against nginx with TLS".to_owned(),
                packages: vec!["nginx-light"],
                otherwise: "install nginx and put it on PATH",
            });
        }
        if on_path("python3").is_none() {
            missing.push(Missing {
                why: "tests run guests against Python's http.server".to_owned(),
                packages: vec!["python3"],
                otherwise: "install python3 and put it on PATH",
            });
        }
        missing.extend(memcached_clients());
    }
    if purpose != Purpose::Guests {
        missing.extend(memcached());
    }
    missing
}

/// The server that the guests' caches are held against.
fn memcached() -> Option<Missing> {
    on_path("memcached").is_none().then(|| Missing {
        why: "the cache guests are held against memcached".to_owned(),
        packages: vec!["memcached"],
        otherwise: "install memcached and put it on PATH",
    })
}

/// Clients of memcached's that nobody here wrote.
fn memcached_clients() -> Option<Missing> {
    const TOOLS: &[&str] = &["memccp", "memccat", "memcrm", "memcstat", "memcslap"];
    let tools = TOOLS.iter().all(|tool| on_path(tool).is_some());
    // Debian's package is for Debian's Python, which need not be the first on PATH.
    let library = ["python3", "/usr/bin/python3"].into_iter().any(|python| {
        let import = quietly(Command::new(python).args(["-c", "import pymemcache"]));
        import.is_some_and(|import| import.status.success())
    });
    (!tools || !library).then(|| Missing {
        why: "tests run libmemcached's tools and Python's pymemcache against cache-server".to_owned(),
        packages: vec!["libmemcached-tools", "python3-pymemcache"],
        otherwise: "install libmemcached's tools (memccp and its kin) and Python's pymemcache",
    })
}

fn install(missing: &[Missing]) -> Result<()> {
    let packages: Vec<&str> = missing.iter().flat_map(|missing| missing.packages.iter().copied()).collect();
    // Where something is left for the user to do, all of it is said at once, and before anything is changed.
    let all_packages = missing.iter().all(|missing| !missing.packages.is_empty());
    if all_packages && debian::is_here() && debian::may_install() {
        for Missing { why, packages, .. } in missing {
            eprintln!("xtask: {why}: installing {}", packages.join(" "));
        }
        return debian::install(&packages);
    }
    bail!(refusal(missing, debian::is_here(), &packages))
}

/// What the user has to type, where this program may not install.
fn refusal(missing: &[Missing], debian: bool, packages: &[&str]) -> String {
    let mut text = String::from("something is missing that may not be installed from here");
    for Missing { why, .. } in missing {
        text += &format!("\n  - {why}");
    }
    text += "\ntype or do:";
    if debian && !packages.is_empty() {
        text += &format!("\n    sudo {}", debian::command(packages));
    }
    for Missing { otherwise, packages, .. } in missing {
        if !debian || packages.is_empty() {
            text += &format!("\n    {otherwise}");
        }
    }
    text + "\nand then the same xtask again"
}

/// Whether what `cargo xtask test` begins with is there.
fn checks(repo: &Repo) -> bool {
    ["fmt", "clippy"].iter().all(|check| {
        let version = quietly(cargo(repo).args([check, "--version"]));
        version.is_some_and(|version| version.status.success())
    })
}

/// Has rustup do what the user would type. One that cannot fetch mostly says so at once; one that hangs is not waited
/// for, and one on a slow link is.
fn rustup(repo: &Repo, why: &str, typed: &str) -> bool {
    const PATIENCE: Duration = Duration::from_secs(5 * 60);
    eprintln!("xtask: {why}: {typed}");
    let mut words = typed.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).current_dir(&repo.root).env("RUST_BACKTRACE", "0");
    run_within(&mut command, PATIENCE).is_some_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_missing_where_everything_is_found() {
        assert!(missing(Purpose::Guests, false, false, false).is_empty());
    }

    #[test]
    fn a_refusal_gives_one_command_on_debian_and_one_for_each_need_elsewhere() {
        let missing = missing(Purpose::Guests, true, true, false);
        let text = refusal(&missing, true, &["rustc-web", "clang-19"]);
        assert!(text.contains("\n    sudo apt-get install --no-install-recommends rustc-web clang-19\n"), "{text}");
        let text = refusal(&missing, false, &[]);
        assert!(text.contains("\n    rustup target add wasm32-wasip2\n    install clang"), "{text}");
    }

    #[test]
    fn what_no_package_has_is_said_beside_the_packages() {
        let missing = missing(Purpose::Guests, false, true, true);
        let text = refusal(&missing, true, &["clang-19"]);
        let typed = "sudo apt-get install --no-install-recommends clang-19\n    rustup component add rustfmt clippy\n";
        assert!(text.contains(typed), "{text}");
    }
}
