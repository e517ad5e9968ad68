//! Finds what guests and tests need, and installs what is missing where it may.
//!
//! When everything is there it says nothing and costs a moment, so every task begins with it.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::command::on_path;
use crate::debian;
use crate::repo::Repo;
use crate::toolchain::{C_PACKAGES, CCompiler, DEBIAN_PACKAGES, GuestRust, TARGET, Tools};

/// What is going to be done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Guests are built and run.
    Guests,
    /// Tests are run as well, some against servers that nobody here wrote.
    Tests,
}

/// Something that is not there.
struct Missing {
    why: String,
    /// What to install on Debian.
    packages: Vec<&'static str>,
    /// What to do elsewhere.
    otherwise: &'static str,
}

/// Makes sure of everything that `purpose` needs, and says what compiles guests.
pub fn run(repo: &Repo, purpose: Purpose) -> Result<Tools> {
    let mut rust = GuestRust::find(repo)?;
    if rust.is_none() && rustup_fetches(repo) {
        rust = GuestRust::find(repo)?;
    }
    let c = CCompiler::find();
    let missing = missing(purpose, rust.is_none(), c.is_none());
    if !missing.is_empty() {
        install(&missing)?;
    }
    let rust = match rust {
        Some(rust) => rust,
        None => GuestRust::find(repo)?.context("the packages are installed, but there is still no Rust for guests")?,
    };
    let c = c.or_else(CCompiler::find).context("the packages are installed, but there is still no clang for guests")?;
    Ok(Tools { rust, c })
}

fn missing(purpose: Purpose, no_rust: bool, no_c: bool) -> Vec<Missing> {
    let mut missing = Vec::new();
    if no_rust {
        missing.push(Missing {
            why: format!("guests need Rust's standard library for {TARGET}, which rustup could not fetch"),
            packages: debian::missing(DEBIAN_PACKAGES),
            otherwise: "rustup target add wasm32-wasip2",
        });
    }
    if no_c {
        missing.push(Missing {
            why: "guests with TLS need a clang and llvm-ar for WebAssembly, to compile the C in ring".to_owned(),
            packages: C_PACKAGES.to_vec(),
            otherwise: "install clang and llvm-ar, version 16 or later, and put them on PATH",
        });
    }
    if purpose == Purpose::Tests {
        if on_path("nginx").is_none() && !std::path::Path::new("/usr/sbin/nginx").is_file() {
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
    }
    missing
}

fn install(missing: &[Missing]) -> Result<()> {
    let packages: Vec<&str> = missing.iter().flat_map(|missing| missing.packages.iter().copied()).collect();
    if debian::is_here() && debian::may_install() {
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
    if debian {
        text += &format!("\ntype:\n    sudo {}", debian::command(packages));
    } else {
        text += "\ntype or do:";
        for Missing { otherwise, .. } in missing {
            text += &format!("\n    {otherwise}");
        }
    }
    text + "\nand then the same xtask again"
}

/// Asks rustup for the target. A rustup that cannot fetch mostly says so at once; one that hangs is not waited for.
fn rustup_fetches(repo: &Repo) -> bool {
    const PATIENCE: Duration = Duration::from_secs(60);
    eprintln!("xtask: guests need Rust's standard library for {TARGET}: asking rustup for it");
    let command = Command::new("rustup")
        .args(["target", "add", TARGET])
        .current_dir(&repo.root)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .spawn();
    let Ok(mut rustup) = command else { return false };
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match rustup.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(Duration::from_millis(50)),
            Err(_) => break,
        }
    }
    let _ = rustup.kill();
    let _ = rustup.wait();
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_missing_where_everything_is_found() {
        assert!(missing(Purpose::Guests, false, false).is_empty());
    }

    #[test]
    fn a_refusal_gives_one_command_on_debian_and_one_for_each_need_elsewhere() {
        let missing = missing(Purpose::Guests, true, true);
        let text = refusal(&missing, true, &["rustc-web", "clang-19"]);
        assert!(text.contains("\n    sudo apt-get install --no-install-recommends rustc-web clang-19\n"), "{text}");
        let text = refusal(&missing, false, &[]);
        assert!(text.contains("\n    rustup target add wasm32-wasip2\n    install clang"), "{text}");
    }
}
