//! cache-server, run by wrun, against memcached and against clients that nobody here wrote.

mod clients;
mod differential;
mod faults;
mod memory;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Running, guest, has, run, wrun};

/// A cache-server on a port of the system's choice.
struct CacheServer {
    address: SocketAddr,
    running: Running,
    folder: TempDir,
}

impl CacheServer {
    fn start(args: &[&str]) -> Self {
        Self::start_under(&["--quiet"], args)
    }

    /// With options of wrun's own; what that says is then in a file.
    fn start_under(options: &[&str], args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let said = std::fs::File::create(folder.path().join(SAID)).unwrap();
        let mut running = Running::start(
            wrun()
                .args(options)
                .args(["--allow", "tcp-listen://127.0.0.1:0", "--report"])
                .arg(folder.path().join("report.json"))
                .arg(guest("cache-server"))
                .args(["--", "--listen", "127.0.0.1:0"])
                .args(args)
                .stderr(said),
        );
        let address = running.line().parse().unwrap();
        Self { address, running, folder }
    }

    fn pid(&self) -> Pid {
        self.running.pid()
    }

    fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    /// Ends it with SIGTERM, and reads its report.
    fn stop(self) -> Value {
        self.end().0
    }

    /// Ends it with SIGTERM, and reads its report and what wrun said.
    fn end(self) -> (Value, String) {
        // Counters are told every 10 ms at most, so what was done last is told after that.
        std::thread::sleep(Duration::from_millis(300));
        self.running.signal(Signal::TERM);
        assert_eq!(self.running.wait().code(), Some(143));
        let report = std::fs::read(self.folder.path().join("report.json")).unwrap();
        let said = std::fs::read_to_string(self.folder.path().join(SAID)).unwrap();
        (serde_json::from_slice(&report).unwrap(), said)
    }
}

/// Where what wrun says is kept.
const SAID: &str = "said";

/// A connection whose reads do not wait for ever.
fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Debian 12's memcached, which the answers are held against.
struct Memcached {
    address: SocketAddr,
    child: Child,
    _folder: TempDir,
}

/// The version whose answers cache-server gives.
const ORACLE: &str = "1.6.18";

impl Memcached {
    /// `None` where there is none of that version; that is said, and an error in CI.
    fn start() -> Option<Self> {
        if !has("memcached") {
            return None;
        }
        let version = Command::new("memcached").arg("--version").output().unwrap().stdout;
        let version = String::from_utf8_lossy(&version).trim().to_owned();
        if !version.ends_with(ORACLE) {
            assert!(std::env::var_os("CI").is_none(), "{version} is installed, and its answers may be others");
            eprintln!("SKIPPED: {version} is installed, and its answers may be others than those of {ORACLE}");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("port");
        let mut command = Command::new("memcached");
        command.args(["-l", "127.0.0.1", "-p", "-1", "-U", "0", "-t", "1"]).env("MEMCACHED_PORT_FILENAME", &told);
        if rustix::process::geteuid().is_root() {
            // As root it runs only if that is said.
            command.args(["-u", "root"]);
        }
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut memcached = Self { address: (Ipv4Addr::LOCALHOST, 0).into(), child, _folder: folder };
        memcached.address.set_port(port_in(&told));
        Some(memcached)
    }
}

impl Drop for Memcached {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The port that memcached tells in a file, once it listens.
fn port_in(told: &Path) -> u16 {
    for _ in 0..500 {
        let text = std::fs::read_to_string(told).unwrap_or_default();
        if let Some(port) = text.strip_prefix("TCP INET: ").and_then(|text| text.trim_end().parse().ok()) {
            return port;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("memcached does not tell its port");
}

/// What a server sends until it closes, in answer to `request` and the end behind it.
fn answers(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = connect(address);
    stream.write_all(request).unwrap();
    rest(stream)
}

/// What comes on a connection until the server closes it, after it was told that nothing more will be sent.
fn rest(mut stream: TcpStream) -> Vec<u8> {
    // It may have closed already.
    _ = stream.shutdown(Shutdown::Write);
    let mut answers = Vec::new();
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return answers,
            Ok(size) => answers.extend_from_slice(&piece[..size]),
            // It closed before it had read everything.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return answers,
            Err(error) => panic!("no end of the answers: {error}; until then {:?}", String::from_utf8_lossy(&answers)),
        }
    }
}

fn text(answers: &[u8]) -> String {
    String::from_utf8_lossy(answers).into_owned()
}

#[test]
fn what_it_counted_is_in_the_report_of_a_run_that_sigterm_ends() {
    let server = CacheServer::start(&[]);
    let answered = answers(server.address, b"set a 0 0 5\r\nhello\r\nget a b\r\nnonsense\r\ndelete a\r\n");
    assert_eq!(text(&answered), "STORED\r\nVALUE a 0 5\r\nhello\r\nEND\r\nERROR\r\nDELETED\r\n");
    // What a client has reset for itself is reported all the same.
    assert_eq!(text(&answers(server.address, b"stats reset\r\n")), "RESET\r\n");
    let report = server.stop();
    assert_eq!(report["outcome"]["family"], "interrupted");
    let counters = &report["counters"];
    for (name, count) in [
        ("commands", 5),
        ("get-hits", 1),
        ("get-misses", 1),
        ("values-sent-in", 1),
        ("items-stored", 1),
        ("deletes", 1),
        ("bytes-received", 49 + 13),
        ("bytes-sent", answered.len() + 7),
        ("connections", 2),
        ("protocol-errors", 1),
        ("most-connections", 1),
    ] {
        assert_eq!(counters[name], count, "{name} in {counters}");
    }
}

#[test]
fn read_a_byte_at_a_time_it_answers_the_same_with_a_call_for_each_byte() {
    let request = b"set a 0 0 5\r\nhello\r\nget a\r\n";
    for (read, byte_calls) in [("byte", request.len()), ("buffered", 0)] {
        let server = CacheServer::start_under(&["--trace"], &["--read", read]);
        let answered = answers(server.address, request);
        assert_eq!(text(&answered), "STORED\r\nVALUE a 0 5\r\nhello\r\nEND\r\n");
        let (_, trace) = server.end();
        assert_eq!(trace.matches(" receive = 1 <").count(), byte_calls, "{read}: {trace}");
    }
}

#[test]
fn a_wrong_argument_is_answered_with_what_would_be_right() {
    let started = |args: &[&str]| {
        run(wrun().args(["--quiet", "--allow", "loopback"]).arg(guest("cache-server")).arg("--").args(args))
    };
    let refused = started(&["--memory", "1M", "-I", "1M"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("give --max-item-size at most 524288, or more --memory"), "{}", refused.stderr);
    let help = started(&["--help"]);
    assert_eq!(help.code, 0);
    assert!(help.stdout.contains("--max-item-size") && help.stdout.contains("--max-memory"), "{}", help.stdout);
}

#[test]
fn with_more_memory_than_wrun_gives_it_ends_before_it_listens() {
    let mut command = wrun();
    command.args(["--quiet", "--allow", "tcp-listen://127.0.0.1:0", "--max-memory", "100M"]);
    let ended = run(command.arg(guest("cache-server")).args(["--", "--listen", "127.0.0.1:0", "--memory", "90M"]));
    assert_eq!((ended.code, ended.stdout.as_str()), (121, ""));
    assert!(ended.stderr.contains("--max-memory"), "{}", ended.stderr);
}
