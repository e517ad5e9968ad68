//! A cache that speaks memcached's protocols, natively: the sessions and the store of the guest cache-server on tokio's
//! sockets, so that what an infrastructure costs can be told from what a cache does.
//!
//! Left out: limits of time for a client that says nothing, as memcached has none unless it is told so.

use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use cache::server::{Cache, Session, Wants};
use cache::store::{Seconds, Store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::accept::{Stream, accept};

/// The largest item, in bytes, memcached's bookkeeping included: that of a memcached that is not told otherwise.
pub(crate) const MAX_ITEM: usize = 1 << 20;

/// A client that takes none of its answers for so long is dropped.
const SENDING: Duration = Duration::from_secs(10);

/// Bytes that are read at a time.
const PIECE: usize = 16 << 10;

/// Serves from an empty store of `memory` bytes, until `shutdown` is ready, and then cuts what is open. Has to be called in
/// a tokio runtime.
pub async fn serve(listener: TcpListener, memory: usize, shutdown: impl Future<Output = ()>) {
    let cache = Arc::new(Mutex::new(Cache::new(Store::new(memory, MAX_ITEM), now())));
    accept(listener, |stream| connection(stream, Arc::clone(&cache)), shutdown).await;
}

/// One connection to its end. Errors are not answered: the peer has nobody to tell, and the client sees them.
async fn connection(stream: TcpStream, cache: Arc<Mutex<Cache>>) {
    let mut session = Session::default();
    {
        let traffic = &mut lock(&cache).traffic;
        traffic.connections += 1;
        traffic.connections_accepted += 1;
    }
    let _ = converse(stream, &mut session, &cache).await;
    let mut cache = lock(&cache);
    session.close(&mut cache.store);
    cache.traffic.connections -= 1;
}

async fn converse(mut stream: impl Stream, session: &mut Session, cache: &Mutex<Cache>) -> io::Result<()> {
    let (mut input, mut output) = (Vec::new(), Vec::new());
    loop {
        let (used, wants) = {
            let mut cache = lock(cache);
            cache.now = now();
            let (used, wants) = session.receive(&input, &mut output, &mut cache);
            cache.traffic.bytes_read += used as u64;
            cache.traffic.bytes_written += output.len() as u64;
            (used, wants)
        };
        input.drain(..used);
        send(&mut stream, &output).await?;
        output.clear();
        match wants {
            Wants::Close => return stream.shutdown().await,
            Wants::Room => {}
            Wants::Input => {
                input.reserve(PIECE);
                if stream.read_buf(&mut input).await? == 0 {
                    return Ok(());
                }
            }
        }
    }
}

/// Sends all of `bytes` to a client that takes some of them now and again.
async fn send(stream: &mut impl Stream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match timeout(SENDING, stream.write(bytes)).await?? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            sent => bytes = &bytes[sent..],
        }
    }
    Ok(())
}

/// A session that panicked has left the store as far as it came; the others go on.
fn lock(cache: &Mutex<Cache>) -> MutexGuard<'_, Cache> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Seconds since 1970; a clock that is before that, or after what fits, is at its end.
pub(crate) fn now() -> Seconds {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Seconds::try_from(since.as_secs()).unwrap_or(Seconds::MAX)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::io::DuplexStream;
    use tokio::time::Instant;

    use super::*;

    /// What a server answers to `said`, which ends with `quit` or breaks off.
    async fn answers(said: &[u8]) -> Vec<u8> {
        let listener = crate::listen((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let address = listener.local_addr().unwrap();
        let client = async {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(said).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut answers = Vec::new();
            stream.read_to_end(&mut answers).await.unwrap();
            answers
        };
        tokio::select! {
            () = serve(listener, 1 << 20, std::future::pending()) => panic!("it ended"),
            answers = client => answers,
        }
    }

    #[tokio::test]
    async fn text_is_answered_in_order_and_quit_closes() {
        let said = b"set k 5 0 2\r\n41\r\nincr k 1\r\nget k\r\nquit\r\nget k\r\n";
        assert_eq!(answers(said).await, b"STORED\r\n42\r\nVALUE k 5 2\r\n42\r\nEND\r\n");
    }

    #[tokio::test]
    async fn answers_beyond_the_bound_of_a_session_all_come() {
        let value = "x".repeat(100_000);
        let set = format!("set k 0 0 {}\r\n{value}\r\n", value.len());
        let said = [set.as_bytes(), &b"get k\r\n".repeat(20)].concat();
        let answer = format!("VALUE k 0 {}\r\n{value}\r\nEND\r\n", value.len());
        assert!(answers(&said).await == [b"STORED\r\n".as_slice(), answer.repeat(20).as_bytes()].concat());
    }

    /// What becomes of a client that asks for more than is on its way to it at once, and how long that takes.
    async fn asks_and(reads: impl AsyncFnOnce(DuplexStream)) -> (io::Result<()>, Duration) {
        let cache = Mutex::new(Cache::new(Store::new(1 << 20, MAX_ITEM), now()));
        let (mut client, server) = tokio::io::duplex(1 << 10);
        let began = Instant::now();
        let client = async {
            client.write_all(&[b"set k 0 0 700\r\n".as_slice(), &[b'x'; 700], b"\r\n"].concat()).await.unwrap();
            client.write_all(&b"get k\r\n".repeat(10)).await.unwrap();
            reads(client).await;
        };
        let mut session = Session::default();
        let (outcome, ()) = tokio::join!(converse(server, &mut session, &cache), client);
        (outcome, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_never_reads_its_answers_is_dropped() {
        let never = async |client| {
            tokio::time::sleep(SENDING * 3).await;
            drop(client);
        };
        let (outcome, _) = asks_and(never).await;
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_gets_all_its_answers() {
        let slowly = async |mut client: DuplexStream| {
            let all = "STORED\r\n".len() + 10 * ("VALUE k 0 700\r\n".len() + 700 + "\r\nEND\r\n".len());
            let mut read = 0;
            while read < all {
                tokio::time::sleep(SENDING / 2).await;
                read += client.read(&mut [0; 1 << 9]).await.unwrap();
            }
        };
        let (outcome, took) = asks_and(slowly).await;
        outcome.unwrap();
        assert!(took > SENDING * 3, "{took:?}");
    }
}
