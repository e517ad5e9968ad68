//! A client's side of a connection: requests become bytes, and bytes become answers.
//!
//! - [`Conversation`] is the one trait; [`Text`], [`Meta`] and [`Binary`] are memcached's three protocols.
//! - [`Ketama`] says which of several servers holds a key.
//!
//! What a server says is checked against what it was asked: an answer for another key, of another length or in another
//! order is [`Broken`], never a value.
//!
//! Left out: sockets and time, which whoever holds the connection has; several keys in one request; cas.

mod binary;
mod dialogue;
mod ketama;
mod meta;
mod queue;
#[cfg(test)]
mod tests;
mod text;
mod words;

use std::borrow::Cow;

pub use binary::Binary;
pub use dialogue::Dialogue;
pub use ketama::{Circle, Ketama};
pub use meta::Meta;
pub use text::Text;

/// What a server is asked for. A key is one that [`crate::key::is_valid`] says is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    Get {
        key: &'a [u8],
    },
    /// `expiry` is as memcached reads it: 0 never, up to 30 days in seconds from now, beyond that a time since 1970,
    /// negative at once.
    Set {
        key: &'a [u8],
        value: &'a [u8],
        flags: u32,
        expiry: i32,
    },
    Delete {
        key: &'a [u8],
    },
    /// Adds to a number that is kept in decimal digits.
    Increment {
        key: &'a [u8],
        by: u64,
    },
}

/// What it answered, lent by the [`Conversation`] until it is asked for the next. A request that was understood and
/// refused is an answer too; one that breaks the protocol is a [`Broken`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<'a> {
    /// The value of a key, for a get.
    Value { flags: u32, value: &'a [u8] },
    /// There is no such key.
    Miss,
    /// Done: a set is stored, a delete deleted.
    Done,
    /// What the number is now.
    Number(u64),
    /// The server's own words for why not, such as `SERVER_ERROR out of memory storing object`.
    Refused(Cow<'a, str>),
}

/// The server said what this protocol does not allow, or answered another request than the one that was asked. Nothing
/// more can be understood of this connection: every request still without an answer has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(pub String);

/// One connection's conversation, without the connection: whoever has that moves the bytes.
///
/// Requests are answered in the order in which they were asked. A conversation never waits: what it cannot do yet, it does
/// when more bytes come. It keeps its buffers, so that a request in a long conversation allocates nothing.
pub trait Conversation {
    /// Puts a request behind those asked before. Its bytes are then in [`Self::outgoing`], at once or after more bytes
    /// have come (a handshake, flow control).
    fn ask(&mut self, request: Request<'_>);

    /// The bytes that are to be sent, in order. Whoever sends some of them removes those from the front.
    fn outgoing(&mut self) -> &mut Vec<u8>;

    /// Takes bytes that were received. What they mean is told by [`Self::answer`].
    fn received(&mut self, bytes: &[u8]);

    /// The next answer; `None` while it is not complete.
    ///
    /// # Errors
    /// [`Broken`], after the answers that were complete before; from then on always the same.
    fn answer(&mut self) -> Result<Option<Answer<'_>>, Broken>;

    /// How many requests have been asked and not yet been answered through [`Self::answer`].
    fn unanswered(&self) -> usize;

    /// Goes on with a new connection in place of one that was lost: what is not answered is asked again there. False, and
    /// nothing is done, for a conversation that is over with its connection: its requests without an answer have failed.
    fn begin_again(&mut self) -> bool {
        false
    }

    /// Nothing more will be asked, and all is answered. What the server should know of that is then in [`Self::outgoing`],
    /// and need not be sent: it only spares the server what it would keep for a while.
    fn end(&mut self) {}

    /// Whether the server is still to say that it has heard of the end. One that is cut off before may not have.
    fn is_ending(&self) -> bool {
        false
    }
}
