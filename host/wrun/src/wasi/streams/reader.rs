//! The receiving half of a connection.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use bytes::Bytes;
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, StreamResult};
use wrun_net::{Error, TcpStream};

use super::{MAX_PIECE, failed, lock};
use crate::wasi::scratch;

/// Reads that found less than this are copied out of a shared buffer; longer ones are read where they stay.
const SMALL_READ: usize = 8 * 1024;

/// The receiving half. Its clones share one state.
#[derive(Clone)]
pub struct Reader {
    stream: Arc<dyn TcpStream>,
    state: Arc<Mutex<ReadState>>,
}

struct ReadState {
    open: bool,
    last: usize,
}

impl Reader {
    pub fn new(stream: Arc<dyn TcpStream>) -> Self {
        Self { stream, state: Arc::new(Mutex::new(ReadState { open: true, last: 0 })) }
    }

    /// From now on the guest reads the end.
    pub fn shut(&self) {
        lock(&self.state).open = false;
    }

    fn read(&self, size: usize) -> StreamResult<Bytes> {
        let mut state = lock(&self.state);
        if !state.open {
            return Err(StreamError::Closed);
        }
        if size == 0 {
            return Ok(Bytes::new());
        }
        let size = size.min(MAX_PIECE);
        let result = if state.last > SMALL_READ && size > SMALL_READ {
            let mut buffer = vec![0; size];
            self.stream.try_read(&mut buffer).map(|n| {
                buffer.truncate(n);
                Bytes::from(buffer)
            })
        } else {
            scratch::lend(|buffer| {
                self.stream.try_read(&mut buffer[..size]).map(|n| Bytes::copy_from_slice(&buffer[..n]))
            })
        };
        match result {
            Ok(bytes) if bytes.is_empty() => {
                state.open = false;
                Err(StreamError::Closed)
            }
            Ok(bytes) => {
                state.last = bytes.len();
                Ok(bytes)
            }
            Err(Error::WouldBlock) => Ok(Bytes::new()),
            // The guest closed the socket itself, and this half with it.
            Err(Error::InvalidState) => {
                state.open = false;
                Err(StreamError::Closed)
            }
            Err(error) => {
                state.open = false;
                Err(failed(error))
            }
        }
    }
}

#[wasmtime_wasi::async_trait]
impl InputStream for Reader {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        Reader::read(self, size)
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        loop {
            let bytes = Reader::read(self, size)?;
            if !bytes.is_empty() || size == 0 {
                return Ok(bytes);
            }
            self.ready().await;
        }
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Reader {
    async fn ready(&mut self) {
        poll_fn(|cx| if lock(&self.state).open { self.stream.poll_read_ready(cx) } else { Poll::Ready(()) }).await;
    }
}
