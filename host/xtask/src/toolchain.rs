//! What compiles guests: a Rust for `wasm32-wasip2`, and a C compiler for the C inside ring.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::command::{cargo, on_path, quietly, remove_env, stdout};
use crate::debian;
use crate::repo::Repo;

pub const TARGET: &str = "wasm32-wasip2";

/// All of it.
pub struct Tools {
    pub rust: GuestRust,
    pub c: CCompiler,
}

/// Two ways to the target's standard library.
pub enum GuestRust {
    /// The toolchain that builds the host has it.
    Installed,
    /// Debian's packages build it from source. Their linkers are not enough, and those of the host's toolchain lie in
    /// this folder.
    Debian { linkers: PathBuf },
}

/// Debian's compiler, which must be of one version with the source of its standard library, and the C library and
/// linker beneath it.
pub const DEBIAN_PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src", "lld-19", "wasi-libc"];

impl GuestRust {
    /// What is on this machine; the toolchain that builds the host comes first.
    pub fn find(repo: &Repo) -> Result<Option<Self>> {
        let sysroot = stdout(Command::new("rustc").args(["--print", "sysroot"]).current_dir(&repo.root))?;
        let libraries = Path::new(sysroot.trim_end()).join("lib/rustlib");
        if libraries.join(TARGET).join("lib").is_dir() {
            return Ok(Some(Self::Installed));
        }
        if !debian::missing(DEBIAN_PACKAGES).is_empty() {
            return Ok(None);
        }
        let linkers = linkers(&libraries).with_context(|| {
            format!(
                "{} has no wasm-component-ld, which links what Debian's Rust compiles; build with a toolchain from rustup",
                libraries.display()
            )
        })?;
        Ok(Some(Self::Debian { linkers }))
    }

    /// A cargo command, such as `build`, that compiles for [`TARGET`] in the guests' workspace.
    pub fn cargo(&self, repo: &Repo, subcommand: &str) -> Result<Command> {
        let mut command = match self {
            Self::Installed => {
                let mut command = cargo(repo);
                command.arg(subcommand);
                command
            }
            Self::Debian { linkers } => {
                let mut command = Command::new("/usr/bin/cargo");
                remove_env(&mut command, |name| !of_any_toolchain(name));
                let mut path = vec![linkers.clone()];
                path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
                command
                    .env("PATH", env::join_paths(path).context("PATH cannot be extended")?)
                    .env("RUSTC", "/usr/bin/rustc")
                    // Building the standard library is not stable yet, in a compiler of any version.
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env(
                        "CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS",
                        "-Clink-self-contained=no -Clink-arg=/usr/lib/wasm32-wasi/crt1-command.o \
                         -L/usr/lib/wasm32-wasi",
                    )
                    .args([subcommand, "-Zbuild-std=std,panic_abort"]);
                command
            }
        };
        command.current_dir(repo.guests()).args(["--target", TARGET, "--target-dir", "target"]);
        Ok(command)
    }
}

/// Whether a variable means the same to every toolchain. The others were set for the one that runs this program: by
/// rustup, by cargo, or by a user who thought of the host.
fn of_any_toolchain(name: &str) -> bool {
    const OF_ONE: &[&str] = &["RUST", "CARGO", "LD_LIBRARY_PATH", "OUT_DIR"];
    const OF_ANY: &[&str] = &[
        "CARGO_HOME",
        "CARGO_HTTP_",
        "CARGO_NET_",
        "CARGO_REGISTR",
        "CARGO_SOURCE_",
        "CARGO_TERM_",
        "CARGO_INCREMENTAL",
        "RUST_BACKTRACE",
    ];
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    !starts(OF_ONE) || starts(OF_ANY)
}

/// The folder that holds `wasm-component-ld` and the `rust-lld` it calls, beneath the folder of some target.
fn linkers(libraries: &Path) -> Option<PathBuf> {
    let folders = std::fs::read_dir(libraries).ok()?.flatten().map(|entry| entry.path().join("bin"));
    folders.into_iter().find(|bin| ["wasm-component-ld", "rust-lld"].iter().all(|name| bin.join(name).is_file()))
}

/// A clang that compiles to WebAssembly, and the archiver of the same LLVM.
pub struct CCompiler {
    cc: String,
    ar: String,
}

pub const C_PACKAGES: &[&str] = &["clang-19", "llvm-19"];

impl CCompiler {
    /// Version 19 is what the guests are tested with; others are likely to do.
    pub fn find() -> Option<Self> {
        ["-19", "-20", "-21", "-22", "-18", "-17", "-16", ""].iter().find_map(|version| {
            let (cc, ar) = (format!("clang{version}"), format!("llvm-ar{version}"));
            on_path(&ar)?;
            let targets = quietly(Command::new(&cc).arg("--print-targets"))?;
            String::from_utf8_lossy(&targets.stdout).contains("wasm32").then_some(Self { cc, ar })
        })
    }

    /// Tells ring's build about it, unless the user has told it something else.
    pub fn tell(&self, command: &mut Command) {
        for (name, tool) in [("CC_wasm32_wasip2", &self.cc), ("AR_wasm32_wasip2", &self.ar)] {
            if env::var_os(name).is_none() {
                command.env(name, tool);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_for_the_hosts_toolchain_does_not_reach_another() {
        for name in ["RUSTUP_TOOLCHAIN", "RUSTC", "RUSTFLAGS", "CARGO", "CARGO_MANIFEST_DIR", "CARGO_TARGET_DIR"] {
            assert!(!of_any_toolchain(name), "{name}");
        }
        for name in ["PATH", "HOME", "CARGO_HOME", "CARGO_NET_OFFLINE", "CC_wasm32_wasip2", "https_proxy"] {
            assert!(of_any_toolchain(name), "{name}");
        }
    }
}
