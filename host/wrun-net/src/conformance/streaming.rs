//! Claims on what a connection carries.

use std::future::poll_fn;
use std::net::{IpAddr, Shutdown};
use std::sync::Arc;
use std::thread;

use super::kit::*;
use crate::backend::{Backend, SocketOption, TcpStream};
use crate::error::Error;

pub async fn echo(backend: Arc<dyn Backend>, ip: IpAddr) -> Verdict {
    let (client, server) = pair(&backend, ip).await?;
    for size in [1, 2, 1000] {
        let data = pattern(size);
        write_all(&client, &data).await.during("writing")?;
        let there = read_exactly(&server, size).await?;
        write_all(&server, &there).await.during("writing back")?;
        let back = read_exactly(&client, size).await?;
        ensure!(back == data, "{size} bytes came back as others");
    }
    Ok(())
}

pub async fn large(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    carries(&client, &server, 4 * 1024 * 1024).await
}

pub async fn small_buffers(backend: Arc<dyn Backend>) -> Verdict {
    let (socket, address) = bound(&backend, V4).await?;
    let small = [SocketOption::ReceiveBuffer(4096), SocketOption::SendBuffer(4096)];
    for option in small {
        socket.set_option(option).await.during("making a buffer small")?;
    }
    let listener = socket.listen(1).await.during("listening")?;
    let (client, server) = join(&backend, &listener, address).await?;
    for option in small {
        client.set_option(option).await.during("making a buffer small")?;
    }
    carries(&client, &server, 50_000).await?;
    carries(&server, &client, 50_000).await
}

/// Both ends write far more than the buffers hold before they would read, if they did not do both at once.
pub async fn both_ways(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    let size = 2 * 1024 * 1024;
    let (there, back) = tokio::join!(carries(&client, &server, size), carries(&server, &client, size));
    there.and(back)
}

async fn carries(from: &Arc<dyn TcpStream>, to: &Arc<dyn TcpStream>, size: usize) -> Verdict {
    let data = pattern(size);
    let (sent, got) = tokio::join!(write_all(from, &data), read_exactly(to, size));
    sent.during("writing")?;
    let got = got?;
    let wrong = got.iter().zip(&data).position(|(got, sent)| got != sent);
    ensure!(wrong.is_none(), "of {size} bytes, the one at {wrong:?} is the first wrong one");
    Ok(())
}

pub async fn read_readiness(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    let mut buffer = [0; 16];
    refused(client.try_read(&mut buffer), &Error::WouldBlock, "reading before anything was sent")?;
    ensure!(!is_ready(|cx| client.poll_read_ready(cx)).await, "it was ready to read with nothing there");
    let (ready, sent) = tokio::join!(poll_fn(|cx| client.poll_read_ready(cx)), write_all(&server, b"now"));
    let () = ready;
    sent.during("writing")?;
    let count = client.try_read(&mut buffer).during("reading when that is ready")?;
    ensure!(buffer[..count] == b"now"[..count] && count > 0, "{} came", buffer[..count].escape_ascii());
    Ok(())
}

pub async fn write_readiness(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    let sent = fill(&client).await?;
    // What is under way may have made some room again, so a full socket is one that is full when asked twice.
    let sent = sent + fill_again(&client).await?;
    let (got, ()) = tokio::join!(read_exactly(&server, sent), poll_fn(|cx| client.poll_write_ready(cx)));
    ensure!(got?.len() == sent, "bytes are missing");
    let count = write(&client, b"more").await.during("writing when there is room again")?;
    ensure!(count > 0, "a write of nothing counted as one");
    Ok(())
}

async fn fill_again(stream: &Arc<dyn TcpStream>) -> Verdict<usize> {
    if is_ready(|cx| stream.poll_write_ready(cx)).await { fill(stream).await } else { Ok(0) }
}

pub async fn from_another_thread(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    for round in 0..50u8 {
        let writer = server.clone();
        let other = thread::spawn(move || {
            loop {
                match writer.try_write(&[round]) {
                    Err(Error::WouldBlock) => thread::yield_now(),
                    answer => return answer,
                }
            }
        });
        let got = read_exactly(&client, 1).await?;
        ensure!(got == [round], "round {round} carried {got:?}");
        let written = other.join().map_err(|_| "the other thread panicked".to_owned())?;
        ensure!(written == Ok(1), "the other thread was answered {written:?}");
    }
    Ok(())
}

pub async fn queue(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    let empty = client.queued().during("asking what is queued")?;
    ensure!(empty == 0, "{empty} bytes are queued before any was written");
    let sent = fill(&client).await?;
    let full = client.queued().during("asking what is queued")?;
    ensure!(full > 0 && full <= sent as u64, "{full} bytes are queued of {sent}, and nobody has read any");
    read_exactly(&server, sent).await?;
    // The peer has them all, and its acknowledgement is under way.
    while client.queued().during("asking what is queued")? > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    Ok(())
}

pub async fn half_close(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    for (one, other) in [(&client, &server), (&server, &client)] {
        write_all(one, b"last words").await.during("writing")?;
        one.shutdown(Shutdown::Write).during("ending the sending side")?;
        let words = read_all(other).await.during("reading to the end")?;
        ensure!(words == b"last words", "{} came before the end", words.escape_ascii());
        let again = read(other, &mut [0; 1]).await;
        ensure!(again == Ok(0), "after the end came {again:?}");
        refused(one.try_write(b"x"), &Error::InvalidState, "writing after ending the sending side")?;
    }
    client.shutdown(Shutdown::Both).during("ending both sides again")
}

pub async fn deaf(backend: Arc<dyn Backend>) -> Verdict {
    let (client, server) = pair(&backend, V4).await?;
    let mut byte = [0; 1];
    let (ended, shut) = tokio::join!(read(&client, &mut byte), async { client.shutdown(Shutdown::Read) });
    shut.during("ending the receiving side")?;
    ensure!(ended == Ok(0), "a read that was waiting was answered {ended:?}");
    write_all(&client, b"still").await.during("writing after ending the receiving side")?;
    let got = read_exactly(&server, 5).await?;
    ensure!(got == b"still", "{} came", got.escape_ascii());
    Ok(())
}
