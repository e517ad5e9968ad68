//! Running other programs: a clean environment for cargo, and errors that show what was run.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::repo::Repo;

/// The cargo that runs this program, at the repository's root, without what `cargo run` has added to the environment:
/// a build must come out as if the user had typed it.
pub fn cargo(repo: &Repo) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(&repo.root);
    remove_env(&mut command, |name| {
        name == "CARGO" || name == "LD_LIBRARY_PATH" || ADDED_BY_CARGO.iter().any(|prefix| name.starts_with(prefix))
    });
    command
}

/// What `cargo run` sets about the package that it runs.
const ADDED_BY_CARGO: &[&str] =
    &["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_", "OUT_DIR"];

/// Takes the variables away whose names match.
pub fn remove_env(command: &mut Command, matches: impl Fn(&str) -> bool) {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(&matches) {
            command.env_remove(name);
        }
    }
}

/// Runs to the end, in front of the user.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// Runs to the end and gives what was written to stdout; stderr is the user's.
pub fn stdout(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", shown(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs to the end out of sight. A program that is not there counts as one that failed.
pub fn quietly(command: &mut Command) -> Option<Output> {
    command.stdin(Stdio::null()).output().ok()
}

/// Runs to the end, in front of the user, or up to `limit`: then it is asked to end, and made to if it does not.
///
/// `None` when that was so, or when it is not there.
pub fn run_within(command: &mut Command, limit: Duration) -> Option<ExitStatus> {
    /// For a program that is asked to end to put away what it has begun.
    const GRACE: Duration = Duration::from_secs(5);
    let mut child = command.stdin(Stdio::null()).spawn().ok()?;
    let ended = wait(&mut child, limit);
    if ended.is_none() {
        let asked = i32::try_from(child.id()).is_ok_and(|id| kill(Pid::from_raw(id), Signal::SIGTERM).is_ok());
        if !asked || wait(&mut child, GRACE).is_none() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
    ended
}

/// Waits for its end, up to `limit`.
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if start.elapsed() < limit => thread::sleep(Duration::from_millis(20)),
            _ => return None,
        }
    }
}

/// Announces `what`, does it, and says how long it took.
pub fn step<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("xtask: {what}");
    let start = Instant::now();
    let result = work()?;
    eprintln!("xtask: {what}: done in {:.1} s", start.elapsed().as_secs_f64());
    Ok(result)
}

/// A command as it would be typed here: with its folder, if that is another, and its variables.
pub fn shown(command: &Command) -> String {
    let mut words = Vec::new();
    if let Some(folder) =
        command.get_current_dir().filter(|folder| env::current_dir().is_ok_and(|here| here != *folder))
    {
        words.push(format!("cd {} &&", quoted(folder.as_os_str())));
    }
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}={}", name.to_string_lossy(), variable(name, value)));
        }
    }
    words.push(quoted(command.get_program()));
    words.extend(command.get_args().map(quoted));
    words.join(" ")
}

/// A variable's value; of a PATH that was extended, only what was put in front.
fn variable(name: &OsStr, value: &OsStr) -> String {
    let path = env::var_os("PATH").filter(|_| name == "PATH");
    let front = path.and_then(|path| value.to_str()?.strip_suffix(path.to_str()?).map(str::to_owned));
    front.map_or_else(|| quoted(value), |front| format!("{}\"$PATH\"", quoted(OsStr::new(&front))))
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The program of this name on PATH.
pub fn on_path(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|file| is_program(file))
}

/// Whether a file can be run.
pub fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_command_can_be_pasted_into_a_shell() {
        let mut command = Command::new("cargo");
        command.args(["test", "a b", "it's", ""]).env("FLAGS", "-C x");
        assert_eq!(shown(&command), r"FLAGS='-C x' cargo test 'a b' 'it'\''s' ''");

        let path = format!("/front:{}", env::var("PATH").unwrap());
        let mut command = Command::new("ls");
        command.current_dir("/").env("PATH", path);
        assert_eq!(shown(&command), r#"cd / && PATH=/front:"$PATH" ls"#);
    }

    #[test]
    fn only_a_file_that_may_be_run_is_a_program() {
        assert!(is_program(&env::current_exe().unwrap()));
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        for other in [package.to_owned(), package.join("Cargo.toml"), package.join("no-such-file")] {
            assert!(!is_program(&other), "{}", other.display());
        }
    }

    #[test]
    fn a_program_that_takes_too_long_is_ended_and_one_in_time_gives_its_status() {
        assert_eq!(run_within(Command::new("sleep").arg("3600"), Duration::ZERO), None);
        let status = run_within(Command::new("sh").args(["-c", "exit 3"]), Duration::from_secs(60));
        assert_eq!(status.and_then(|status| status.code()), Some(3));
        assert_eq!(run_within(&mut Command::new("no-such-program"), Duration::from_secs(60)), None);
    }

    #[test]
    fn a_failure_names_the_command() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err().to_string();
        assert!(error.contains("`sh -c 'exit 3'` failed") && error.contains('3'), "{error}");
        assert!(stdout(&mut Command::new("no-such-program")).unwrap_err().to_string().contains("cannot start"));
    }
}
