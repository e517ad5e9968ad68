//! The URL that is asked for: as much of RFC 3986 as HTTP needs.

use std::fmt;

/// An absolute `http` or `https` URL without user and fragment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Url {
    pub tls: bool,
    /// A name or an address in digits; an IPv6 address without its brackets.
    pub host: String,
    pub port: u16,
    /// Path and query; begins with `/`.
    pub target: String,
}

impl Url {
    /// The error says what is wrong and, where that helps, what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("{text:?} {why}"));
        let (tls, rest) = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            _ => return wrong("is no URL: begin with http:// or https://"),
        };
        // What stands behind # is the client's business and is not sent.
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return wrong("has a user in it, which is not supported");
        }
        if !target.bytes().all(|byte| byte.is_ascii_graphic()) {
            return wrong("has a blank, a control or a non-ASCII character: write it as %XX");
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let Some((host, port)) = rest.split_once(']') else { return wrong("lacks the ] after the address") };
                if host.parse::<std::net::Ipv6Addr>().is_err() {
                    return wrong("has no IPv6 address between [ and ]");
                }
                if !port.is_empty() && !port.starts_with(':') {
                    return wrong("has something between the address and the port");
                }
                (host, port.strip_prefix(':'))
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        if !authority.starts_with('[') && (host.is_empty() || !host.bytes().all(is_name)) {
            return wrong("has no host name of letters, digits, dots and hyphens");
        }
        let port = match port {
            None | Some("") if tls => 443,
            None | Some("") => 80,
            Some(port) => match port.parse() {
                Ok(0) | Err(_) => return wrong("has no port from 1 to 65535"),
                Ok(port) => port,
            },
        };
        let slash = if target.starts_with('/') { "" } else { "/" };
        Ok(Self { tls, host: host.to_ascii_lowercase(), port, target: format!("{slash}{target}") })
    }

    /// Host and port as the Host header has them: the port only where it is not the scheme's own.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == if self.tls { 443 } else { 80 } { host } else { format!("{host}:{}", self.port) }
    }
}

/// The absolute URL, as a proxy is asked for it.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", if self.tls { "https" } else { "http" }, self.authority(), self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_filled_in() {
        for (text, host, port, target, authority) in [
            ("http://localhost", "localhost", 80, "/", "localhost"),
            ("HTTP://LocalHost:8080", "localhost", 8080, "/", "localhost:8080"),
            ("https://example.org/a/b?c=d#e", "example.org", 443, "/a/b?c=d", "example.org"),
            ("http://example.org?c=d", "example.org", 80, "/?c=d", "example.org"),
            ("http://127.0.0.1:1/", "127.0.0.1", 1, "/", "127.0.0.1:1"),
            ("https://[::1]/x", "::1", 443, "/x", "[::1]"),
            ("https://[2001:db8::1]:8443", "2001:db8::1", 8443, "/", "[2001:db8::1]:8443"),
            ("http://host:/", "host", 80, "/", "host"),
        ] {
            let url = Url::parse(text).expect(text);
            assert_eq!((url.host.as_str(), url.port, url.target.as_str()), (host, port, target), "{text}");
            assert_eq!(url.authority(), authority, "{text}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_asked_for_is_refused() {
        for text in [
            "",
            "localhost:8080",
            "ftp://host",
            "http://",
            "http://:80",
            "http://user@host",
            "http://host:0",
            "http://host:65536",
            "http://host:80:80",
            "http://ho st/",
            "http://host/a b",
            "http://host/a\r\nX: y",
            "http://höst/",
            "http://[::1",
            "http://[::1]8080",
            "http://[localhost]",
        ] {
            assert!(Url::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn it_is_written_out_in_full_again() {
        let url = Url::parse("http://Host:81?q").expect("a URL");
        assert_eq!(url.to_string(), "http://host:81/?q");
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_accepted_fits_on_one_line_of_a_request(text in "http://[ -~\r\n\u{80}-\u{ff}]{0,40}") {
            if let Ok(url) = Url::parse(&text) {
                let line = url.to_string();
                proptest::prop_assert!(line.bytes().all(|byte| byte.is_ascii_graphic()), "{line:?}");
                proptest::prop_assert_eq!(Url::parse(&line), Ok(url));
            }
        }
    }
}
