//! Requests as messages of the service, and its messages as answers.

use bytes::Bytes;
use cache::client::{Answer, Request};
use cache_rpc::{
    BeginRequest, BeginResponse, DeleteRequest, DeleteResponse, EndRequest, EndResponse, GetRequest, GetResponse,
    IncrementRequest, IncrementResponse, SetRequest, SetResponse,
};

use super::frame::{self, Unwrapping};

/// Which of the service's methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Begin,
    End,
    Get,
    Set,
    Delete,
    Increment,
}

impl Method {
    pub const ALL: [Self; 6] = [Self::Begin, Self::End, Self::Get, Self::Set, Self::Delete, Self::Increment];

    pub fn path(self) -> &'static str {
        match self {
            Self::Begin => cache_rpc::path::BEGIN,
            Self::End => cache_rpc::path::END,
            Self::Get => cache_rpc::path::GET,
            Self::Set => cache_rpc::path::SET,
            Self::Delete => cache_rpc::path::DELETE,
            Self::Increment => cache_rpc::path::INCREMENT,
        }
    }

    /// Whether it changes what is in the cache.
    pub fn writes(self) -> bool {
        matches!(self, Self::Set | Self::Delete | Self::Increment)
    }
}

/// A request, as it is sent.
pub struct Encoded {
    pub method: Method,
    pub key: Bytes,
    /// In its frame.
    pub message: Bytes,
}

impl Encoded {
    /// What begins a reliable session.
    pub fn begin(session: u128) -> Self {
        let message = frame::wrap(&BeginRequest { session: Bytes::copy_from_slice(&session.to_be_bytes()) });
        Self { method: Method::Begin, key: Bytes::new(), message }
    }

    /// What ends it.
    pub fn end(session: u128) -> Self {
        let message = frame::wrap(&EndRequest { session: Bytes::copy_from_slice(&session.to_be_bytes()) });
        Self { method: Method::End, key: Bytes::new(), message }
    }

    pub fn new(request: Request<'_>) -> Self {
        match request {
            Request::Get { key } => {
                let key = Bytes::copy_from_slice(key);
                let message = frame::wrap(&GetRequest { key: key.clone() });
                Self { method: Method::Get, key, message }
            }
            Request::Set { key, value, flags, expiry } => {
                let key = Bytes::copy_from_slice(key);
                let value = Bytes::copy_from_slice(value);
                let message = frame::wrap(&SetRequest { key: key.clone(), value, flags, expiry: expiry.into() });
                Self { method: Method::Set, key, message }
            }
            Request::Delete { key } => {
                let key = Bytes::copy_from_slice(key);
                let message = frame::wrap(&DeleteRequest { key: key.clone() });
                Self { method: Method::Delete, key, message }
            }
            Request::Increment { key, by } => {
                let key = Bytes::copy_from_slice(key);
                let message = frame::wrap(&IncrementRequest { key: key.clone(), by });
                Self { method: Method::Increment, key, message }
            }
        }
    }
}

/// What a call came to. It is an answer that owns what it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Value { flags: u32, value: Bytes },
    Miss,
    Done,
    Number(u64),
    Refused(String),
}

impl Outcome {
    /// What the answer to a call of `method` that ended well says.
    ///
    /// # Errors
    /// Words for an answer that is none.
    pub fn read(method: Method, answer: Unwrapping) -> Result<Self, String> {
        let outcome = match method {
            Method::Begin => answer.finish::<BeginResponse>()?.map(|BeginResponse {}| Self::Done),
            Method::End => answer.finish::<EndResponse>()?.map(|EndResponse {}| Self::Done),
            Method::Get => answer.finish::<GetResponse>()?.map(|answer| match answer.item {
                Some(item) => Self::Value { flags: item.flags, value: item.value },
                None => Self::Miss,
            }),
            Method::Set => answer.finish::<SetResponse>()?.map(|SetResponse {}| Self::Done),
            Method::Delete => {
                answer.finish::<DeleteResponse>()?.map(|answer| if answer.found { Self::Done } else { Self::Miss })
            }
            Method::Increment => answer.finish::<IncrementResponse>()?.map(|answer| match answer.value {
                Some(value) => Self::Number(value),
                None => Self::Miss,
            }),
        };
        outcome.ok_or_else(|| "a call that ended well without an answer".to_owned())
    }

    pub fn lend(&self) -> Answer<'_> {
        match self {
            Self::Value { flags, value } => Answer::Value { flags: *flags, value },
            Self::Miss => Answer::Miss,
            Self::Done => Answer::Done,
            Self::Number(number) => Answer::Number(*number),
            Self::Refused(words) => Answer::Refused(words.into()),
        }
    }
}
