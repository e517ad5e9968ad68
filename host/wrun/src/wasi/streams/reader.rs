//! The receiving half of a connection.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, StreamResult};
use wrun_net::{Error, TcpStream};

use super::{MAX_PIECE, failed};
use crate::wasi::scratch;

/// Reads that found less than this are copied out of a shared buffer; longer ones are read where they stay.
const SMALL_READ: usize = 8 * 1024;

/// The receiving half. Its clones share one state.
#[derive(Clone)]
pub struct Reader {
    stream: Arc<dyn TcpStream>,
    state: Arc<State>,
}

/// Each of the two stands for itself and publishes nothing else.
struct State {
    open: AtomicBool,
    /// Bytes of the last read that found any.
    last: AtomicUsize,
}

impl Reader {
    pub fn new(stream: Arc<dyn TcpStream>) -> Self {
        Self { stream, state: Arc::new(State { open: AtomicBool::new(true), last: AtomicUsize::new(0) }) }
    }

    /// From now on the guest reads the end.
    pub fn shut(&self) {
        self.state.open.store(false, Ordering::Relaxed);
    }

    fn is_open(&self) -> bool {
        self.state.open.load(Ordering::Relaxed)
    }

    /// Reads what is there, up to `size` bytes. Nothing of it is nothing yet.
    pub fn read(&self, size: usize) -> StreamResult<Vec<u8>> {
        if !self.is_open() {
            return Err(StreamError::Closed);
        }
        let size = size.min(MAX_PIECE);
        if size == 0 {
            return Ok(Vec::new());
        }
        let result = if size > SMALL_READ && self.state.last.load(Ordering::Relaxed) > SMALL_READ {
            let mut buffer = vec![0; size];
            self.stream.try_read(&mut buffer).map(|n| {
                buffer.truncate(n);
                buffer
            })
        } else {
            scratch::lend(|buffer| self.stream.try_read(&mut buffer[..size]).map(|n| buffer[..n].to_vec()))
        };
        match result {
            Ok(bytes) if bytes.is_empty() => {
                self.shut();
                Err(StreamError::Closed)
            }
            Ok(bytes) => {
                self.state.last.store(bytes.len(), Ordering::Relaxed);
                Ok(bytes)
            }
            Err(Error::WouldBlock) => Ok(Vec::new()),
            // The guest closed the socket itself, and this half with it.
            Err(Error::InvalidState) => {
                self.shut();
                Err(StreamError::Closed)
            }
            Err(error) => {
                self.shut();
                Err(failed(error))
            }
        }
    }

    /// Reads up to `size` bytes, and waits for the first of them.
    pub async fn read_some(&self, size: usize) -> StreamResult<Vec<u8>> {
        loop {
            let bytes = self.read(size)?;
            if !bytes.is_empty() || size == 0 {
                return Ok(bytes);
            }
            poll_fn(|cx| self.poll(cx)).await;
        }
    }

    /// Ready when a read would not block.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_open() { self.stream.poll_read_ready(cx) } else { Poll::Ready(()) }
    }
}

#[wasmtime_wasi::async_trait]
impl InputStream for Reader {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        Ok(Reader::read(self, size)?.into())
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        Ok(self.read_some(size).await?.into())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Reader {
    async fn ready(&mut self) {
        poll_fn(|cx| self.poll(cx)).await;
    }
}
