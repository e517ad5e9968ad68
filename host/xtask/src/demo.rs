//! The main job on real input: socket-client against an HTTP and an HTTPS peer on loopback, through `wrun`; a cache both of
//! whose ends are guests; and the story that wrun exists for: the same client on a board whose stack stalls half of its
//! requests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::child::{Server, tied};
use crate::command::{cargo, run as execute, shown, step};
use crate::guests;
use crate::repo::Repo;
use crate::setup::{self, Purpose};

/// Requests to each peer.
const REQUESTS: &str = "15";

/// Reads, and as many writes, of the cache.
const OPERATIONS: &str = "2000";

const CACHE_CLIENT: &str = "cache-client.json";
const CACHE_SERVER: &str = "cache-server.json";

/// Under which the board stalls as often as it is known to, whatever day it is.
const SEED: &str = "15";

/// The name of the authority's certificate, in a folder that holds nothing else: the guest is given all of it.
const CERTIFICATE: &str = "authority.pem";

pub fn run(repo: &Repo) -> Result<()> {
    let tools = setup::run(repo, Purpose::Guests)?;
    step("building guests", || guests::build(repo, &tools))?;
    step("building wrun", || execute(cargo(repo).args(["build", "--package", "wrun"])))?;
    let reports = repo.target.join("demo");
    let trust = reports.join("trust");
    fs::create_dir_all(&trust).with_context(|| format!("cannot make {}", trust.display()))?;
    let (http, https) = (reports.join("http.json"), reports.join("https.json"));

    let (_peer, url) = peer(repo, &[])?;
    socket_client(repo, &url, &http, None)?;

    let certificate = trust.join(CERTIFICATE);
    let (_peer, url) = peer(repo, &["--tls", "--ca-file", &certificate.to_string_lossy()])?;
    socket_client(repo, &url, &https, Some(&trust))?;

    eprintln!(
        "xtask: over HTTPS nearly all of a request is `wait`: two small writes meet a delayed acknowledgement.\n    \
         With --no-delay before the guest's name, that is gone."
    );
    cache(repo, &reports)?;
    let chart = story(repo, &reports)?;
    eprintln!("xtask: the reports as JSON:");
    for report in [http, https, reports.join(CACHE_CLIENT), reports.join(CACHE_SERVER)] {
        eprintln!("    {}", report.display());
    }
    eprintln!(
        "xtask: the story's reports, which `target/debug/wrun compare` compares again, and its picture for a browser:\n    \
         {}\n    {}\n    {}",
        reports.join("story.1-native.json").display(),
        reports.join("story.2-throttled-netmf3-board.json").display(),
        chart.display()
    );
    Ok(())
}

/// A cache both of whose ends are guests: the client's report, and what the server counted meanwhile.
fn cache(repo: &Repo, reports: &Path) -> Result<()> {
    let report = reports.join(CACHE_SERVER);
    let mut command = Command::new(wrun(repo));
    command.current_dir(&repo.root).args(["--quiet", "--allow", "tcp-listen://127.0.0.1:0", "--report"]).arg(&report);
    command.arg(repo.guest("cache-server")).args(["--", "--listen", "127.0.0.1:0"]);
    eprintln!("\nxtask: now a cache, both of whose ends are guests\nxtask: {} &", shown(&command));
    let mut server = Server::start(&mut command)?;
    let address = server.line()?;

    let mut command = Command::new(wrun(repo));
    command.current_dir(&repo.root).args(["--allow", "loopback", "--report"]).arg(reports.join(CACHE_CLIENT));
    command.arg(repo.guest("cache-client")).args(["--", "--servers", &address, "--preload", "--verify"]);
    command.args(["--reads", OPERATIONS, "--writes", OPERATIONS, "--keys", "500"]);
    eprintln!("xtask: {}", shown(&command));
    execute(tied(&mut command))?;

    server.end()?;
    let mut command = Command::new(wrun(repo));
    command.current_dir(&repo.root).arg("show").arg(&report);
    eprintln!("xtask: {}", shown(&command));
    execute(&mut command)
}

/// The client on this machine's sockets and on the board's, compared; gives the chart.
fn story(repo: &Repo, reports: &Path) -> Result<PathBuf> {
    eprintln!(
        "\nxtask: now the same client as it did on a real board of 2009, replayed here: half of its requests stall for\n    \
         seconds. The stalls are real time: this takes about half a minute."
    );
    let (_peer, url) = peer(repo, &[])?;
    let chart = reports.join("story.html");
    let mut command = Command::new(wrun(repo));
    command.current_dir(&repo.root).args(["--allow", "loopback", "--backend", "native", "--backend", "throttled"]);
    command.args(["--profile", "netmf3-board", "--seed", SEED, "--report"]).arg(reports.join("story.json"));
    command.arg("--chart").arg(&chart).arg(repo.guest("socket-client")).args(["--", &url, "--requests", REQUESTS]);
    eprintln!("xtask: {}", shown(&command));
    execute(tied(&mut command))?;
    Ok(chart)
}

/// Starts an HTTP peer, and waits until it has said its URL.
fn peer(repo: &Repo, options: &[&str]) -> Result<(Server, String)> {
    let mut command = Command::new(wrun(repo));
    command.args(["peer", "http", "--listen", "127.0.0.1:0"]).args(options);
    let mut server = Server::start(&mut command)?;
    let url = server.line()?;
    if options.contains(&"--tls") {
        // The certificate is in its place once the peer has said where.
        server.line()?;
    }
    Ok((server, url))
}

/// Runs the guest, with the report as text before the user and as JSON in `report`.
fn socket_client(repo: &Repo, url: &str, report: &Path, trust: Option<&Path>) -> Result<()> {
    let mut command = Command::new(wrun(repo));
    command.current_dir(&repo.root).args(["--allow", "loopback", "--report"]).arg(report);
    if let Some(folder) = trust {
        command.arg("--dir").arg(format!("{}::/trust:ro", folder.display()));
    }
    command.arg(repo.guest("socket-client")).args(["--", url, "--requests", REQUESTS]);
    if trust.is_some() {
        command.arg("--ca").arg(Path::new("/trust").join(CERTIFICATE));
    }
    eprintln!("xtask: {}", shown(&command));
    execute(tied(&mut command))
}

fn wrun(repo: &Repo) -> PathBuf {
    repo.program("debug", "wrun")
}
