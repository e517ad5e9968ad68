//! The head of an answer: its status, and how long its body is (RFC 9112, section 6.3).

use httparse::{EMPTY_HEADER, Header, Status};

use super::BadAnswer;

/// Header lines of one head.
const MAX_LINES: usize = 128;

/// What a head says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    pub framing: Framing,
    /// Whether the server will take another request on this connection.
    pub keeps_alive: bool,
}

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// There is none.
    Empty,
    /// Bytes.
    Length(u64),
    Chunked,
    /// By the end of the connection.
    UntilClose,
}

impl Head {
    /// The head at the start of `bytes` and its size; `None` while it is not all there.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, BadAnswer> {
        let mut lines = [EMPTY_HEADER; MAX_LINES];
        let mut parsed = httparse::Response::new(&mut lines);
        let size = match parsed.parse(bytes) {
            Ok(Status::Complete(size)) => size,
            Ok(Status::Partial) => return Ok(None),
            Err(error) => return Err(BadAnswer::NotHttp(error.to_string())),
        };
        // A complete head has both.
        let (Some(status), Some(version)) = (parsed.code, parsed.version) else { return Ok(None) };
        let framing = framing(status, parsed.headers)?;
        let says = |word| has_word(parsed.headers, "connection", word);
        let keeps_alive = framing != Framing::UntilClose && !says("close") && (version >= 1 || says("keep-alive"));
        Ok(Some((Self { status, framing, keeps_alive }, size)))
    }
}

fn framing(status: u16, headers: &[Header<'_>]) -> Result<Framing, BadAnswer> {
    if matches!(status, 100..=199 | 204 | 304) {
        return Ok(Framing::Empty);
    }
    // A coding overrides a length, and one that is not chunked at the end ends with the connection.
    if let Some(coding) = words(headers, "transfer-encoding").last() {
        return Ok(if coding.eq_ignore_ascii_case("chunked") { Framing::Chunked } else { Framing::UntilClose });
    }
    let mut length = None;
    for word in words(headers, "content-length") {
        // Digits alone: Rust would also take a sign.
        let number = word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten();
        let number: u64 = number.ok_or(BadAnswer::BadLength)?;
        if *length.get_or_insert(number) != number {
            return Err(BadAnswer::BadLength);
        }
    }
    Ok(length.map_or(Framing::UntilClose, Framing::Length))
}

/// The elements of a header that is a list, over all its lines.
fn words<'a>(headers: &'a [Header<'_>], name: &'a str) -> impl Iterator<Item = &'a str> {
    headers
        .iter()
        .filter(move |header| header.name.eq_ignore_ascii_case(name))
        // A value that is not text is an element that matches nothing.
        .flat_map(|header| str::from_utf8(header.value).unwrap_or("?").split(','))
        .map(str::trim)
}

fn has_word(headers: &[Header<'_>], name: &str, word: &str) -> bool {
    words(headers, name).any(|element| element.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Head, BadAnswer> {
        Head::parse(text.as_bytes()).map(|head| head.expect("a whole head").0)
    }

    #[test]
    fn the_body_ends_as_the_standard_says() {
        for (text, framing) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Framing::Length(5)),
            ("HTTP/1.1 200 OK\r\ncontent-length: 5, 5\r\nContent-Length: 5\r\n\r\n", Framing::Length(5)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\nContent-Length: 5\r\n\r\n", Framing::Chunked),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\n", Framing::UntilClose),
            ("HTTP/1.0 200 OK\r\n\r\n", Framing::UntilClose),
            ("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", Framing::Empty),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", Framing::Empty),
            ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", Framing::Length(0)),
        ] {
            assert_eq!(head(text).map(|head| head.framing), Ok(framing), "{text}");
        }
    }

    #[test]
    fn a_length_that_is_not_one_number_is_refused() {
        for value in ["", "x", "-1", "+5", "5, 6", "5 5", "99999999999999999999", "0x5"] {
            let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {value}\r\n\r\n");
            assert_eq!(head(&text), Err(BadAnswer::BadLength), "{value}");
        }
    }

    #[test]
    fn a_connection_is_kept_only_where_both_versions_rules_allow_it() {
        for (text, keeps_alive) in [
            ("HTTP/1.1 204 x\r\n\r\n", true),
            ("HTTP/1.1 204 x\r\nConnection: Close\r\n\r\n", false),
            ("HTTP/1.1 204 x\r\nConnection: foo, close\r\n\r\n", false),
            ("HTTP/1.0 204 x\r\n\r\n", false),
            ("HTTP/1.0 204 x\r\nConnection: Keep-Alive\r\n\r\n", true),
            ("HTTP/1.1 200 x\r\n\r\n", false),
        ] {
            assert_eq!(head(text).map(|head| head.keeps_alive), Ok(keeps_alive), "{text}");
        }
    }

    #[test]
    fn what_is_not_http_is_refused_in_words() {
        let error = head("SSH-2.0-OpenSSH_9.2\r\n\r\n").expect_err("no HTTP");
        assert_eq!(error.to_string(), "answer is not HTTP: invalid HTTP version");
    }
}
