//! What the claims are written with: sockets in a known state, and calls that wait.

use std::future::{Future, poll_fn};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::backend::{Backend, Family, SocketOption, TcpListener, TcpSocket, TcpStream, UdpSocket};
use crate::error::{Error, Result};

/// What came of a claim: nothing, or why it is false.
pub type Verdict<T = ()> = std::result::Result<T, String>;

pub const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
pub const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

/// How often something may be ready for nothing before that counts as a busy loop.
const IDLE: usize = 100;

/// Fails the claim with a message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}
pub(crate) use ensure;

/// Says what was being done when a call failed that a claim takes for granted.
pub trait During<T> {
    fn during(self, what: &str) -> Verdict<T>;
}

impl<T> During<T> for Result<T> {
    fn during(self, what: &str) -> Verdict<T> {
        self.map_err(|error| format!("{what}: {error}"))
    }
}

/// Holds an answer against the error that it should be.
pub fn refused<T>(answer: Result<T>, expected: &Error, what: &str) -> Verdict {
    match answer {
        Ok(_) => Err(format!("{what} succeeded instead of answering \"{expected}\"")),
        Err(error) if error == *expected => Ok(()),
        Err(error) => Err(format!("{what} answered \"{error}\" instead of \"{expected}\"")),
    }
}

/// Tries, and waits for readiness as long as that would block.
pub async fn patiently<T>(
    mut attempt: impl FnMut() -> Result<T>,
    mut ready: impl FnMut(&mut Context<'_>) -> Poll<()>,
) -> Result<T> {
    for _ in 0..IDLE {
        match attempt() {
            Err(Error::WouldBlock) => poll_fn(&mut ready).await,
            answer => return answer,
        }
    }
    Err(Error::Rig(format!("it was ready for nothing {IDLE} times in a row").into()))
}

pub async fn accept(listener: &Arc<dyn TcpListener>) -> Result<Arc<dyn TcpStream>> {
    patiently(|| listener.try_accept(), |cx| listener.poll_accept_ready(cx)).await
}

pub async fn read(stream: &Arc<dyn TcpStream>, buffer: &mut [u8]) -> Result<usize> {
    patiently(|| stream.try_read(buffer), |cx| stream.poll_read_ready(cx)).await
}

pub async fn write(stream: &Arc<dyn TcpStream>, data: &[u8]) -> Result<usize> {
    patiently(|| stream.try_write(data), |cx| stream.poll_write_ready(cx)).await
}

pub async fn write_all(stream: &Arc<dyn TcpStream>, mut data: &[u8]) -> Result<()> {
    while !data.is_empty() {
        let count = write(stream, data).await?;
        data = &data[count..];
    }
    Ok(())
}

/// Reads to the end.
pub async fn read_all(stream: &Arc<dyn TcpStream>) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match read(stream, &mut buffer).await? {
            0 => return Ok(all),
            count => all.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Reads so many bytes, and fails at an earlier end.
pub async fn read_exactly(stream: &Arc<dyn TcpStream>, count: usize) -> Verdict<Vec<u8>> {
    let mut data = vec![0; count];
    let mut have = 0;
    while have < count {
        match read(stream, &mut data[have..]).await.during("reading")? {
            0 => return Err(format!("the stream ended after {have} of {count} bytes")),
            more => have += more,
        }
    }
    Ok(data)
}

/// Writes until that would block, and says how many bytes went in.
pub async fn fill(stream: &Arc<dyn TcpStream>) -> Verdict<usize> {
    let data = vec![b'.'; 64 * 1024];
    let mut total = 0;
    while total < 256 * 1024 * 1024 {
        match stream.try_write(&data) {
            Ok(count) => total += count,
            Err(Error::WouldBlock) if total == 0 => poll_fn(|cx| stream.poll_write_ready(cx)).await,
            Err(Error::WouldBlock) => return Ok(total),
            Err(error) => return Err(format!("writing: {error}")),
        }
    }
    Err(format!("{total} bytes were taken in without anybody reading them"))
}

/// A socket bound to any free port of an address.
pub async fn bound(backend: &Arc<dyn Backend>, ip: IpAddr) -> Verdict<(Box<dyn TcpSocket>, SocketAddr)> {
    let socket = backend.tcp(Family::of(ip)).during("making a TCP socket")?;
    let address = socket.bind(SocketAddr::new(ip, 0)).await.during("binding")?;
    Ok((socket, address))
}

pub async fn listening(backend: &Arc<dyn Backend>, ip: IpAddr) -> Verdict<(Arc<dyn TcpListener>, SocketAddr)> {
    let (socket, address) = bound(backend, ip).await?;
    Ok((socket.listen(16).await.during("listening")?, address))
}

pub async fn connect(backend: &Arc<dyn Backend>, remote: SocketAddr) -> Result<Arc<dyn TcpStream>> {
    backend.tcp(Family::of(remote.ip()))?.connect(remote).await
}

/// Both ends of a connection: the connecting one, and the accepted one.
pub async fn pair(backend: &Arc<dyn Backend>, ip: IpAddr) -> Verdict<(Arc<dyn TcpStream>, Arc<dyn TcpStream>)> {
    let (listener, address) = listening(backend, ip).await?;
    join(backend, &listener, address).await
}

/// Both ends of a new connection to a listener that nobody else connects to.
pub async fn join(
    backend: &Arc<dyn Backend>,
    listener: &Arc<dyn TcpListener>,
    address: SocketAddr,
) -> Verdict<(Arc<dyn TcpStream>, Arc<dyn TcpStream>)> {
    let (client, server) = tokio::join!(connect(backend, address), accept(listener));
    Ok((client.during("connecting")?, server.during("accepting")?))
}

pub async fn set_linger(stream: &Arc<dyn TcpStream>, seconds: u64) -> Verdict {
    let linger = Some(std::time::Duration::from_secs(seconds));
    stream.set_option(SocketOption::Linger(linger)).await.during("setting the linger time")
}

/// A UDP socket bound to any free port of an address.
pub async fn datagrams(backend: &Arc<dyn Backend>, ip: IpAddr) -> Verdict<(Arc<dyn UdpSocket>, SocketAddr)> {
    let socket = backend.udp(Family::of(ip)).during("making a UDP socket")?;
    let address = socket.bind(SocketAddr::new(ip, 0)).await.during("binding")?;
    Ok((socket, address))
}

pub async fn send(socket: &Arc<dyn UdpSocket>, data: &[u8], remote: Option<SocketAddr>) -> Result<()> {
    patiently(|| socket.try_send(data, remote), |cx| socket.poll_send_ready(cx)).await
}

pub async fn receive(socket: &Arc<dyn UdpSocket>) -> Result<(Vec<u8>, SocketAddr)> {
    let mut buffer = vec![0; 65_535];
    let (count, sender) = patiently(|| socket.try_receive(&mut buffer), |cx| socket.poll_receive_ready(cx)).await?;
    buffer.truncate(count);
    Ok((buffer, sender))
}

/// Receives a datagram, and holds it against the one that is due.
pub async fn receives(socket: &Arc<dyn UdpSocket>, expected: &[u8], from: SocketAddr) -> Verdict {
    let (data, sender) = receive(socket).await.during("receiving")?;
    ensure!(data == expected, "{} came instead of {}", data.escape_ascii(), expected.escape_ascii());
    ensure!(sender == from, "the datagram came from {sender} instead of {from}");
    Ok(())
}

/// Whether something is ready now. Who is not is still to be woken later, by whoever waits next.
pub async fn is_ready(mut ready: impl FnMut(&mut Context<'_>) -> Poll<()>) -> bool {
    poll_fn(|cx| Poll::Ready(ready(cx).is_ready())).await
}

/// Starts a call, and calls it off.
pub async fn call_off(call: impl Future) {
    let mut call = pin!(call);
    poll_fn(|cx| {
        let _ = call.as_mut().poll(cx);
        Poll::Ready(())
    })
    .await;
}

/// Bytes that show when one is missing or out of place.
pub fn pattern(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at % 251) as u8 ^ (at / 251 % 256) as u8).collect()
}
