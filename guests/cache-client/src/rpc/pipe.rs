//! A connection in memory: h2 reads from one end what the loop has received, and writes into it what the loop will send.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that may wait to be sent. Beyond it h2 has to wait, or a server that asks and never reads would fill the memory.
const OUTGOING_LIMIT: usize = 1 << 20;

/// Bytes that may wait for h2 to read them. It reads all there is, unless it has to wait with writing.
const INCOMING_LIMIT: usize = 1 << 20;

/// The loop's end.
#[derive(Default)]
pub struct Pipe(Rc<RefCell<Buffers>>);

/// h2's end. It never fails and never ends: a connection that is lost is dropped whole.
pub struct Transport(Rc<RefCell<Buffers>>);

#[derive(Default)]
struct Buffers {
    incoming: Vec<u8>,
    /// Bytes at the front of `incoming` that were read.
    read: usize,
    outgoing: Vec<u8>,
    /// Bytes before `outgoing` that the loop has taken and not sent yet.
    ahead: usize,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipe {
    pub fn transport(&self) -> Transport {
        Transport(Rc::clone(&self.0))
    }

    /// Has h2 read `bytes`. False when more wait for that than may.
    pub fn received(&self, bytes: &[u8]) -> bool {
        let mut buffers = self.0.borrow_mut();
        if buffers.read == buffers.incoming.len() {
            buffers.incoming.clear();
            buffers.read = 0;
        }
        buffers.incoming.extend_from_slice(bytes);
        if let Some(reader) = buffers.reader.take() {
            reader.wake();
        }
        buffers.incoming.len() - buffers.read <= INCOMING_LIMIT.max(bytes.len())
    }

    /// Puts what h2 has written behind `outgoing`, where the loop takes it from; what is in there has not been sent.
    pub fn take(&self, outgoing: &mut Vec<u8>) {
        let mut buffers = self.0.borrow_mut();
        if outgoing.is_empty() {
            std::mem::swap(outgoing, &mut buffers.outgoing);
        } else {
            outgoing.append(&mut buffers.outgoing);
        }
        buffers.ahead = outgoing.len();
    }

    /// Has h2 know that of what was taken, `unsent` bytes are still to be sent.
    pub fn sent(&self, unsent: usize) {
        let mut buffers = self.0.borrow_mut();
        buffers.ahead = unsent;
        if buffers.room() > 0
            && let Some(writer) = buffers.writer.take()
        {
            writer.wake();
        }
    }
}

impl Buffers {
    fn room(&self) -> usize {
        OUTGOING_LIMIT.saturating_sub(self.ahead + self.outgoing.len())
    }
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut buffers = self.0.borrow_mut();
        let Buffers { incoming, read, reader, .. } = &mut *buffers;
        let length = into.remaining().min(incoming.len() - *read);
        // To read nothing would be the end of the connection.
        if length == 0 && into.remaining() > 0 {
            *reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        into.put_slice(&incoming[*read..*read + length]);
        *read += length;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut buffers = self.0.borrow_mut();
        let room = buffers.room();
        if room == 0 {
            buffers.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        let before = buffers.outgoing.len();
        for slice in slices {
            let left = room - (buffers.outgoing.len() - before);
            buffers.outgoing.extend_from_slice(&slice[..slice.len().min(left)]);
        }
        Poll::Ready(Ok(buffers.outgoing.len() - before))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(transport: &mut Transport, bytes: &[u8]) -> Option<usize> {
        match Pin::new(transport).poll_write(&mut Context::from_waker(Waker::noop()), bytes) {
            Poll::Ready(written) => Some(written.expect("a pipe never fails")),
            Poll::Pending => None,
        }
    }

    #[test]
    fn writing_stops_at_the_bound_and_goes_on_when_some_was_sent() {
        let pipe = Pipe::default();
        let mut transport = pipe.transport();
        let mut outgoing = Vec::new();
        assert_eq!(write(&mut transport, &vec![1; OUTGOING_LIMIT + 10]), Some(OUTGOING_LIMIT));
        assert_eq!(write(&mut transport, b"more"), None);
        pipe.take(&mut outgoing);
        assert_eq!(write(&mut transport, b"more"), None, "what was taken is not sent yet");
        pipe.sent(OUTGOING_LIMIT - 3);
        assert_eq!(write(&mut transport, b"more"), Some(3));
        pipe.take(&mut outgoing);
        assert_eq!(outgoing.len(), OUTGOING_LIMIT + 3);
    }

    #[test]
    fn what_is_received_is_read_once_and_its_end_is_no_end() {
        let pipe = Pipe::default();
        let mut transport = pipe.transport();
        let mut read = |room: usize| {
            let mut space = vec![0; room];
            let mut into = ReadBuf::new(&mut space);
            match Pin::new(&mut transport).poll_read(&mut Context::from_waker(Waker::noop()), &mut into) {
                Poll::Ready(_) => Some(into.filled().to_vec()),
                Poll::Pending => None,
            }
        };
        assert_eq!(read(4), None);
        assert!(pipe.received(b"abcdef"));
        assert_eq!(read(4), Some(b"abcd".to_vec()));
        assert!(pipe.received(b"gh"));
        assert_eq!(read(9), Some(b"efgh".to_vec()));
        assert_eq!(read(9), None);
        assert!(pipe.received(&[0; INCOMING_LIMIT]));
        assert!(!pipe.received(b"x"));
    }
}
