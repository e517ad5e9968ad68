//! `wrun peer`: something on this machine for guests to talk to, until ctrl-C.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use tempfile::TempPath;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use wrun_peers::cache_rpc::{self, CacheRpc};
use wrun_peers::tls::LOOPBACK;
use wrun_peers::{Authority, Http, cache_server, http};

use crate::cli::{CachePeer, CacheRpcPeer, Certificate, HttpPeer, Peer, PeerKind};

/// Serves until SIGINT or SIGTERM. Says on standard output where, a line each for the address and the authority.
pub fn serve(peer: Peer) -> Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        match peer.kind {
            PeerKind::Http(peer) => serve_http(peer).await,
            PeerKind::Cache(peer) => serve_cache(peer).await,
            PeerKind::CacheRpc(peer) => serve_cache_rpc(peer).await,
        }
    })
}

async fn serve_http(peer: HttpPeer) -> Result<()> {
    let listener = listen(peer.listen)?;
    let authority = peer.tls.then(Authority::new).transpose()?;
    let tls = match &authority {
        None => None,
        Some(authority) => Some(match peer.certificate {
            Certificate::Good => authority.server(LOOPBACK)?,
            Certificate::Expired => authority.expired(LOOPBACK)?,
            Certificate::WrongHost => authority.server(&["wrong.example"])?,
        }),
    };
    let _authority_file = announce(&listener, authority.as_ref(), peer.ca_file)?;
    let settings =
        Http { body: peer.body, delay: peer.delay, chunked: peer.chunked, status: peer.status, fault: peer.fault, tls };
    http::serve(listener, settings, shutdown()?).await
}

async fn serve_cache(peer: CachePeer) -> Result<()> {
    let memory = memory(peer.memory)?;
    let listener = listen(peer.listen)?;
    // What it is to a rule that allows it.
    println(&format!("tcp://{}", listener.local_addr()?))?;
    cache_server::serve(listener, memory, shutdown()?).await;
    Ok(())
}

async fn serve_cache_rpc(peer: CacheRpcPeer) -> Result<()> {
    let memory = memory(peer.memory)?;
    let listener = listen(peer.listen)?;
    let authority = peer.tls.then(Authority::new).transpose()?;
    let tls = authority.as_ref().map(|authority| authority.server(LOOPBACK)).transpose()?;
    let _authority_file = announce(&listener, authority.as_ref(), peer.ca_file)?;
    cache_rpc::serve(listener, CacheRpc { memory, tls }, shutdown()?).await;
    Ok(())
}

fn memory(bytes: u64) -> Result<usize> {
    usize::try_from(bytes).context("--memory: more than this machine can address; give less")
}

fn listen(address: SocketAddr) -> Result<TcpListener> {
    wrun_peers::listen(address)
        .with_context(|| format!("--listen {address}: cannot listen there; port 0 takes a free one"))
}

/// Says where the peer is and, with TLS, whom to trust: in a file that is removed when the returned guard goes, unless the
/// user named the place.
fn announce(
    listener: &TcpListener,
    authority: Option<&Authority>,
    ca_file: Option<PathBuf>,
) -> Result<Option<TempPath>> {
    let address = listener.local_addr()?;
    let scheme = if authority.is_some() { "https" } else { "http" };
    // First, since whoever reads a URL takes it that there is a peer.
    let written = authority.map(|authority| write_authority(&authority.pem(), ca_file)).transpose()?;
    println(&format!("{scheme}://{address}/"))?;
    let Some((path, guard)) = written else { return Ok(None) };
    println(&path.display().to_string())?;
    Ok(guard)
}

/// Ready when the user has had enough.
fn shutdown() -> Result<impl Future<Output = ()>> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
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
