//! `wrun peer`: something on this machine for guests to talk to, until ctrl-C.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use tempfile::TempPath;
use tokio::signal::unix::{SignalKind, signal};
use wrun_peers::tls::LOOPBACK;
use wrun_peers::{Authority, Http, http};

use crate::cli::{Certificate, HttpPeer, Peer, PeerKind};

/// Serves until SIGINT or SIGTERM. Says on standard output where, a line each for the address and the authority.
pub fn serve(peer: Peer) -> Result<()> {
    let PeerKind::Http(peer) = peer.kind;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(serve_http(peer))
}

async fn serve_http(peer: HttpPeer) -> Result<()> {
    let listener = wrun_peers::listen(peer.listen)
        .with_context(|| format!("--listen {}: cannot listen there; port 0 takes a free one", peer.listen))?;
    let address = listener.local_addr()?;
    let authority = peer.tls.then(Authority::new).transpose()?;
    let tls = match &authority {
        None => None,
        Some(authority) => Some(match peer.certificate {
            Certificate::Good => authority.server(LOOPBACK)?,
            Certificate::Expired => authority.expired(LOOPBACK)?,
            Certificate::WrongHost => authority.server(&["wrong.example"])?,
        }),
    };
    let scheme = if peer.tls { "https" } else { "http" };
    println(&format!("{scheme}://{address}/"))?;
    // Removed when this ends, unless the user named the place.
    let _authority_file = match authority {
        None => None,
        Some(authority) => {
            let (path, guard) = write_authority(&authority.pem(), peer.ca_file)?;
            println(&path.display().to_string())?;
            guard
        }
    };
    let settings =
        Http { body: peer.body, delay: peer.delay, chunked: peer.chunked, status: peer.status, fault: peer.fault, tls };
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let shutdown = async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    http::serve(listener, settings, shutdown).await
}

/// Writes the authority's certificate for clients to trust: where the user said, or to a file of its own that goes with
/// the returned guard.
fn write_authority(pem: &str, file: Option<PathBuf>) -> Result<(PathBuf, Option<TempPath>)> {
    if let Some(path) = file {
        std::fs::write(&path, pem).with_context(|| format!("--ca-file {}: cannot be written", path.display()))?;
        return Ok((path, None));
    }
    let mut file = tempfile::Builder::new().prefix("wrun-ca-").suffix(".pem").tempfile()?;
    file.write_all(pem.as_bytes())?;
    let guard = file.into_temp_path();
    Ok((guard.to_path_buf(), Some(guard)))
}

/// A line for whoever started this, at once.
fn println(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).context("standard output cannot be written")
}
