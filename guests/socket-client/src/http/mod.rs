//! An HTTP/1 answer, taken apart as its bytes come. No I/O, and no memory beyond a head's limit: the body is counted
//! and dropped.
//!
//! [`Response`] is the whole of it, [`head`] and [`body`] its two parts.

mod body;
mod head;
mod response;

pub use response::Response;

use std::fmt;

/// Bytes that the heads of one answer may have, interim ones included.
const MAX_HEAD: usize = 64 * 1024;

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadAnswer {
    /// No HTTP/1 head, in the parser's words.
    NotHttp(String),
    /// More bytes of head than [`MAX_HEAD`].
    HeadTooLarge,
    /// `101`, though nobody asked for it.
    Upgrade,
    /// `Content-Length` is no number, or two different ones.
    BadLength,
    /// The chunked coding is broken, in words.
    BadChunk(&'static str),
    /// More bytes of body than the limit.
    BodyTooLarge(u64),
    /// The connection ended within the head.
    ClosedInHead(u64),
    /// The connection ended within the body: bytes that came, and that should have.
    ClosedInBody(u64, Option<u64>),
}

impl fmt::Display for BadAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHttp(why) => write!(f, "answer is not HTTP: {why}"),
            Self::HeadTooLarge => write!(f, "head of more than {} KiB", MAX_HEAD / 1024),
            Self::Upgrade => f.write_str("status 101 that was not asked for"),
            Self::BadLength => f.write_str("content-length is not one number"),
            Self::BadChunk(why) => write!(f, "chunked body is broken: {why}"),
            Self::BodyTooLarge(limit) => write!(f, "body of more than {limit} bytes, the limit of --max-body"),
            Self::ClosedInHead(0) => f.write_str("connection closed before an answer"),
            Self::ClosedInHead(came) => write!(f, "connection closed after {came} bytes of the head"),
            Self::ClosedInBody(came, Some(all)) => write!(f, "connection closed after {came} of {all} bytes"),
            Self::ClosedInBody(came, None) => write!(f, "connection closed within a chunk, after {came} bytes"),
        }
    }
}
