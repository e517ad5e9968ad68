//! Claims on connecting and accepting.

use std::collections::HashSet;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::kit::*;
use crate::backend::{Backend, Family, OptionKind, SocketOption};
use crate::error::Error;

pub async fn nobody(backend: Arc<dyn Backend>) -> Verdict {
    // Bound, so that nobody else comes to listen there meanwhile.
    let (_bound, address) = bound(&backend, V4).await?;
    refused(connect(&backend, address).await, &Error::ConnectionRefused, "connecting to where nobody listens")
}

pub async fn listener_gone(backend: Arc<dyn Backend>) -> Verdict {
    let (listener, address) = listening(&backend, V4).await?;
    join(&backend, &listener, address).await?;
    drop(listener);
    refused(connect(&backend, address).await, &Error::ConnectionRefused, "connecting to a listener that is gone")
}

pub async fn addresses(backend: Arc<dyn Backend>, ip: IpAddr) -> Verdict {
    let (listener, address) = listening(&backend, ip).await?;
    let (client, server) = join(&backend, &listener, address).await?;
    let [client_local, client_peer, server_local, server_peer] =
        [client.local_address(), client.peer_address(), server.local_address(), server.peer_address()];
    ensure!(client_peer == Ok(address), "the client is connected to {client_peer:?} instead of {address}");
    ensure!(server_local == Ok(address), "the server is at {server_local:?} instead of {address}");
    ensure!(client_local == server_peer, "the client is at {client_local:?}, for the server at {server_peer:?}");
    Ok(())
}

pub async fn from_bound(backend: Arc<dyn Backend>) -> Verdict {
    let (listener, address) = listening(&backend, V4).await?;
    let (socket, local) = bound(&backend, V4).await?;
    let (client, server) = tokio::join!(socket.connect(address), accept(&listener));
    client.during("connecting from a bound address")?;
    let peer = server.during("accepting")?.peer_address().during("asking for the peer's address")?;
    ensure!(peer == local, "bound to {local}, and came from {peer}");
    Ok(())
}

pub async fn called_off(backend: Arc<dyn Backend>) -> Verdict {
    let (listener, address) = listening(&backend, V4).await?;
    call_off(connect(&backend, address)).await;
    let client = connect(&backend, address).await.during("connecting after a connect that was called off")?;
    let local = client.local_address().during("asking for the local address")?;
    // The one that was called off may have got as far as the listener.
    for _ in 0..2 {
        let server = match accept(&listener).await {
            Ok(server) => server,
            Err(Error::Rig(error)) => return Err(error.to_string()),
            Err(_) => continue,
        };
        if server.peer_address() == Ok(local) {
            return Ok(());
        }
    }
    Err("the listener does not see the connection that came later".to_owned())
}

pub async fn backlog(backend: Arc<dyn Backend>) -> Verdict {
    let (socket, address) = bound(&backend, V4).await?;
    let listener = socket.listen(8).await.during("listening")?;
    let mut clients = Vec::new();
    let mut expected = HashSet::<SocketAddr>::new();
    for _ in 0..8 {
        let client = connect(&backend, address).await.during("connecting within the backlog")?;
        expected.insert(client.local_address().during("asking for the local address")?);
        clients.push(client);
    }
    let mut accepted = HashSet::new();
    for _ in 0..8 {
        let server = accept(&listener).await.during("accepting")?;
        accepted.insert(server.peer_address().during("asking for the peer's address")?);
    }
    ensure!(accepted == expected, "{expected:?} connected, {accepted:?} were accepted");
    refused(listener.try_accept(), &Error::WouldBlock, "accepting once more")
}

pub async fn accept_readiness(backend: Arc<dyn Backend>) -> Verdict {
    let (listener, address) = listening(&backend, V4).await?;
    refused(listener.try_accept(), &Error::WouldBlock, "accepting before anybody connects")?;
    ensure!(!is_ready(|cx| listener.poll_accept_ready(cx)).await, "it was ready with nobody there");
    let (client, ()) = tokio::join!(connect(&backend, address), poll_fn(|cx| listener.poll_accept_ready(cx)));
    let _client = client.during("connecting")?;
    let _server = listener.try_accept().during("accepting when that is ready")?;
    refused(listener.try_accept(), &Error::WouldBlock, "accepting again")?;
    ensure!(!is_ready(|cx| listener.poll_accept_ready(cx)).await, "it was ready for nothing twice in a row");
    Ok(())
}

pub async fn inherited(backend: Arc<dyn Backend>, option: SocketOption) -> Verdict {
    let (socket, address) = bound(&backend, V4).await?;
    socket.set_option(option).await.during("setting an option")?;
    let listener = socket.listen(1).await.during("listening")?;
    let (_client, server) = join(&backend, &listener, address).await?;
    let got = server.option(option.kind()).await.during("reading an option")?;
    ensure!(got == option, "the listener has \"{option}\", the connection it accepted \"{got}\"");
    Ok(())
}

pub async fn kept_when_connected(backend: Arc<dyn Backend>) -> Verdict {
    let (_listener, address) = listening(&backend, V4).await?;
    let socket = backend.tcp(Family::V4).during("making a TCP socket")?;
    socket.set_option(SocketOption::NoDelay(true)).await.during("setting an option")?;
    let stream = socket.connect(address).await.during("connecting")?;
    let got = stream.option(OptionKind::NoDelay).await.during("reading an option")?;
    ensure!(got == SocketOption::NoDelay(true), "it was set before connecting, and is \"{got}\" after");
    Ok(())
}

/// 150 connections, so 300 sockets, and far below what a process may usually open.
pub async fn many(backend: Arc<dyn Backend>) -> Verdict {
    let (listener, address) = listening(&backend, V4).await?;
    let mut pairs = Vec::new();
    for _ in 0..150 {
        pairs.push(join(&backend, &listener, address).await?);
    }
    for (at, (client, server)) in pairs.iter().enumerate() {
        write_all(client, &[at as u8]).await.during("writing")?;
        write_all(server, &[!(at as u8)]).await.during("writing")?;
    }
    for (at, (client, server)) in pairs.iter().enumerate() {
        let there = read_exactly(server, 1).await?;
        let back = read_exactly(client, 1).await?;
        ensure!(there == [at as u8] && back == [!(at as u8)], "connection {at} carried {there:?} and {back:?}");
    }
    Ok(())
}
