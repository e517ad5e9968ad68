//! What went wrong, as a [`std::io::Error`] that says what was asked and the standard's word for the answer.

use std::fmt;
use std::io::{self, ErrorKind};
use std::time::Duration;

use wasip2::io::streams::StreamError;
use wasip2::sockets::network::ErrorCode;

/// What is inside every [`io::Error`] that this crate makes of a socket's answer.
#[derive(Debug)]
struct Failure {
    /// The call with its argument: `connect to 127.0.0.1:9`.
    asked: String,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    Code(ErrorCode),
    /// The guest's own limit for this call passed.
    TimedOut(Duration),
    /// The stream had ended before.
    Closed,
    /// A stream's failure that is none of the codes, in the host's words.
    Words(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.asked, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => f.write_str(code.name()),
            Self::TimedOut(limit) => write!(f, "timed out after {limit:?}"),
            Self::Closed => f.write_str("connection closed"),
            Self::Words(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for Failure {}

/// The standard's error code in an error of this crate; `None` for a time-out of the guest's own, a stream that had
/// ended, and errors from elsewhere.
pub fn error_code(error: &io::Error) -> Option<ErrorCode> {
    match failure(error)?.reason {
        Reason::Code(code) => Some(code),
        _ => None,
    }
}

/// Why, without what was asked: `connection-refused`, `timed out after 30s`. For an error from elsewhere, all of it.
pub fn reason(error: &io::Error) -> String {
    failure(error).map_or_else(|| error.to_string(), |failure| failure.reason.to_string())
}

fn failure(error: &io::Error) -> Option<&Failure> {
    error.get_ref()?.downcast_ref()
}

/// The error of a call that was answered with a code.
pub(crate) fn refused(code: ErrorCode, asked: impl FnOnce() -> String) -> io::Error {
    io::Error::new(kind(code), Failure { asked: asked(), reason: Reason::Code(code) })
}

/// The answer of a call that is told by a few fixed words.
pub(crate) fn asked<T>(what: &str, answer: Result<T, ErrorCode>) -> io::Result<T> {
    answer.map_err(|code| refused(code, || what.to_owned()))
}

/// The error of a wait that passed the guest's own limit.
pub(crate) fn timed_out(limit: Duration, asked: impl FnOnce() -> String) -> io::Error {
    io::Error::new(ErrorKind::TimedOut, Failure { asked: asked(), reason: Reason::TimedOut(limit) })
}

/// The error of a write to a stream; for a read, the end is no error and is handled before.
pub(crate) fn broken(error: StreamError, asked: impl FnOnce() -> String) -> io::Error {
    match error {
        StreamError::Closed => {
            io::Error::new(ErrorKind::BrokenPipe, Failure { asked: asked(), reason: Reason::Closed })
        }
        StreamError::LastOperationFailed(error) => {
            let words = error.to_debug_string();
            match code_in(&words) {
                Some(code) => refused(code, asked),
                None => io::Error::other(Failure { asked: asked(), reason: Reason::Words(words) }),
            }
        }
    }
}

/// The standard has no stable way from a stream's error to its code (`network-error-code` is unstable), only text that
/// is the host's own. The codes that a connection can end with are found in it by their names, however written.
fn code_in(words: &str) -> Option<ErrorCode> {
    let letters: String =
        words.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect();
    let known = [
        ("connectionreset", ErrorCode::ConnectionReset),
        ("connectionaborted", ErrorCode::ConnectionAborted),
        ("connectionrefused", ErrorCode::ConnectionRefused),
        ("remoteunreachable", ErrorCode::RemoteUnreachable),
        ("accessdenied", ErrorCode::AccessDenied),
        ("invalidstate", ErrorCode::InvalidState),
        ("outofmemory", ErrorCode::OutOfMemory),
        ("timedout", ErrorCode::Timeout),
        ("timeout", ErrorCode::Timeout),
    ];
    known.into_iter().find(|(name, _)| letters.contains(name)).map(|(_, code)| code)
}

fn kind(code: ErrorCode) -> ErrorKind {
    match code {
        ErrorCode::AccessDenied => ErrorKind::PermissionDenied,
        ErrorCode::NotSupported => ErrorKind::Unsupported,
        ErrorCode::InvalidArgument | ErrorCode::DatagramTooLarge => ErrorKind::InvalidInput,
        ErrorCode::OutOfMemory => ErrorKind::OutOfMemory,
        ErrorCode::Timeout => ErrorKind::TimedOut,
        ErrorCode::WouldBlock => ErrorKind::WouldBlock,
        ErrorCode::NewSocketLimit => ErrorKind::QuotaExceeded,
        ErrorCode::AddressNotBindable => ErrorKind::AddrNotAvailable,
        ErrorCode::AddressInUse => ErrorKind::AddrInUse,
        ErrorCode::RemoteUnreachable => ErrorKind::HostUnreachable,
        ErrorCode::ConnectionRefused => ErrorKind::ConnectionRefused,
        ErrorCode::ConnectionReset => ErrorKind::ConnectionReset,
        ErrorCode::ConnectionAborted => ErrorKind::ConnectionAborted,
        ErrorCode::NameUnresolvable => ErrorKind::NotFound,
        ErrorCode::Unknown
        | ErrorCode::ConcurrencyConflict
        | ErrorCode::NotInProgress
        | ErrorCode::InvalidState
        | ErrorCode::TemporaryResolverFailure
        | ErrorCode::PermanentResolverFailure => ErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_was_asked_and_the_standards_name_for_the_answer() {
        let error = refused(ErrorCode::ConnectionRefused, || "connect to 127.0.0.1:9".to_owned());
        assert_eq!(error.to_string(), "connect to 127.0.0.1:9: connection-refused");
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert_eq!(reason(&error), "connection-refused");
        assert_eq!(error_code(&error), Some(ErrorCode::ConnectionRefused));
    }

    #[test]
    fn a_time_limit_is_told_apart_from_the_networks_own_timeout() {
        let own = timed_out(Duration::from_millis(1500), || "receive".to_owned());
        assert_eq!((own.kind(), error_code(&own)), (ErrorKind::TimedOut, None));
        assert_eq!(reason(&own), "timed out after 1.5s");
        let network = refused(ErrorCode::Timeout, || "connect".to_owned());
        assert_eq!((network.kind(), error_code(&network)), (ErrorKind::TimedOut, Some(ErrorCode::Timeout)));
    }

    #[test]
    fn errors_from_elsewhere_keep_their_words_and_have_no_code() {
        let error = io::Error::other("certificate expired");
        assert_eq!(reason(&error), "certificate expired");
        assert_eq!(error_code(&error), None);
    }

    #[test]
    fn a_code_is_found_in_a_hosts_text_however_it_is_written() {
        for words in ["connection reset", "ErrorCode::ConnectionReset", "Connection reset by peer (os error 104)"] {
            assert_eq!(code_in(words), Some(ErrorCode::ConnectionReset), "{words}");
        }
        assert_eq!(code_in("timed out"), Some(ErrorCode::Timeout));
        assert_eq!(code_in("the board is on fire"), None);
    }
}
