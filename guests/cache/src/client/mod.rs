//! A client's side of a connection: requests become bytes, and bytes become answers.

/// What a server is asked for.
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

/// What it answered. A request that was understood and refused is an answer too; one that breaks the protocol is a
/// [`Broken`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The value of a key, for a get.
    Value { flags: u32, value: Vec<u8> },
    /// There is no such key.
    Miss,
    /// Done: a set is stored, a delete deleted.
    Done,
    /// What the number is now.
    Number(u64),
    /// The server's own words for why not, such as `SERVER_ERROR out of memory storing object`.
    Refused(String),
}

/// The server said what this protocol does not allow, or answered another request than the one that was asked. Nothing
/// more can be understood of this connection: every request still without an answer has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(pub String);

/// One connection's conversation, without the connection: whoever has that moves the bytes.
///
/// Requests are answered in the order in which they were asked. A conversation never waits: what it cannot do yet, it does
/// when more bytes come.
pub trait Conversation {
    /// Puts a request behind those asked before. Its bytes are then in [`Self::outgoing`], at once or after more bytes
    /// have come (a handshake, flow control).
    fn ask(&mut self, request: Request<'_>);

    /// The bytes that are to be sent, in order. Whoever sends some of them removes those from the front.
    fn outgoing(&mut self) -> &mut Vec<u8>;

    /// Takes bytes that were received.
    ///
    /// # Errors
    /// [`Broken`], after which only the answers that were complete before can still be taken.
    fn received(&mut self, bytes: &[u8]) -> Result<(), Broken>;

    /// The next answer, if it is complete.
    fn answer(&mut self) -> Option<Answer>;

    /// How many requests have been asked and not yet been answered through [`Self::answer`].
    fn unanswered(&self) -> usize;
}
