//! A cache that speaks memcached's protocols, natively: the sessions and the store of the guest cache-server on tokio's
//! sockets, so that what an infrastructure costs can be told from what a cache does.
//!
//! Left out: dropping a client that never reads, which waits here within the bound that a session has for its answers.

use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use cache::server::{Cache, Session, Wants};
use cache::store::{Seconds, Store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::accept::accept;

/// The largest item, in bytes, memcached's bookkeeping included: that of a memcached that is not told otherwise.
pub(crate) const MAX_ITEM: usize = 1 << 20;

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

async fn converse(mut stream: TcpStream, session: &mut Session, cache: &Mutex<Cache>) -> io::Result<()> {
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
        stream.write_all(&output).await?;
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
}
