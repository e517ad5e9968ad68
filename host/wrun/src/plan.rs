//! What was asked for, checked: every rule between two flags is here, and after this nobody looks at flags.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::compare::expression::Value;
use crate::policy::Rule;
use crate::profile::{self, Loaded};
use crate::{chart, cli};

/// Everything that was asked for: one run, or several that are compared.
#[derive(Debug)]
pub struct Series {
    /// One for each backend, at least one. They differ in their backends and in where their reports go.
    pub plans: Vec<Plan>,
    /// How often each is run.
    pub rounds: u32,
    pub judging: cli::Judging,
}

/// The settings of one run.
#[derive(Debug, Clone)]
pub struct Plan {
    pub guest: PathBuf,
    pub args: Vec<String>,
    pub stack: Stack,
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
    /// The guest's standard output goes to standard error, since what wrun has to say there is for programs.
    pub stdout_to_stderr: bool,
    pub trace: bool,
    pub progress: cli::Progress,
    pub quiet: bool,
}

/// Whose sockets the guest gets.
#[derive(Debug, Clone)]
pub enum Stack {
    Native,
    /// This machine's, impaired.
    Throttled {
        profile: Box<Loaded>,
        seed: u64,
    },
}

impl Stack {
    /// How long what the guest sent last may take to leave. What crosses a slow link takes its time, unless a signal
    /// ends that.
    pub fn tidying(&self) -> Duration {
        match self {
            Self::Native => Duration::from_secs(5),
            Self::Throttled { .. } => Duration::from_secs(60),
        }
    }

    /// What the user calls it, as in `throttled netmf3-board`.
    pub fn label(&self) -> String {
        match self {
            Self::Native => "native".to_owned(),
            Self::Throttled { profile, .. } => format!("throttled {}", profile.profile.name),
        }
    }
}

/// A folder of this machine that the guest gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    pub host: PathBuf,
    /// The name the guest sees it under.
    pub guest: String,
    pub read_only: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportTo {
    Stdout,
    File(PathBuf),
}

impl Series {
    pub fn new(run: cli::Run, judging: cli::Judging) -> Result<Self> {
        let stacks = stacks(&run)?;
        let rounds = run.rounds;
        if let Some(chart) = &judging.chart {
            chart::check(chart)?;
        }
        let plan = Plan::new(run, stacks[0].clone())?;
        if let [_] = stacks[..] {
            ensure!(
                judging.format == cli::Format::Text,
                "--format is for a comparison: give --backend more than once, or for the report of one run --report -"
            );
            ensure!(
                judging.threshold.is_none(),
                "--threshold is for a comparison: give --backend more than once, or leave it out"
            );
            if let Some(of_base) = judging.fail_if.iter().find(|expression| matches!(expression.value, Value::Ratio(_)))
            {
                bail!(
                    "--fail-if '{}' is a multiple of a base, and one run has none: give --backend more than once, or a time",
                    of_base.text
                );
            }
            return Ok(Self { plans: vec![plan], rounds, judging });
        }
        if plan.report == Some(ReportTo::Stdout) {
            bail!("--report - has room for one report, and {} backends make one each: name a file", stacks.len());
        }
        let mut plans: Vec<Plan> = Vec::new();
        for stack in stacks {
            let report = plan.report.as_ref().map(|report| report.labelled(&stack.label(), plans.len()));
            let stdout_to_stderr = judging.format != cli::Format::Text;
            plans.push(Plan { report, stack, stdout_to_stderr, ..plan.clone() });
        }
        Ok(Self { plans, rounds, judging })
    }
}

impl Series {
    /// Whether there is more than one run.
    pub fn is_several(&self) -> bool {
        self.plans.len() > 1 || self.rounds > 1
    }
}

/// The backends in their order, each with what belongs to it.
fn stacks(run: &cli::Run) -> Result<Vec<Stack>> {
    let throttled = run.backend.iter().filter(|backend| **backend == cli::Backend::Throttled).count();
    match (throttled, run.profile.len()) {
        (0, 0) => {}
        (0, _) => bail!("--profile is for the throttled backend: add --backend throttled"),
        (_, 0) => bail!("--backend throttled needs --profile NAME or FILE; wrun profile list shows the names"),
        (1, given) => ensure!(
            given == 1,
            "--profile was given {given} times for one throttled backend: give one, or --backend throttled for each"
        ),
        (backends, given) => ensure!(
            given == 1 || given == backends,
            "--profile was given {given} times for {backends} throttled backends: give one for all, or one for each"
        ),
    }
    ensure!(throttled > 0 || run.seed.is_none(), "--seed is for the throttled backend: add --backend throttled");
    let loaded = run.profile.iter().map(|name| profile::find(name)).collect::<Result<Vec<_>>>()?;
    let seed = run.seed.unwrap_or_else(fresh_seed);
    let mut profiles = loaded.iter().cycle();
    let stack = |backend: &cli::Backend| match backend {
        cli::Backend::Native => Ok(Stack::Native),
        cli::Backend::Throttled => {
            let profile = profiles.next().context("there is no profile")?.clone();
            Ok(Stack::Throttled { profile: Box::new(profile), seed })
        }
    };
    run.backend.iter().map(stack).collect()
}

/// A seed that is new, and short enough to be typed again.
fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 40
}

impl Plan {
    /// The same for a round after the first: under another seed, since the same would measure the same again.
    pub fn in_round(&self, round: u32) -> Self {
        let mut plan = self.clone();
        if let Stack::Throttled { seed, .. } = &mut plan.stack {
            *seed = seed.wrapping_add(round.into());
        }
        plan
    }

    fn new(run: cli::Run, stack: Stack) -> Result<Self> {
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
            stack,
            allowed: run.allow.iter().map(|rule| rule.text.clone()).collect(),
            rules: run.allow.into_iter().flat_map(|rule| rule.rules).collect(),
            folders,
            env: run.env.iter().map(|text| variable(text)).collect::<Result<_>>()?,
            timeout: run.timeout,
            max_memory: usize::try_from(run.max_memory).unwrap_or(usize::MAX),
            max_sockets: usize::try_from(run.max_sockets)?,
            no_delay: run.no_delay,
            stdout_to_stderr: report == Some(ReportTo::Stdout),
            report,
            trace: run.trace,
            progress: run.progress,
            quiet: run.quiet,
        })
    }
}

impl ReportTo {
    /// Where the report of one of several runs goes: `run.json` becomes `run.1-throttled-netmf3-board.json`.
    fn labelled(&self, label: &str, place: usize) -> Self {
        let Self::File(path) = self else { return self.clone() };
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let label: String = label.chars().map(plain).collect();
        let extension =
            path.extension().map(|extension| format!(".{}", extension.to_string_lossy())).unwrap_or_default();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self::File(path.with_file_name(format!("{stem}.{}-{label}{extension}", place + 1)))
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
    fn the_reports_of_several_runs_lie_beside_each_other() {
        let report = ReportTo::File("out/run.json".into());
        assert_eq!(
            report.labelled("throttled my/profile", 1),
            ReportTo::File("out/run.2-throttled-my-profile.json".into())
        );
        assert_eq!(ReportTo::File("run".into()).labelled("native", 0), ReportTo::File("run.1-native".into()));
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
