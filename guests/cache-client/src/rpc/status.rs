//! How a call ended, in gRPC's codes and words.

use std::fmt::Write as _;

use http::HeaderMap;

/// The codes' names, each at the place of its number. They are from gRPC's list of status codes.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

const ABORTED: u32 = 10;

/// Most characters of a server's message that are kept.
const WORDS: usize = 500;

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    code: u32,
    /// As the server wrote it, decoded.
    message: String,
}

impl Status {
    /// What trailers say, or headers that are trailers at once; `None` where they do not say how the call ended.
    ///
    /// A code that is no number counts as UNKNOWN, as gRPC has it.
    pub fn read(fields: &HeaderMap) -> Option<Self> {
        let code = fields.get("grpc-status")?;
        let code = code.to_str().ok().and_then(|code| code.parse().ok()).unwrap_or(2);
        let message = fields.get("grpc-message").map(|message| decode(message.as_bytes())).unwrap_or_default();
        Some(Self { code, message })
    }

    pub fn is_ok(&self) -> bool {
        self.code == 0
    }

    /// Whether the call's session, if it is of one, is of no more use. That is what the server says with ABORTED.
    pub fn is_aborted(&self) -> bool {
        self.code == ABORTED
    }

    /// Such as `INVALID_ARGUMENT: a key has 1 to 250 bytes`.
    pub fn words(&self) -> String {
        let mut words = match usize::try_from(self.code).ok().and_then(|code| NAMES.get(code)) {
            Some(name) => (*name).to_owned(),
            None => format!("code {}", self.code),
        };
        if !self.message.is_empty() {
            let _ = write!(words, ": {}", self.message);
        }
        words
    }
}

/// A message without its percent-encoding. What is not encoded well stands for itself; what cannot be shown is replaced.
fn decode(encoded: &[u8]) -> String {
    let mut decoded = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let Some((&first, after)) = rest.split_first() {
        match (first, after) {
            (b'%', [high, low, after @ ..]) if let (Some(high), Some(low)) = (digit(*high), digit(*low)) => {
                decoded.push(high << 4 | low);
                rest = after;
            }
            _ => {
                decoded.push(first);
                rest = after;
            }
        }
    }
    let text = String::from_utf8_lossy(&decoded);
    text.chars().take(WORDS).map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn digit(hexadecimal: u8) -> Option<u8> {
    char::from(hexadecimal).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn words(code: &'static str, message: &'static [u8]) -> String {
        let mut fields = HeaderMap::new();
        fields.insert("grpc-status", HeaderValue::from_static(code));
        fields.insert("grpc-message", HeaderValue::from_bytes(message).expect("a message from a test"));
        Status::read(&fields).expect("there is a code").words()
    }

    #[test]
    fn a_code_has_its_name_and_one_that_is_none_its_number() {
        assert_eq!(words("3", b"no key"), "INVALID_ARGUMENT: no key");
        assert_eq!(words("16", b""), "UNAUTHENTICATED");
        assert_eq!(words("17", b"new"), "code 17: new");
        assert_eq!(words("4294967296", b""), "UNKNOWN");
        assert_eq!(words("ok", b""), "UNKNOWN");
        assert_eq!(Status::read(&HeaderMap::new()), None);
    }

    #[test]
    fn a_message_is_decoded_and_what_is_not_encoded_well_stands_for_itself() {
        assert_eq!(decode(b"50%25 of %22k%22"), "50% of \"k\"");
        assert_eq!(decode(b"schl%C3%BCssel"), "schlüssel");
        assert_eq!(decode(b"%"), "%");
        assert_eq!(decode(b"%4"), "%4");
        assert_eq!(decode(b"%zz%41"), "%zzA");
        assert_eq!(decode(b"a%0Ab%1B[2J"), "a\u{fffd}b\u{fffd}[2J");
        assert_eq!(decode(b"%ff"), "\u{fffd}");
        assert_eq!(decode(&[b'x'; 9000]).len(), WORDS);
    }
}
