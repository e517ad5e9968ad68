//! Reliable sessions: calls that are executed once, whatever happens to their connections.
//!
//! When a connection is lost, gRPC alone cannot say of a call without an answer whether it was executed. A session, which
//! outlives connections, makes that no matter:
//!
//! 1. The client picks a random number for the session, and numbers its calls 1, 2, 3 and so on. Each call carries three fields
//!    of metadata: the session, its own number, and the number up to which the client has every answer ([`Numbered`]).
//! 2. The server keeps each answer until it is acknowledged. A call that comes again is not executed again: it gets the
//!    answer that was kept. One that was acknowledged is refused, wherever it may have been on its way until then.
//! 3. On a new connection the client asks again for every answer that it lacks, with the same numbers ([`Outbox`]).
//! 4. A call's number is at most [`WINDOW`] above what is acknowledged, so that what a session keeps is bounded.
//! 5. A session is begun by a message that does nothing else, and the client makes no call before that is answered. A
//!    call of a session that the server does not know is refused, whatever it says: the session may have been forgotten,
//!    and the call's first execution with it. A session is forgotten when its client ends it, or after [`Limits::idle`]
//!    without a call; where there is no room for another, it is the new one that is refused.
//! 6. The message that begins a session is sent once. When its connection is lost before its answer, the client begins
//!    another session, under another number, in which it has made no call. So a number never comes to life again, and
//!    neither a call that is made again after any time nor one that was long on its way is executed a second time.
//! 7. A call for whose answer there is no room is refused and never executed, also when it comes again, and the session
//!    goes on: the refusal is that call's answer, and is acknowledged like one.
//!
//! What a session does not give is order: calls that are under way together may be executed in any order, as in gRPC. And it
//! does not outlive the server, as what is in the cache does not either.
//!
//! Nothing here has a clock or a socket: whoever uses it brings the time and moves the messages.

mod outbox;
mod sessions;

use std::fmt;
use std::time::Duration;

pub use outbox::Outbox;
pub use sessions::{Limits, Refusal, Sessions};

/// How far above what is acknowledged a call's number may be.
pub const WINDOW: u64 = 256;

/// How long a server keeps a session in which it hears no call: a client that was cut off tries again within seconds. An
/// operation that may take as long could outlive its session.
pub const IDLE: Duration = Duration::from_secs(120);

/// The names of the fields, as they are on the wire.
const SESSION: &str = "cache-session";
const CALL: &str = "cache-call";
const ACKNOWLEDGED: &str = "cache-acknowledged";

/// The number of a session, as a message that begins or ends it has it; nothing for bytes that are none.
pub fn session(bytes: &[u8]) -> Option<u128> {
    Some(u128::from_be_bytes(bytes.try_into().ok()?))
}

/// A call's place in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered {
    pub session: u128,
    /// From 1, and above `acknowledged`.
    pub call: u64,
    /// The client has the answers to this call and to all before it; 0 for none.
    pub acknowledged: u64,
}

impl Numbered {
    /// As fields of metadata, each a name and a value in ASCII.
    pub fn fields(&self) -> [(&'static str, String); 3] {
        [
            (SESSION, format!("{:032x}", self.session)),
            (CALL, self.call.to_string()),
            (ACKNOWLEDGED, self.acknowledged.to_string()),
        ]
    }

    /// Whether the field of that name is the same in all calls of a session.
    pub fn is_constant(field: &str) -> bool {
        field == SESSION
    }

    /// What a call's fields say, found by their names; nothing for a call outside of sessions, which has none of them.
    ///
    /// # Errors
    /// A field that is missing, is no number, or makes no sense beside the others.
    pub fn read<'a>(field: impl Fn(&str) -> Option<&'a [u8]>) -> Result<Option<Self>, Malformed> {
        if [SESSION, CALL, ACKNOWLEDGED].into_iter().all(|name| field(name).is_none()) {
            return Ok(None);
        }
        let text = |name| field(name).and_then(|value| str::from_utf8(value).ok()).ok_or(Malformed(name));
        let session = text(SESSION)?;
        // `from_str_radix` takes a sign and any length, and a session must be written in one way only.
        if session.len() != 32 || !session.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(Malformed(SESSION));
        }
        let session = u128::from_str_radix(session, 16).map_err(|_| Malformed(SESSION))?;
        let call = text(CALL)?.parse().map_err(|_| Malformed(CALL))?;
        let acknowledged = text(ACKNOWLEDGED)?.parse().map_err(|_| Malformed(ACKNOWLEDGED))?;
        if acknowledged >= call {
            return Err(Malformed(ACKNOWLEDGED));
        }
        Ok(Some(Self { session, call, acknowledged }))
    }
}

/// The field of that name is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(&'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name) = self;
        write!(
            f,
            "{name} is missing or malformed: a call of a session has {SESSION} in 32 lower-case hexadecimal digits, {CALL} \
             from 1, and {ACKNOWLEDGED} below that"
        )
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &[(&str, &str)]) -> Result<Option<Numbered>, Malformed> {
        Numbered::read(|name| fields.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_bytes()))
    }

    #[test]
    fn what_is_written_is_read_again() {
        for session in [0, 1, u128::MAX, 0x0123_4567_89ab_cdef] {
            for (call, acknowledged) in [(1, 0), (u64::MAX, u64::MAX - 1), (300, 45)] {
                let numbered = Numbered { session, call, acknowledged };
                let fields = numbered.fields();
                let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
                assert_eq!(read(&fields), Ok(Some(numbered)));
            }
        }
    }

    #[test]
    fn a_call_without_any_field_is_outside_of_sessions() {
        assert_eq!(read(&[("te", "trailers")]), Ok(None));
    }

    #[test]
    fn a_field_that_is_missing_or_wrong_is_named() {
        const ID: &str = "000102030405060708090a0b0c0d0e0f";
        let cases: [(&str, &str, &str, &str); 9] = [
            ("", "1", "0", SESSION),
            ("0", "1", "0", SESSION),
            ("+00102030405060708090a0b0c0d0e0f", "1", "0", SESSION),
            ("000102030405060708090A0B0C0D0E0F", "1", "0", SESSION),
            (ID, "", "0", CALL),
            (ID, "18446744073709551616", "0", CALL),
            (ID, "1", "-1", ACKNOWLEDGED),
            (ID, "1", "1", ACKNOWLEDGED),
            (ID, "0", "0", ACKNOWLEDGED),
        ];
        for (session, call, acknowledged, wrong) in cases {
            let fields = [(SESSION, session), (CALL, call), (ACKNOWLEDGED, acknowledged)];
            assert_eq!(read(&fields), Err(Malformed(wrong)), "{fields:?}");
        }
        assert_eq!(read(&[(SESSION, ID), (CALL, "1")]), Err(Malformed(ACKNOWLEDGED)));
        assert_eq!(read(&[(ACKNOWLEDGED, "0")]), Err(Malformed(SESSION)));
    }
}
