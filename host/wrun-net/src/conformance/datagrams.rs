//! Claims on UDP between two sockets.

use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use super::kit::*;
use crate::backend::{Backend, SocketOption};
use crate::error::Error;

pub async fn carried(backend: Arc<dyn Backend>, ip: IpAddr) -> Verdict {
    let (one, at_one) = datagrams(&backend, ip).await?;
    let (other, at_other) = datagrams(&backend, ip).await?;
    send(&one, b"there", Some(at_other)).await.during("sending")?;
    receives(&other, b"there", at_one).await?;
    send(&other, b"back", Some(at_one)).await.during("sending")?;
    receives(&one, b"back", at_other).await
}

pub async fn whole(backend: Arc<dyn Backend>) -> Verdict {
    let (one, at_one) = datagrams(&backend, V4).await?;
    let (other, at_other) = datagrams(&backend, V4).await?;
    for size in [1, 0, 1400, 0, 9000, 65_507] {
        let data = pattern(size);
        send(&one, &data, Some(at_other)).await.during(&format!("sending {size} bytes"))?;
        let (got, sender) = receive(&other).await.during("receiving")?;
        ensure!(got == data, "a datagram of {size} bytes came as {} bytes, or as others", got.len());
        ensure!(sender == at_one, "it came from {sender} instead of {at_one}");
    }
    Ok(())
}

pub async fn too_large(backend: Arc<dyn Backend>) -> Verdict {
    let (one, at_one) = datagrams(&backend, V4).await?;
    let (other, at_other) = datagrams(&backend, V4).await?;
    let sent = send(&one, &vec![0; 65_508], Some(at_other)).await;
    refused(sent, &Error::DatagramTooLarge, "sending a byte more than fits")?;
    send(&one, b"fits", Some(at_other)).await.during("sending what fits after that")?;
    receives(&other, b"fits", at_one).await
}

pub async fn readiness(backend: Arc<dyn Backend>) -> Verdict {
    let (one, _) = datagrams(&backend, V4).await?;
    let (other, at_other) = datagrams(&backend, V4).await?;
    let mut buffer = vec![0; 65_535];
    refused(other.try_receive(&mut buffer), &Error::WouldBlock, "receiving before anything was sent")?;
    ensure!(!is_ready(|cx| other.poll_receive_ready(cx)).await, "it was ready to receive with nothing there");
    let (ready, sent) = tokio::join!(poll_fn(|cx| other.poll_receive_ready(cx)), send(&one, b"now", Some(at_other)));
    let () = ready;
    sent.during("sending")?;
    let received = other.try_receive(&mut buffer).during("receiving when that is ready")?;
    ensure!(received.0 == 3, "{} bytes came", received.0);
    refused(other.try_receive(&mut buffer), &Error::WouldBlock, "receiving once more")
}

pub async fn ready_at_once(backend: Arc<dyn Backend>) -> Verdict {
    let (one, at_one) = datagrams(&backend, V4).await?;
    ensure!(is_ready(|cx| one.poll_send_ready(cx)).await, "a new socket is not ready to send");
    one.try_send(b"first", Some(at_one)).during("sending right after the bind")
}

pub async fn connected(backend: Arc<dyn Backend>) -> Verdict {
    let (one, at_one) = datagrams(&backend, V4).await?;
    let (peer, at_peer) = datagrams(&backend, V4).await?;
    let (stranger, at_stranger) = datagrams(&backend, V4).await?;
    one.connect(Some(at_peer)).await.during("connecting")?;
    send(&stranger, b"not for you", Some(at_one)).await.during("sending")?;
    send(&peer, b"from the peer", Some(at_one)).await.during("sending")?;
    receives(&one, b"from the peer", at_peer).await?;
    send(&one, b"to the peer", None).await.during("sending to the connected peer")?;
    receives(&peer, b"to the peer", at_one).await?;
    one.connect(Some(at_stranger)).await.during("connecting to another")?;
    send(&one, b"to the other", None).await.during("sending to the connected peer")?;
    receives(&stranger, b"to the other", at_one).await
}

pub async fn stranger_before(backend: Arc<dyn Backend>) -> Verdict {
    let (one, at_one) = datagrams(&backend, V4).await?;
    let (peer, at_peer) = datagrams(&backend, V4).await?;
    let (stranger, _) = datagrams(&backend, V4).await?;
    for words in [&b"too early"[..], b"still too early"] {
        send(&stranger, words, Some(at_one)).await.during("sending")?;
    }
    poll_fn(|cx| one.poll_receive_ready(cx)).await;
    one.connect(Some(at_peer)).await.during("connecting")?;
    let mut buffer = vec![0; 65_535];
    refused(one.try_receive(&mut buffer), &Error::WouldBlock, "receiving before the peer has sent")?;
    send(&peer, b"from the peer", Some(at_one)).await.during("sending")?;
    receives(&one, b"from the peer", at_peer).await
}

pub async fn dissolved(backend: Arc<dyn Backend>) -> Verdict {
    let (one, at_one) = datagrams(&backend, V4).await?;
    let (peer, at_peer) = datagrams(&backend, V4).await?;
    let (stranger, at_stranger) = datagrams(&backend, V4).await?;
    one.connect(Some(at_peer)).await.during("connecting")?;
    one.connect(None).await.during("dissolving")?;
    let local = one.local_address().during("asking for the local address")?;
    ensure!(local == at_one, "it was bound to {at_one}, and is at {local} after dissolving");
    send(&stranger, b"hello", Some(at_one)).await.during("sending")?;
    receives(&one, b"hello", at_stranger).await?;
    send(&one, b"to anybody", Some(at_peer)).await.during("sending after dissolving")?;
    receives(&peer, b"to anybody", at_one).await
}

pub async fn definite(backend: Arc<dyn Backend>) -> Verdict {
    let (one, everywhere) = datagrams(&backend, Ipv4Addr::UNSPECIFIED.into()).await?;
    let (_peer, at_peer) = datagrams(&backend, V4).await?;
    one.connect(Some(at_peer)).await.during("connecting")?;
    let local = one.local_address().during("asking for the local address")?;
    ensure!(local == SocketAddr::new(V4, everywhere.port()), "connected from {everywhere}, and is at {local}");
    one.connect(None).await.during("dissolving")?;
    let local = one.local_address().during("asking for the local address")?;
    ensure!(local == everywhere, "it was bound to {everywhere}, and is at {local} after dissolving");
    Ok(())
}

pub async fn nobody(backend: Arc<dyn Backend>) -> Verdict {
    let (one, _) = datagrams(&backend, V4).await?;
    let (gone, nobody) = datagrams(&backend, V4).await?;
    one.connect(Some(nobody)).await.during("connecting")?;
    drop(gone);
    let mut buffer = vec![0; 65_535];
    refused(one.try_receive(&mut buffer), &Error::WouldBlock, "receiving before anything was sent")?;
    let (refusal, sent) = tokio::join!(receive(&one), async { send(&one, b"anybody?", None).await });
    sent.during("sending")?;
    refused(refusal, &Error::ConnectionRefused, "receiving from where nobody is")?;
    refused(one.try_receive(&mut buffer), &Error::WouldBlock, "receiving after the refusal was told")
}

pub async fn not_told(backend: Arc<dyn Backend>) -> Verdict {
    let (one, at_one) = datagrams(&backend, V4).await?;
    let (gone, nobody) = datagrams(&backend, V4).await?;
    drop(gone);
    send(&one, b"anybody?", Some(nobody)).await.during("sending to where nobody is")?;
    send(&one, b"myself", Some(at_one)).await.during("sending after that")?;
    receives(&one, b"myself", at_one).await
}

/// The loopback network's own broadcast address, so that nothing leaves the machine.
const BROADCAST: Ipv4Addr = Ipv4Addr::new(127, 255, 255, 255);

pub async fn broadcast(backend: Arc<dyn Backend>) -> Verdict {
    let (one, at_one) = datagrams(&backend, V4).await?;
    let (other, everywhere) = datagrams(&backend, Ipv4Addr::UNSPECIFIED.into()).await?;
    let all = SocketAddr::new(BROADCAST.into(), everywhere.port());
    refused(send(&one, b"to all", Some(all)).await, &Error::AccessDenied, "broadcasting without the option")?;
    one.set_option(SocketOption::Broadcast(true)).await.during("setting the broadcast option")?;
    send(&one, b"to all of you", Some(all)).await.during("broadcasting")?;
    receives(&other, b"to all of you", at_one).await
}

pub async fn broadcast_elsewhere(backend: Arc<dyn Backend>) -> Verdict {
    let (one, at_one) = datagrams(&backend, V4).await?;
    let (other, at_other) = datagrams(&backend, V4).await?;
    one.set_option(SocketOption::Broadcast(true)).await.during("setting the broadcast option")?;
    let all = SocketAddr::new(BROADCAST.into(), at_other.port());
    send(&one, b"to all of you", Some(all)).await.during("broadcasting")?;
    send(&one, b"to you", Some(at_other)).await.during("sending to that one")?;
    receives(&other, b"to you", at_one).await
}

pub async fn broadcast_there(backend: Arc<dyn Backend>) -> Verdict {
    let (one, at_one) = datagrams(&backend, V4).await?;
    let (other, all) = datagrams(&backend, BROADCAST.into()).await?;
    one.set_option(SocketOption::Broadcast(true)).await.during("setting the broadcast option")?;
    send(&one, b"to you", Some(SocketAddr::new(V4, all.port()))).await.during("sending to one address")?;
    send(&one, b"to all of you", Some(all)).await.during("broadcasting")?;
    receives(&other, b"to all of you", at_one).await
}
