//! The sending half of a connection.
//!
//! A write is accepted whole, up to what `check-write` granted; what the socket did not take at once goes on in a task
//! of its own, and the next grant waits for it.

use std::future::poll_fn;
use std::net::Shutdown;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};
use wrun_net::{Error, TcpStream};

use super::{MAX_PIECE, failed, lock};

/// How long dropping an output stream waits for what it had accepted. A peer that stopped reading must not hold a
/// guest for ever; the rest is still sent afterwards, as long as the run lasts.
const DROP_WAIT: Duration = Duration::from_secs(5);

/// The sending half. Its clones share one state.
#[derive(Clone)]
pub struct Writer {
    stream: Arc<dyn TcpStream>,
    state: Arc<Mutex<WriteState>>,
}

enum WriteState {
    /// Nothing under way. Holds what the last `check-write` granted.
    Ready { permit: usize },
    /// A task is sending the rest of a write.
    Sending {
        waker: Option<Waker>,
        then_shut: bool,
        /// Bytes.
        left: u64,
    },
    /// Nothing can be written any more. An error is told once.
    Closed(Option<Error>),
}

impl Writer {
    pub fn new(stream: Arc<dyn TcpStream>) -> Self {
        Self { stream, state: Arc::new(Mutex::new(WriteState::Ready { permit: 0 })) }
    }

    /// Ends the sending side once everything accepted is sent.
    pub fn shut(&self) -> Result<(), Error> {
        let mut state = lock(&self.state);
        match &mut *state {
            WriteState::Ready { .. } => {
                *state = WriteState::Closed(None);
                self.stream.shutdown(Shutdown::Write)
            }
            WriteState::Sending { then_shut, .. } => {
                *then_shut = true;
                Ok(())
            }
            WriteState::Closed(_) => Ok(()),
        }
    }

    /// Ends this half without a word to the peer: the socket is being closed.
    pub fn abandon(&self) {
        let mut state = lock(&self.state);
        if let WriteState::Sending { waker: Some(waker), .. } = std::mem::replace(&mut *state, WriteState::Closed(None))
        {
            waker.wake();
        }
    }

    /// Ready when a write would not block.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut *lock(&self.state) {
            WriteState::Ready { .. } => self.stream.poll_write_ready(cx),
            WriteState::Sending { waker, .. } => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            WriteState::Closed(_) => Poll::Ready(()),
        }
    }

    /// How many bytes may be written now.
    pub fn check(&self) -> StreamResult<usize> {
        let ready = self.poll(&mut Context::from_waker(Waker::noop())).is_ready();
        match &mut *lock(&self.state) {
            WriteState::Ready { permit } => {
                *permit = if ready { MAX_PIECE } else { 0 };
                Ok(*permit)
            }
            WriteState::Sending { .. } => Ok(0),
            WriteState::Closed(error) => Err(error.take().map_or(StreamError::Closed, failed)),
        }
    }

    /// Writes what was granted by a check.
    pub fn write(&self, bytes: &[u8]) -> StreamResult<()> {
        let mut state = lock(&self.state);
        match &mut *state {
            WriteState::Closed(error) => Err(error.take().map_or(StreamError::Closed, failed)),
            // Each grant is for one write, as everywhere else.
            WriteState::Ready { permit } if bytes.len() <= *permit => {
                *permit = 0;
                self.write_to(&mut state, bytes)
            }
            _ => {
                let words = format!("a write of {} bytes was not granted by check-write", bytes.len());
                Err(StreamError::Trap(wasmtime::Error::msg(words)))
            }
        }
    }

    /// Writes, from the state `Ready`; what the socket does not take now goes on by itself.
    fn write_to(&self, state: &mut WriteState, mut bytes: &[u8]) -> StreamResult<()> {
        while !bytes.is_empty() {
            match self.stream.try_write(bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(Error::WouldBlock) => {
                    *state = WriteState::Sending { waker: None, then_shut: false, left: bytes.len() as u64 };
                    let rest = Bytes::copy_from_slice(bytes);
                    tokio::spawn(tokio::task::coop::unconstrained(send_rest(self.clone(), rest)));
                    return Ok(());
                }
                Err(error) => {
                    *state = WriteState::Closed(None);
                    return Err(match error {
                        // The guest closed the socket itself.
                        Error::InvalidState => StreamError::Closed,
                        error => failed(error),
                    });
                }
            }
        }
        Ok(())
    }

    /// Writes without a grant, and without waiting. `None` when all of `bytes` is with the backend; else [`Self::finish`]
    /// goes on, with what this answers: the bytes that are not even accepted.
    pub fn begin(&self, bytes: &[u8]) -> StreamResult<Option<Bytes>> {
        let mut state = lock(&self.state);
        match &mut *state {
            WriteState::Ready { .. } => {
                self.write_to(&mut state, bytes)?;
                Ok(matches!(*state, WriteState::Sending { .. }).then(Bytes::new))
            }
            // The rest of an earlier write goes first.
            WriteState::Sending { .. } => Ok(Some(Bytes::copy_from_slice(bytes))),
            WriteState::Closed(error) => Err(error.take().map_or(StreamError::Closed, failed)),
        }
    }

    /// Waits until all that [`Self::begin`] was given is with the backend.
    pub async fn finish(&self, mut rest: Bytes) -> StreamResult<()> {
        loop {
            self.flushed().await?;
            if rest.is_empty() {
                return Ok(());
            }
            match self.begin(&rest)? {
                Some(left) => rest = left,
                None => return Ok(()),
            }
        }
    }

    /// Whether something accepted is still on its way to the backend.
    pub fn is_sending(&self) -> bool {
        matches!(&*lock(&self.state), WriteState::Sending { .. })
    }

    /// Waits, for a bounded time, until everything accepted is with the backend: what a guest was told is written must
    /// not be lost because it let go of the handle. Answers with the bytes that are not.
    pub async fn drain(&self, at_least: Duration) -> u64 {
        _ = tokio::time::timeout(at_least.max(DROP_WAIT), self.flushed()).await;
        match &*lock(&self.state) {
            WriteState::Sending { left, .. } => *left,
            WriteState::Ready { .. } | WriteState::Closed(_) => 0,
        }
    }

    /// Waits until everything accepted is with the backend.
    async fn flushed(&self) -> StreamResult<()> {
        poll_fn(|cx| match &mut *lock(&self.state) {
            WriteState::Sending { waker, .. } => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            WriteState::Ready { .. } => Poll::Ready(Ok(())),
            WriteState::Closed(error) => Poll::Ready(error.take().map_or(Ok(()), |error| Err(failed(error)))),
        })
        .await
    }
}

/// Sends what a write had accepted and the socket had not.
async fn send_rest(writer: Writer, mut rest: Bytes) {
    let result = loop {
        if rest.is_empty() {
            break Ok(());
        }
        match writer.stream.try_write(&rest) {
            Ok(n) => {
                drop(rest.split_to(n));
                if let WriteState::Sending { left, .. } = &mut *lock(&writer.state) {
                    *left = rest.len() as u64;
                }
            }
            Err(Error::WouldBlock) => poll_fn(|cx| writer.stream.poll_write_ready(cx)).await,
            Err(error) => break Err(error),
        }
    };
    let mut state = lock(&writer.state);
    if let WriteState::Sending { waker, then_shut, .. } = &mut *state {
        let (waker, shut) = (waker.take(), *then_shut);
        *state = match result {
            Ok(()) if shut => {
                // The peer may be gone by now; nobody is left to be told.
                _ = writer.stream.shutdown(Shutdown::Write);
                WriteState::Closed(None)
            }
            Ok(()) => WriteState::Ready { permit: 0 },
            Err(Error::InvalidState) => WriteState::Closed(None),
            Err(error) => WriteState::Closed(Some(error)),
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for Writer {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        Writer::write(self, &bytes)
    }

    /// Nothing is held back here, so there is nothing to hurry.
    fn flush(&mut self) -> StreamResult<()> {
        match &mut *lock(&self.state) {
            WriteState::Closed(error) => Err(error.take().map_or(StreamError::Closed, failed)),
            _ => Ok(()),
        }
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.check()
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        match self.begin(&bytes)? {
            Some(rest) => self.finish(rest).await,
            None => Ok(()),
        }
    }

    async fn write_ready(&mut self) -> StreamResult<usize> {
        loop {
            let granted = self.check()?;
            if granted > 0 {
                return Ok(granted);
            }
            poll_fn(|cx| self.poll(cx)).await;
        }
    }

    async fn cancel(&mut self) {
        self.drain(Duration::ZERO).await;
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Writer {
    async fn ready(&mut self) {
        poll_fn(|cx| self.poll(cx)).await;
    }
}

#[cfg(test)]
mod tests {
    use wrun_net::memory::Memory;
    use wrun_net::{Backend, Family};

    use super::super::Reader;
    use super::*;

    async fn connection() -> (Writer, Reader) {
        let backend = Memory::new();
        let socket = backend.tcp(Family::V4).unwrap();
        let address = socket.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let listener = socket.listen(1).await.unwrap();
        let near = backend.tcp(Family::V4).unwrap().connect(address).await.unwrap();
        poll_fn(|cx| listener.poll_accept_ready(cx)).await;
        (Writer::new(near), Reader::new(listener.try_accept().unwrap()))
    }

    #[tokio::test]
    async fn a_write_goes_behind_the_rest_of_an_earlier_one() {
        let (writer, reader) = connection().await;
        // More than both buffers hold.
        let first = vec![1; 1 << 20];
        let rest = writer.begin(&first).unwrap();
        assert_eq!(rest.as_deref(), Some(&[][..]), "all of the first is accepted");
        let rest = writer.begin(b"second").unwrap().unwrap();
        assert_eq!(&rest[..], b"second", "nothing of the second is accepted yet");
        let (finished, received) = tokio::join!(writer.finish(rest), async {
            let mut received = Vec::new();
            while received.len() < first.len() + 6 {
                received.extend(reader.read_some(usize::MAX).await.unwrap());
            }
            received
        });
        finished.unwrap();
        assert!(received.starts_with(&first) && received.ends_with(b"second"));
    }

    #[tokio::test]
    async fn what_the_socket_takes_at_once_leaves_nothing_to_finish() {
        let (writer, reader) = connection().await;
        assert_eq!(writer.begin(b"byte").unwrap(), None);
        assert_eq!(reader.read(1).unwrap(), b"b");
        assert_eq!(reader.read(4096).unwrap(), b"yte");
        assert!(reader.read(1).unwrap().is_empty());
    }
}
