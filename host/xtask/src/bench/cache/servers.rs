//! The servers of the bench, each on the other core.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::super::programs::Programs;
use crate::child::{Server as Child, tied};

#[derive(Clone, Copy)]
pub enum Kind<'a> {
    /// Debian's memcached, with one thread, as the guest has.
    Memcached,
    /// The guest cache-server, with these arguments.
    Guest(&'a [&'a str]),
    /// A peer of wrun's, with these arguments.
    Peer(&'a [&'a str]),
}

/// The name of the file with the authority of a peer with TLS.
pub const CERTIFICATE: &str = "authority.pem";

/// The folder that has it, and nothing else: a guest is given all of it.
pub fn trust(programs: &Programs) -> PathBuf {
    programs.scratch().join("trust")
}

/// It ends when it is dropped.
pub struct Server {
    child: Child,
    pub address: String,
}

impl Server {
    /// The most memory it ever had, in bytes.
    pub fn peak(&self) -> Option<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?;
        Some(kilobytes.parse::<f64>().ok()? * 1024.0)
    }
}

pub fn start(programs: &Programs, kind: Kind<'_>) -> Result<Server> {
    match kind {
        Kind::Memcached => memcached(programs),
        Kind::Guest(arguments) => {
            let mut command = programs.wrun();
            command.args(["--quiet", "--allow", "loopback"]).arg(programs.probe("cache-server"));
            command.args(["--", "--listen", "127.0.0.1:0"]).args(arguments);
            saying(programs, &mut command)
        }
        Kind::Peer(arguments) => {
            let mut command = programs.wrun();
            command.arg("peer").args(arguments).args(["--listen", "127.0.0.1:0"]);
            if arguments.contains(&"--tls") {
                let trust = trust(programs);
                fs::create_dir_all(&trust).with_context(|| format!("cannot make {}", trust.display()))?;
                command.arg("--ca-file").arg(trust.join(CERTIFICATE));
            }
            saying(programs, &mut command)
        }
    }
}

/// One that says where it is in its first line, perhaps as a URL.
fn saying(programs: &Programs, command: &mut Command) -> Result<Server> {
    let mut child = programs.on_other_core(|| Child::start(command))?;
    let said = child.line()?;
    let found = said.split(|c: char| !(c.is_ascii_digit() || ".:".contains(c)));
    let address = found.filter(|word| word.parse::<SocketAddr>().is_ok()).map(str::to_owned).next();
    let address = address.with_context(|| format!("a server said no address: {said:?}"))?;
    Ok(Server { child, address })
}

fn memcached(programs: &Programs) -> Result<Server> {
    // It does not say which port it took, so it is told one that was free a moment ago.
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let mut command = Command::new("memcached");
    let port = free.port().to_string();
    tied(&mut command).args(["-l", "127.0.0.1", "-p", &port, "-U", "0", "-t", "1", "-m", "64", "-u", "nobody"]);
    let child = programs.on_other_core(|| Child::start(&mut command))?;
    for _ in 0..200 {
        if TcpStream::connect(free).is_ok() {
            return Ok(Server { child, address: free.to_string() });
        }
        sleep(Duration::from_millis(10));
    }
    bail!("memcached does not listen on {free}")
}
