//! Starting wrun, guests and peers, and ending them whatever happens.

use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// No claim is about this: it only keeps a test that hangs from hanging for ever.
const LIMIT: Duration = Duration::from_secs(60);

/// The same for what was told to end.
const END: Duration = Duration::from_secs(20);

/// A built guest or probe.
pub fn guest(name: &str) -> PathBuf {
    let path = root().join("guests/target/wasm32-wasip2/release").join(name).with_extension("wasm");
    assert!(path.is_file(), "{} is not built: run `cargo xtask guests`", path.display());
    path
}

/// The top folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// wrun, with a cache of its own and no colour.
pub fn wrun() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wrun"));
    command
        .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
        .env("NO_COLOR", "1")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null());
    command
}

/// What came of a command that ended by itself.
pub struct Finished {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    /// The most memory it was seen to have, in bytes.
    pub peak: u64,
}

/// Runs a command to its end, and never past the limit.
pub fn run(command: &mut Command) -> Finished {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    finish(child)
}

/// Waits for a child, and kills it at the limit.
pub fn finish(mut child: Child) -> Finished {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let out = std::thread::spawn(move || read_all(out));
    let err = std::thread::spawn(move || read_all(err));
    let started = Instant::now();
    let mut peak = 0;
    let status = loop {
        peak = memory(child.id()).unwrap_or(peak);
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if started.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let (stdout, stderr) = (out.join().unwrap(), err.join().unwrap());
    let Some(status) = status else { panic!("hung; it had said:\n{stdout}\n{stderr}") };
    let code = status.code().unwrap_or_else(|| panic!("ended by {status}; it had said:\n{stdout}\n{stderr}"));
    // A guest may panic; its sources are in `probes`.
    let panic = stderr.lines().find(|line| line.contains("panicked at") && !line.contains("at probes/"));
    assert_eq!(panic, None, "wrun panicked:\n{stderr}");
    Finished { code, stdout, stderr, peak }
}

/// The most memory that a process has had until now, in bytes; `None` when it has ended.
///
/// Not from `wait4`, whose figure for a child begins with that of the process it was started by: this one.
fn memory(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// All of a pipe; nothing where there is none.
fn read_all(from: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    from.map(|mut from| from.read_to_end(&mut bytes).unwrap());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A run of a guest whose report is looked at.
pub struct Reported {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    /// As in [`Finished`].
    pub peak: u64,
    pub report: Value,
}

/// Runs a guest with `options` before it and `args` after it, and reads its report.
pub fn report(options: &[&str], name: &str, args: &[&str]) -> Reported {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let finished = run(wrun().args(options).arg("--report").arg(&path).arg(guest(name)).arg("--").args(args));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("no report: {error}\n{}\n{}", finished.stdout, finished.stderr));
    let report = serde_json::from_str(&text).unwrap();
    let Finished { code, stdout, stderr, peak } = finished;
    Reported { code, stdout, stderr, peak, report }
}

/// Text without its line breaks, for what may be wrapped.
pub fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The error words of all samples, in order; `None` for one that went well.
pub fn errors(report: &Value) -> Vec<Option<String>> {
    let samples = report["samples"].as_array().unwrap();
    samples.iter().map(|sample| sample["error"].as_str().map(str::to_owned)).collect()
}

/// A child process that is ended with the test.
pub struct Running {
    child: Child,
    /// Kept open: a peer must not die of a line it cannot print.
    stdout: BufReader<ChildStdout>,
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout }
    }

    /// The next line it prints.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "it ended instead of printing a line; it had begun: {line:?}");
        line.trim_end().to_owned()
    }

    pub fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    /// Waits until it has written all it can to pipes that nobody reads, which is when nothing comes any more.
    pub fn fill_pipes(&self) {
        let pipes = [Some(self.stdout.get_ref().as_fd()), self.child.stderr.as_ref().map(AsFd::as_fd)];
        let unread = || pipes.iter().flatten().map(|pipe| rustix::io::ioctl_fionread(pipe).unwrap()).sum::<u64>();
        let mut before = 0;
        for _ in 0..100 {
            std::thread::sleep(Duration::from_millis(100));
            let now = unread();
            if now == before && now > 4096 {
                return;
            }
            before = now;
        }
        panic!("the pipes do not fill; {before} bytes are in them");
    }

    /// Its end, however it comes about.
    pub fn wait(mut self) -> std::process::ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < END, "hung");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    /// Asks first, so that what it made for itself goes with it.
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        // It may end by itself meanwhile.
        _ = rustix::process::kill_process(self.pid(), rustix::process::Signal::TERM);
        for _ in 0..200 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// `wrun peer http` with these options; answers with its URL and, with `--tls`, the file of its authority.
pub struct HttpPeer {
    pub url: String,
    pub authority: Option<PathBuf>,
    _running: Running,
}

impl HttpPeer {
    pub fn start(options: &[&str]) -> Self {
        let mut running = Running::start(wrun().args(["peer", "http"]).args(options));
        let url = running.line();
        let authority = options.contains(&"--tls").then(|| running.line().into());
        Self { url, authority, _running: running }
    }
}

/// A component that does nothing but what its core module's `run` does, which answers 0 when all is well, as text.
pub fn command(module: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
          (core module $module {module})
          (core instance $core (instantiate $module))
          (func $run (result (result)) (canon lift (core func $core "run")))
          (instance $command (export "run" (func $run)))
          (export "wasi:cli/run@0.2.0" (instance $command)))"#
    );
    wat::parse_str(text).unwrap()
}

/// Whether a program is there. Outside CI a test that lacks one says so and is over; in CI it fails.
pub fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|Output { .. }| true)
        || Path::new("/usr/sbin").join(program).exists();
    if !found {
        assert!(std::env::var_os("CI").is_none(), "{program} is not installed: `cargo xtask setup` installs it");
        eprintln!("SKIPPED: {program} is not installed: `cargo xtask setup` says how");
    }
    found
}
