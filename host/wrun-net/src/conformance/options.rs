//! Claims on options.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::kit::*;
use crate::backend::{Backend, Family, OptionKind, Options, SocketOption, TcpSocket};
use crate::error::Error;

/// Values that no stack has from the start, in the order of [`OptionKind::ALL`].
const VALUES: [SocketOption; 19] = [
    SocketOption::KeepAlive(true),
    SocketOption::KeepAliveIdle(Duration::from_secs(123)),
    SocketOption::KeepAliveIdle(Duration::from_millis(1500)),
    SocketOption::KeepAliveInterval(Duration::from_secs(17)),
    SocketOption::KeepAliveCount(3),
    SocketOption::HopLimit(17),
    // Two sizes so far apart that one which a stack keeps, whatever it is told, does not pass for both.
    SocketOption::ReceiveBuffer(10_000),
    SocketOption::ReceiveBuffer(100_000),
    SocketOption::SendBuffer(10_000),
    SocketOption::SendBuffer(100_000),
    SocketOption::NoDelay(true),
    SocketOption::Linger(Some(Duration::from_secs(3))),
    SocketOption::Linger(Some(Duration::ZERO)),
    SocketOption::Linger(Some(Duration::from_millis(1))),
    SocketOption::Linger(None),
    SocketOption::Broadcast(true),
    SocketOption::MulticastHops(7),
    SocketOption::MulticastLoopback(false),
    SocketOption::SendQueue(5),
];

/// Values that no stack can hold as they are.
const EXCESSIVE: [SocketOption; 6] = [
    SocketOption::KeepAliveIdle(Duration::MAX),
    SocketOption::KeepAliveInterval(Duration::MAX),
    SocketOption::KeepAliveCount(u32::MAX),
    SocketOption::ReceiveBuffer(u64::MAX),
    SocketOption::SendBuffer(u64::MAX),
    SocketOption::Linger(Some(Duration::MAX)),
];

/// Whether a value that is read is the one that was set, as a stack may round it.
fn is_kept(set: SocketOption, got: SocketOption) -> bool {
    use SocketOption::*;
    let rounded = |set: Duration, got: Duration| got >= set && got - set < Duration::from_secs(1);
    match (set, got) {
        (KeepAliveIdle(set), KeepAliveIdle(got)) | (KeepAliveInterval(set), KeepAliveInterval(got)) => {
            rounded(set, got)
        }
        // Rounding never makes the zero that cuts.
        (Linger(Some(set)), Linger(Some(got))) => rounded(set, got) && set.is_zero() == got.is_zero(),
        // A stack may count its own bookkeeping too.
        (ReceiveBuffer(set), ReceiveBuffer(got)) | (SendBuffer(set), SendBuffer(got)) => (set..=4 * set).contains(&got),
        (set, got) => set == got,
    }
}

/// The sockets that options are tried on, with which of them each kind has.
async fn each(
    backend: &Arc<dyn Backend>,
    ip: IpAddr,
) -> Verdict<Vec<(&'static str, Arc<dyn Options>, fn(OptionKind) -> bool)>> {
    let (listener, address) = listening(backend, ip).await?;
    let (client, server) = join(backend, &listener, address).await?;
    let socket = backend.tcp(Family::of(ip)).during("making a TCP socket")?;
    let (udp, _) = datagrams(backend, ip).await?;
    Ok(vec![
        ("a TCP socket", Arc::<dyn TcpSocket>::from(socket), OptionKind::is_tcp),
        ("a listener", listener, OptionKind::is_tcp),
        ("a connection", client, OptionKind::is_tcp),
        ("an accepted connection", server, OptionKind::is_tcp),
        ("a UDP socket", udp, OptionKind::is_udp),
    ])
}

pub async fn kept(backend: Arc<dyn Backend>, ip: IpAddr) -> Verdict {
    let known = backend.capabilities().options;
    for (name, socket, has) in each(&backend, ip).await? {
        for set in VALUES {
            if !known.contains(&set.kind()) || !has(set.kind()) {
                continue;
            }
            socket.set_option(set).await.during(&format!("setting {set} on {name}"))?;
            let got = socket.option(set.kind()).await.during(&format!("reading {} of {name}", set.kind()))?;
            ensure!(is_kept(set, got), "{set} of {name} is read as {got}");
        }
    }
    Ok(())
}

pub async fn not_supported(backend: Arc<dyn Backend>) -> Verdict {
    let known = backend.capabilities().options;
    for (name, socket, has) in each(&backend, V4).await? {
        for set in VALUES {
            let kind = set.kind();
            if known.contains(&kind) && has(kind) {
                continue;
            }
            refused(socket.set_option(set).await, &Error::NotSupported, &format!("setting {set} on {name}"))?;
            refused(socket.option(kind).await, &Error::NotSupported, &format!("reading {kind} of {name}"))?;
        }
    }
    Ok(())
}

pub async fn excessive(backend: Arc<dyn Backend>) -> Verdict {
    let known = backend.capabilities().options;
    for (name, socket, has) in each(&backend, V4).await? {
        for set in EXCESSIVE {
            if known.contains(&set.kind()) && has(set.kind()) {
                socket.set_option(set).await.during(&format!("setting {set} on {name}"))?;
                socket.option(set.kind()).await.during(&format!("reading {} of {name}", set.kind()))?;
            }
        }
    }
    Ok(())
}

pub async fn defaults(backend: Arc<dyn Backend>) -> Verdict {
    let known = backend.capabilities().options;
    let defaults = [
        SocketOption::KeepAlive(false),
        SocketOption::NoDelay(false),
        SocketOption::Linger(None),
        SocketOption::Broadcast(false),
        SocketOption::MulticastHops(1),
        SocketOption::MulticastLoopback(true),
    ];
    for (name, socket, has) in each(&backend, V4).await? {
        for expected in defaults {
            let kind = expected.kind();
            if known.contains(&kind) && has(kind) {
                let got = socket.option(kind).await.during(&format!("reading {kind} of {name}"))?;
                ensure!(got == expected, "{name} starts with {got}");
            }
        }
    }
    Ok(())
}
