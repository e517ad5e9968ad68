//! Ways of answering badly, each with the name a user writes.

use std::fmt;
use std::io;
use std::str::FromStr;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::filler::slice;
use crate::http::Http;

/// What a peer does in place of a proper answer, after it has read a request and waited for the delay.
///
/// Through TLS the handshake is proper and the fault is inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Cuts the connection with a reset.
    Reset,
    /// Announces the whole body, sends half of it and closes. An empty body is announced as one byte.
    EarlyClose,
    /// Sends bytes that are not HTTP and closes.
    Garbage,
    /// Sends a proper head and then a body without an end.
    Endless,
    /// Sends a status line and then headers without an end.
    EndlessHead,
    /// Never answers, and holds the connection until the client closes it.
    Silent,
}

impl Fault {
    pub const ALL: [Self; 6] =
        [Self::Reset, Self::EarlyClose, Self::Garbage, Self::Endless, Self::EndlessHead, Self::Silent];

    /// The name as a user writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::EarlyClose => "early-close",
            Self::Garbage => "garbage",
            Self::Endless => "endless",
            Self::EndlessHead => "endless-head",
            Self::Silent => "silent",
        }
    }

    /// Reads one request from `stream` and commits the fault. [`Fault::Reset`] is only half done here: the reset is
    /// what happens when the caller drops a socket that lingers for no time.
    pub(crate) async fn commit<S>(self, mut stream: S, settings: &Http) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        if !read_head(&mut stream).await? {
            return Ok(());
        }
        settings.wait().await;
        match self {
            Self::Reset => Ok(()),
            Self::EarlyClose => {
                early_close(&mut stream, settings).await?;
                finish(stream).await
            }
            Self::Garbage => {
                stream.write_all(GARBAGE).await?;
                finish(stream).await
            }
            Self::Endless => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").await?;
                forever(&mut stream, slice(u64::MAX)).await
            }
            Self::EndlessHead => {
                stream.write_all(b"HTTP/1.1 200 OK\r\n").await?;
                forever(&mut stream, b"x-more: and more, and more, and more, and more\r\n").await
            }
            Self::Silent => drain(stream).await,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|fault| fault.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("`{text}` is not a fault; write one of {names}")
        })
    }
}

/// The greeting of another protocol, and bytes that are no text.
const GARBAGE: &[u8] = b"SSH-2.0-not-http\r\n\x00\x01\xfe\xff\r\n\r\n";

/// Reads to the end of a request's head. False when the client went away first, or sends more than a head may hold.
async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<bool> {
    const LIMIT: usize = 64 * 1024;
    let mut head = Vec::with_capacity(1024);
    while head.len() < LIMIT {
        let from = head.len().saturating_sub(3);
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(false);
        }
        if head[from..].windows(4).any(|window| window == b"\r\n\r\n") {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn early_close(stream: &mut (impl AsyncWrite + Unpin), settings: &Http) -> io::Result<()> {
    let announced = settings.body.max(1);
    let head = if settings.chunked {
        format!("HTTP/1.1 {} Early\r\ntransfer-encoding: chunked\r\n\r\n{announced:x}\r\n", settings.status)
    } else {
        format!("HTTP/1.1 {} Early\r\ncontent-length: {announced}\r\n\r\n", settings.status)
    };
    stream.write_all(head.as_bytes()).await?;
    let mut left = announced / 2;
    while left > 0 {
        let slice = slice(left);
        stream.write_all(slice).await?;
        left -= slice.len() as u64;
    }
    Ok(())
}

/// Ends the sending side, and waits for the client to end its own.
async fn finish(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    stream.shutdown().await?;
    // Closing over unread bytes would be a reset, and the client might lose what was sent before it.
    drain(stream).await
}

async fn drain(mut stream: impl AsyncRead + Unpin) -> io::Result<()> {
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    Ok(())
}

/// Sends `bytes` again and again until the client goes away.
async fn forever(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    loop {
        stream.write_all(bytes).await?;
    }
}
