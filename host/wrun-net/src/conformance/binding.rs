//! Claims on local addresses.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use super::kit::*;
use crate::backend::{Backend, Family};
use crate::error::Error;

pub async fn port_zero(backend: Arc<dyn Backend>) -> Verdict {
    let (_first, one) = bound(&backend, V4).await?;
    let (second, other) = bound(&backend, V4).await?;
    ensure!(one.ip() == V4 && one.port() != 0, "binding answered with {one}");
    ensure!(one != other, "both got {one}");
    let listener = second.listen(1).await.during("listening")?;
    let local = listener.local_address().during("asking a listener for its address")?;
    ensure!(local == other, "bound to {other} and listens at {local}");
    Ok(())
}

pub async fn in_use(backend: Arc<dyn Backend>) -> Verdict {
    let (_listener, address) = listening(&backend, V4).await?;
    let socket = backend.tcp(Family::V4).during("making a TCP socket")?;
    refused(socket.bind(address).await, &Error::AddressInUse, "binding to where somebody listens")?;
    let free = socket.bind(SocketAddr::new(V4, 0)).await.during("binding elsewhere after that")?;
    ensure!(free != address, "binding elsewhere gave the same address");
    Ok(())
}

pub async fn in_use_by_all(backend: Arc<dyn Backend>) -> Verdict {
    let (socket, all) = bound(&backend, Ipv4Addr::UNSPECIFIED.into()).await?;
    let _listener = socket.listen(1).await.during("listening on all addresses")?;
    let socket = backend.tcp(Family::V4).during("making a TCP socket")?;
    let bind = socket.bind(SocketAddr::new(V4, all.port())).await;
    refused(bind, &Error::AddressInUse, "binding to one address where somebody listens on all")
}

pub async fn bound_again(backend: Arc<dyn Backend>) -> Verdict {
    let (listener, address) = listening(&backend, V4).await?;
    let (client, server) = join(&backend, &listener, address).await?;
    // The side that closes first is the one that leaves its address in TIME_WAIT.
    drop(server);
    read_all(&client).await.during("reading to the end")?;
    drop((client, listener));
    let socket = backend.tcp(Family::V4).during("making a TCP socket")?;
    socket.bind(address).await.during("binding to the address of a listener that is gone")?;
    let listener = socket.listen(1).await.during("listening there")?;
    join(&backend, &listener, address).await.map(drop)
}

pub async fn not_here(backend: Arc<dyn Backend>) -> Verdict {
    // From the block that is kept for documentation, so no machine has it.
    let elsewhere = SocketAddr::from(([203, 0, 113, 77], 0));
    let tcp = backend.tcp(Family::V4).during("making a TCP socket")?;
    refused(tcp.bind(elsewhere).await, &Error::AddressNotBindable, "binding TCP to another machine's address")?;
    let udp = backend.udp(Family::V4).during("making a UDP socket")?;
    refused(udp.bind(elsewhere).await, &Error::AddressNotBindable, "binding UDP to another machine's address")
}

pub async fn listening_unbound(backend: Arc<dyn Backend>) -> Verdict {
    let socket = backend.tcp(Family::V4).during("making a TCP socket")?;
    let listener = socket.listen(1).await.during("listening without a bind")?;
    let local = listener.local_address().during("asking a listener for its address")?;
    ensure!(local.ip().is_unspecified() && local.port() != 0, "it listens at {local}");
    join(&backend, &listener, SocketAddr::new(V4, local.port())).await.map(drop)
}

pub async fn udp_in_use(backend: Arc<dyn Backend>) -> Verdict {
    let (first, address) = datagrams(&backend, V4).await?;
    let local = first.local_address().during("asking for the local address")?;
    ensure!(local == address, "bound to {address} and is at {local}");
    let second = backend.udp(Family::V4).during("making a UDP socket")?;
    refused(second.bind(address).await, &Error::AddressInUse, "binding to another's address")?;
    drop(first);
    second.bind(address).await.during("binding to an address that was given back").map(drop)
}

pub async fn families_apart(backend: Arc<dyn Backend>) -> Verdict {
    // On all addresses, where a socket for both families would collide. A port that somebody else has in one family is
    // no answer, so try some.
    for _ in 0..20 {
        let (_four, address) = datagrams(&backend, IpAddr::V4(Ipv4Addr::UNSPECIFIED)).await?;
        let six = backend.udp(Family::V6).during("making a UDP socket")?;
        let everywhere = SocketAddr::from(([0u16; 8], address.port()));
        match six.bind(everywhere).await {
            Ok(_) => return Ok(()),
            Err(Error::AddressInUse) => {}
            Err(error) => return Err(format!("binding the same port of IPv6: {error}")),
        }
    }
    Err("no port of 20 could be bound in both families".to_owned())
}
