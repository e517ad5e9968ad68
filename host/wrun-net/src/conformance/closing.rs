//! Claims on how connections end.

use std::net::Shutdown;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use super::kit::*;
use crate::backend::{Backend, Ending, OptionKind, SocketOption, TcpStream};
use crate::error::Error;

pub async fn dropped(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    write_all(&client, b"bye").await.during("writing")?;
    drop(client);
    let words = read_all(&server).await.during("reading to the end")?;
    ensure!(words == b"bye", "{} came before the end", words.escape_ascii());
    Ok(())
}

/// Closes, and holds the ending against the one that is due.
async fn ends(stream: &Arc<dyn TcpStream>, expected: Ending) -> Verdict {
    let closed = stream.close().await.during("closing")?;
    ensure!(closed.ending == expected, "the close ended as {:?} instead of {expected:?}", closed.ending);
    Ok(())
}

/// A reset is told once, and then there is the end.
async fn sees_reset(stream: &Arc<dyn TcpStream>) -> Verdict {
    refused(read(stream, &mut [0; 16]).await, &Error::ConnectionReset, "reading from a peer that cut the connection")?;
    let after = read(stream, &mut [0; 16]).await;
    ensure!(after == Ok(0), "after the reset came {after:?}");
    Ok(())
}

pub async fn linger_zero(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    set_linger(&client, 0).await?;
    ends(&client, Ending::Reset).await?;
    sees_reset(&server).await
}

pub async fn linger_zero_dropped(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    set_linger(&client, 0).await?;
    drop(client);
    sees_reset(&server).await?;
    ends(&server, Ending::Reset).await
}

pub async fn unread(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    write_all(&server, b"never read").await.during("writing")?;
    // Wait until it is there, which is before it is read.
    std::future::poll_fn(|cx| client.poll_read_ready(cx)).await;
    ends(&client, Ending::Reset).await?;
    sees_reset(&server).await
}

pub async fn background(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    let sent = fill(&client).await?;
    ends(&client, Ending::Background).await?;
    let got = read_all(&server).await.during("reading what was left behind")?;
    ensure!(got.len() == sent, "of {sent} bytes, {} came", got.len());
    Ok(())
}

pub async fn acknowledged(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    set_linger(&client, 30).await?;
    write_all(&client, b"bye").await.during("writing")?;
    ends(&client, Ending::Acknowledged).await?;
    let words = read_all(&server).await.during("reading to the end")?;
    ensure!(words == b"bye", "{} came before the end", words.escape_ascii());
    Ok(())
}

pub async fn acknowledged_late(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    set_linger(&client, 30).await?;
    let sent = fill(&client).await?;
    let (closed, got) = tokio::join!(client.close(), read_all(&server));
    let (closed, got) = (closed.during("closing")?, got.during("reading to the end")?);
    ensure!(closed.ending == Ending::Acknowledged, "the close ended as {:?}", closed.ending);
    ensure!(closed.unsent.is_none_or(|unsent| unsent > 0), "a full socket counted as empty");
    ensure!(got.len() == sent, "of {sent} bytes, {} came", got.len());
    Ok(())
}

/// The peer has ended its side first, and is now to acknowledge the end of this one.
pub async fn acknowledged_last(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    set_linger(&client, 30).await?;
    let sent = fill(&client).await?;
    server.shutdown(Shutdown::Write).during("ending the peer's side")?;
    let ended = read(&client, &mut [0; 1]).await;
    ensure!(ended == Ok(0), "instead of the end came {ended:?}");
    let (closed, got) = tokio::join!(client.close(), read_all(&server));
    let closed = closed.during("closing")?;
    ensure!(closed.ending == Ending::Acknowledged, "the close ended as {:?}", closed.ending);
    let got = got.during("reading to the end")?.len();
    ensure!(got == sent, "of {sent} bytes, {got} came");
    Ok(())
}

pub async fn timed_out(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    set_linger(&client, 1).await?;
    let sent = fill(&client).await?;
    ends(&client, Ending::TimedOut).await?;
    let got = read_all(&server).await.during("reading what was left behind")?;
    ensure!(got.len() == sent, "of {sent} bytes, {} came", got.len());
    Ok(())
}

pub async fn cut_meanwhile(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    set_linger(&client, 30).await?;
    set_linger(&server, 0).await?;
    fill(&client).await?;
    let (closed, cut) = tokio::join!(client.close(), server.close());
    cut.during("cutting")?;
    let closed = closed.during("closing")?;
    ensure!(closed.ending == Ending::Reset, "a close whose peer cut the connection ended as {:?}", closed.ending);
    Ok(())
}

/// Says that a call was answered as on a closed socket.
fn is_over<T>(answer: crate::Result<T>, call: &str) -> Verdict {
    refused(answer, &Error::InvalidState, &format!("{call} after close"))
}

pub async fn afterwards(backend: Arc<dyn Backend>) -> Verdict {
    let (client, _server) = pair(&backend, V4).await?;
    ends(&client, Ending::Background).await?;
    is_over(client.close().await, "close")?;
    is_over(client.try_read(&mut [0; 1]), "read")?;
    is_over(client.try_write(&[0; 1]), "write")?;
    is_over(client.shutdown(Shutdown::Both), "shutdown")?;
    is_over(client.queued(), "queued")?;
    is_over(client.local_address(), "local address")?;
    is_over(client.peer_address(), "peer address")?;
    is_over(client.option(OptionKind::HopLimit).await, "option")?;
    is_over(client.set_option(SocketOption::HopLimit(1)).await, "set option")?;
    ensure!(is_ready(|cx| client.poll_read_ready(cx)).await, "a closed socket is not ready to read");
    ensure!(is_ready(|cx| client.poll_write_ready(cx)).await, "a closed socket is not ready to write");
    Ok(())
}

pub async fn wakes(backend: Arc<dyn Backend>) -> Verdict {
    let (client, _server) = pair(&backend, V4).await?;
    fill(&client).await?;
    let mut byte = [0; 1];
    let (read, written, closed) = tokio::join!(read(&client, &mut byte), fill(&client), client.close());
    closed.during("closing")?;
    is_over(read, "a read that was waiting")?;
    ensure!(written.is_err(), "a write that was waiting succeeded after close");
    Ok(())
}

pub async fn wakes_on_cut(backend: Arc<dyn Backend>) -> Verdict {
    let (client, _server) = pair(&backend, V4).await?;
    set_linger(&client, 0).await?;
    let mut byte = [0; 1];
    let (read, closed) = tokio::join!(read(&client, &mut byte), client.close());
    closed.during("closing")?;
    is_over(read, "a read that was waiting")
}

pub async fn outlives(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    set_linger(&client, 30).await?;
    fill(&client).await?;
    let closing = client.close();
    drop((client, backend));
    let (closed, got) = tokio::join!(closing, read_all(&server));
    let closed = closed.during("closing")?;
    got.during("reading to the end")?;
    ensure!(closed.ending == Ending::Acknowledged, "the close ended as {:?}", closed.ending);
    Ok(())
}

pub async fn peer_gone(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    drop(server);
    // The first write is what makes the peer's machine say that nobody is there.
    for _ in 0..10_000 {
        match write(&client, b"anybody?").await {
            Ok(_) => tokio::time::sleep(Duration::from_millis(1)).await,
            Err(Error::ConnectionReset | Error::ConnectionAborted) => return Ok(()),
            Err(error) => return Err(format!("writing to a peer that has closed answered \"{error}\"")),
        }
    }
    Err("a peer that has closed takes everything".to_owned())
}

/// How long a drop may hold its thread up before it counts as waiting: for an hour, if it does.
const PATIENCE: Duration = Duration::from_secs(20);

pub async fn drop_does_not_wait(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    set_linger(&client, 3600).await?;
    fill(&client).await?;
    let (done, waiting) = mpsc::channel();
    // Another thread ends the connection, and with it the wait, since this one cannot if it waits.
    let guard = thread::spawn(move || {
        let in_time = waiting.recv_timeout(PATIENCE).is_ok();
        drop(server);
        in_time
    });
    drop(client);
    let _ = done.send(());
    let in_time = guard.join().map_err(|_| "the other thread panicked".to_owned())?;
    ensure!(in_time, "dropping a socket that lingers held its thread up");
    Ok(())
}
