//! One call on a connection: its request has been handed to HTTP/2, and its answer comes in pieces.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use h2::RecvStream;
use h2::client::ResponseFuture;
use http::{StatusCode, header};

use super::flag::Flag;
use super::frame::Unwrapping;
use super::method::{Method, Outcome};
use super::status::Status;

/// A call that is under way.
pub struct Call {
    method: Method,
    /// Of the answer's message, in bytes.
    limit: usize,
    flag: Flag,
    part: Part,
}

/// What is waited for.
enum Part {
    Head(ResponseFuture),
    /// The message, and after it the trailers. `status` is what the head said of how the call ended.
    Body {
        stream: RecvStream,
        answer: Unwrapping,
        status: Option<Status>,
    },
}

/// Why a call came to nothing.
pub enum Failure {
    /// The server refuses the call's session.
    Session(String),
    /// The connection is of no more use.
    Connection(String),
}

impl Call {
    /// `limit` is of the answer's message, in bytes.
    pub fn new(method: Method, response: ResponseFuture, limit: usize) -> Self {
        Self { method, limit, flag: Flag::raised(), part: Part::Head(response) }
    }

    /// What it came to, when it has; as cheap as a look at a flag while nothing new has come.
    ///
    /// # Errors
    /// A [`Failure`]. As with an outcome, that is the end of the call.
    pub fn poll(&mut self) -> Poll<Result<Outcome, Failure>> {
        if !self.flag.lower() {
            return Poll::Pending;
        }
        let mut context = Context::from_waker(self.flag.waker());
        let ended = ready!(self.part.poll(self.limit, &mut context));
        Poll::Ready(ended.map_err(Failure::Connection).and_then(|ended| ended.outcome(self.method)))
    }
}

/// All that a call's stream brought.
struct Ended {
    answer: Unwrapping,
    status: Status,
}

impl Ended {
    fn outcome(self, method: Method) -> Result<Outcome, Failure> {
        if self.status.is_ok() {
            return Outcome::read(method, self.answer).map_err(Failure::Connection);
        }
        let words = self.status.words();
        if self.status.is_aborted() { Err(Failure::Session(words)) } else { Ok(Outcome::Refused(words)) }
    }
}

impl Part {
    fn poll(&mut self, limit: usize, context: &mut Context<'_>) -> Poll<Result<Ended, String>> {
        if let Self::Head(response) = self {
            let (head, stream) = ready!(Pin::new(response).poll(context)).map_err(words)?.into_parts();
            let status = Status::read(&head.headers);
            if status.is_none() {
                check(&head)?;
            }
            *self = Self::Body { stream, answer: Unwrapping::new(limit), status };
        }
        let Self::Body { stream, answer, status } = self else { return Poll::Pending };
        while let Some(bytes) = ready!(stream.poll_data(context)) {
            let bytes = bytes.map_err(words)?;
            answer.push(&bytes)?;
            // What is taken here makes room for as much.
            stream.flow_control().release_capacity(bytes.len()).map_err(words)?;
        }
        let trailers = ready!(stream.poll_trailers(context)).map_err(words)?;
        let status = trailers.as_ref().and_then(Status::read).or_else(|| status.take());
        let status = status.ok_or("an answer that does not say how its call ended")?;
        Poll::Ready(Ok(Ended { answer: std::mem::replace(answer, Unwrapping::new(0)), status }))
    }
}

/// Whether a head begins an answer of gRPC.
fn check(head: &http::response::Parts) -> Result<(), String> {
    if head.status != StatusCode::OK {
        return Err(format!("HTTP status {} in place of an answer of gRPC", head.status.as_u16()));
    }
    match head.headers.get(header::CONTENT_TYPE) {
        Some(kind) if kind.as_bytes().starts_with(b"application/grpc") => Ok(()),
        Some(kind) => Err(format!("an answer of the type {kind:?} in place of one of gRPC")),
        None => Err("an answer without a type in place of one of gRPC".to_owned()),
    }
}

/// Why HTTP/2 fails.
pub fn words(error: h2::Error) -> String {
    format!("HTTP/2: {error}")
}
