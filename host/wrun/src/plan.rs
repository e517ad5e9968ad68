//! What was asked for, checked: every rule between two flags is here, and after this nobody looks at flags.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::cli;
use crate::policy::Rule;

/// The settings of one run.
#[derive(Debug)]
pub struct Plan {
    pub guest: PathBuf,
    pub args: Vec<String>,
    pub backend: cli::Backend,
    /// The rules as they were written, for the report.
    pub allowed: Vec<String>,
    pub rules: Vec<Rule>,
    pub folders: Vec<Folder>,
    pub env: Vec<(String, String)>,
    pub timeout: Option<Duration>,
    /// Bytes.
    pub max_memory: usize,
    pub max_sockets: usize,
    pub no_delay: bool,
    pub report: Option<ReportTo>,
    pub trace: bool,
    pub progress: cli::Progress,
    pub quiet: bool,
}

/// A folder of this machine that the guest gets.
#[derive(Debug, PartialEq, Eq)]
pub struct Folder {
    pub host: PathBuf,
    /// The name the guest sees it under.
    pub guest: String,
    pub read_only: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ReportTo {
    /// Then the guest's own output goes to standard error, so that standard output is pure JSON.
    Stdout,
    File(PathBuf),
}

impl Plan {
    pub fn new(run: cli::Run) -> Result<Self> {
        let [backend] = run.backend[..] else {
            bail!("--backend was given {} times; one run has one backend: run wrun once for each", run.backend.len());
        };
        let folders = run.dir.iter().map(|text| Folder::parse(text)).collect::<Result<Vec<_>>>()?;
        for (at, folder) in folders.iter().enumerate() {
            let twice = folders[..at].iter().any(|other| other.guest == folder.guest);
            ensure!(
                !twice,
                "--dir gives the guest two folders named {}: name one differently with ::NAME",
                folder.guest
            );
        }
        let report =
            run.report.map(|path| if path == Path::new("-") { ReportTo::Stdout } else { ReportTo::File(path) });
        Ok(Self {
            guest: run.guest,
            args: run.args,
            backend,
            allowed: run.allow.iter().map(|rule| rule.text.clone()).collect(),
            rules: run.allow.into_iter().flat_map(|rule| rule.rules).collect(),
            folders,
            env: run.env.iter().map(|text| variable(text)).collect::<Result<_>>()?,
            timeout: run.timeout,
            max_memory: usize::try_from(run.max_memory).unwrap_or(usize::MAX),
            max_sockets: usize::try_from(run.max_sockets)?,
            no_delay: run.no_delay,
            report,
            trace: run.trace,
            progress: run.progress,
            quiet: run.quiet,
        })
    }
}

impl Folder {
    /// Reads `HOST[::GUEST][:ro]`, and looks whether the folder is there.
    fn parse(text: &str) -> Result<Self> {
        let (rest, read_only) = match text.strip_suffix(":ro") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let (host, guest) = rest.split_once("::").unwrap_or((rest, rest));
        ensure!(
            !host.is_empty() && !guest.is_empty(),
            "--dir {text} names no folder: write HOST, HOST::GUEST or HOST::GUEST:ro"
        );
        // Opened as the capability that the guest will get, so that what would fail then fails now.
        Dir::open_ambient_dir(host, ambient_authority())
            .with_context(|| format!("--dir {text}: {host} cannot be opened as a folder"))?;
        Ok(Self { host: host.into(), guest: guest.to_owned(), read_only })
    }
}

/// Reads `NAME=VALUE`, or `NAME` for this process's own value.
fn variable(text: &str) -> Result<(String, String)> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, value.to_owned()),
        None => {
            let Ok(value) = std::env::var(text) else {
                bail!("--env {text}: it is not set here, or not as text; give it a value with {text}=VALUE");
            };
            (text, value)
        }
    };
    ensure!(!name.is_empty() && !text.contains('\0'), "--env {text:?} names no variable: write NAME=VALUE or NAME");
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_a_name_for_the_guest_and_may_be_read_only() {
        let folder = |text| Folder::parse(text).unwrap();
        let expected =
            |host: &str, guest: &str, read_only| Folder { host: host.into(), guest: guest.into(), read_only };
        assert_eq!(folder("src"), expected("src", "src", false));
        assert_eq!(folder("src:ro"), expected("src", "src", true));
        assert_eq!(folder("src::/data"), expected("src", "/data", false));
        assert_eq!(folder("src::/data:ro"), expected("src", "/data", true));
        for text in ["", "::x", "src::", "no/such/folder", "Cargo.toml"] {
            assert!(Folder::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_variable_without_a_value_is_this_process_s_own() {
        assert_eq!(variable("A=b=c").unwrap(), ("A".into(), "b=c".into()));
        assert_eq!(variable("A=").unwrap(), ("A".into(), String::new()));
        assert_eq!(variable("CARGO_PKG_NAME").unwrap().1, std::env::var("CARGO_PKG_NAME").unwrap());
        assert!(variable("SURELY_NOT_SET_HERE").is_err());
        assert!(variable("=x").is_err());
    }
}
