//! One `--allow` rule, as it is written.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

use ipnet::IpNet;

/// What a rule may be, for error messages.
const FORMS: &str =
    "a rule is tcp://HOST:PORT, udp://HOST:PORT, tcp-listen://HOST:PORT, udp-bind://HOST:PORT, loopback or all";

/// An allowed kind of use of a set of hosts and ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub(super) scheme: Scheme,
    pub(super) host: Host,
    /// Port 0 is "a port of the system's choice", for binding.
    pub(super) ports: RangeInclusive<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Tcp,
    Udp,
    TcpListen,
    UdpBind,
}

const SCHEMES: [Scheme; 4] = [Scheme::Tcp, Scheme::Udp, Scheme::TcpListen, Scheme::UdpBind];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    Any,
    Net(IpNet),
    /// In lower case, without a last dot.
    Name(String),
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::TcpListen => "tcp-listen",
            Self::UdpBind => "udp-bind",
        })
    }
}

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("`{0}` is no rule: {FORMS}")]
    Form(String),
    #[error("`{rule}` has no port: write {rule}:PORT, {rule}:FIRST-LAST, or {rule}:* for every port")]
    NoPort { rule: String },
    #[error("`{port}` in `{rule}` is no port: write a number up to 65535, FIRST-LAST, or * for every port")]
    Port { rule: String, port: String },
    #[error("`{0}` allows nothing: port 0 is for binding, as \"a port of the system's choice\"; write the peer's port")]
    PortZero(String),
    #[error("`{host}` in `{rule}` is no host: write a name, an address, a network such as 10.0.0.0/8, or * for any")]
    Host { rule: String, host: String },
    #[error("an IPv6 address in a rule stands in brackets: write {suggestion}")]
    Brackets { suggestion: String },
}

impl Rule {
    /// The rules that a text stands for: one, or several for `loopback` and `all`.
    pub fn parse(text: &str) -> Result<Vec<Self>, RuleError> {
        let every = |host: Host| SCHEMES.map(|scheme| Self { scheme, host: host.clone(), ports: 0..=u16::MAX });
        match text {
            "all" => return Ok(every(Host::Any).into()),
            "loopback" => {
                let v4 = IpNet::new_assert(Ipv4Addr::LOCALHOST.into(), 8).trunc();
                let v6 = IpNet::new_assert(Ipv6Addr::LOCALHOST.into(), 128);
                return Ok([every(Host::Net(v4)), every(Host::Net(v6))].concat());
            }
            _ => {}
        }
        let form = || RuleError::Form(text.to_owned());
        let (scheme, rest) = text.split_once("://").ok_or_else(form)?;
        let scheme = SCHEMES.into_iter().find(|known| known.to_string() == scheme).ok_or_else(form)?;

        let (host, port) = match rest.rfind(']') {
            Some(end) => (&rest[..=end], rest[end + 1..].strip_prefix(':')),
            None => match rest.rsplit_once(':') {
                // Which colon is the port's is anybody's guess; this is the likeliest.
                Some((host, port)) if host.contains(':') => {
                    let suggestion = match host.split('/').next().unwrap_or_default().parse::<Ipv6Addr>() {
                        Ok(_) => format!("{scheme}://[{host}]:{port}"),
                        Err(_) => format!("{scheme}://[{rest}]:PORT"),
                    };
                    return Err(RuleError::Brackets { suggestion });
                }
                Some((host, port)) => (host, Some(port)),
                None => (rest, None),
            },
        };
        let port = match port {
            Some(port) if !port.is_empty() => port,
            _ => return Err(RuleError::NoPort { rule: text.trim_end_matches(':').to_owned() }),
        };
        let ports =
            parse_ports(port).ok_or_else(|| RuleError::Port { rule: text.to_owned(), port: port.to_owned() })?;
        if *ports.end() == 0 && matches!(scheme, Scheme::Tcp | Scheme::Udp) {
            return Err(RuleError::PortZero(text.to_owned()));
        }
        let host = parse_host(host).ok_or_else(|| RuleError::Host { rule: text.to_owned(), host: host.to_owned() })?;
        Ok(vec![Self { scheme, host, ports }])
    }
}

fn parse_ports(text: &str) -> Option<RangeInclusive<u16>> {
    if text == "*" {
        return Some(0..=u16::MAX);
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some(first..=last)
}

fn parse_host(text: &str) -> Option<Host> {
    if text == "*" {
        return Some(Host::Any);
    }
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let digits = bare.unwrap_or(text);
    if let Ok(address) = digits.parse::<IpAddr>() {
        return (address.is_ipv6() == bare.is_some()).then(|| Host::Net(address.into()));
    }
    if let Ok(net) = digits.parse::<IpNet>() {
        return Some(Host::Net(net.trunc()));
    }
    match url::Host::parse(text).ok()? {
        url::Host::Domain(name) if bare.is_none() && !name.is_empty() && !name.contains('*') => {
            Some(Host::Name(name.trim_end_matches('.').to_owned()))
        }
        _ => None,
    }
}

/// An address as it stands in a rule.
pub(super) fn bracketed(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_read_as_it_is_meant() {
        let one = |text: &str| match Rule::parse(text).unwrap().as_slice() {
            [rule] => (rule.scheme, rule.host.clone(), rule.ports.clone()),
            rules => panic!("{text} is {} rules", rules.len()),
        };
        let net = |text: &str| Host::Net(text.parse().unwrap());
        for (text, expected) in [
            ("tcp://127.0.0.1:80", (Scheme::Tcp, net("127.0.0.1/32"), 80..=80)),
            ("udp://[::1]:53", (Scheme::Udp, net("::1/128"), 53..=53)),
            ("tcp://10.1.2.3/8:1-1024", (Scheme::Tcp, net("10.0.0.0/8"), 1..=1024)),
            ("udp://[fd00::/8]:*", (Scheme::Udp, net("fd00::/8"), 0..=65535)),
            ("tcp-listen://*:0", (Scheme::TcpListen, Host::Any, 0..=0)),
            ("udp-bind://Example.COM.:5353", (Scheme::UdpBind, Host::Name("example.com".into()), 5353..=5353)),
        ] {
            assert_eq!(one(text), expected, "{text}");
        }
        assert_eq!(Rule::parse("all").unwrap().len(), 4);
        assert_eq!(Rule::parse("loopback").unwrap().len(), 8);
    }

    #[test]
    fn what_is_no_rule_is_refused_in_words_that_help() {
        let words = |text: &str| Rule::parse(text).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                "",
                "http://example.com",
                "tcp:127.0.0.1:80",
                "tcp://example.com",
                "tcp://[::1]",
                "tcp://::1",
                "tcp://::1:80",
                "tcp://fd00::/8:80",
                "tcp://127.0.0.1:0",
                "tcp://a:",
                "tcp://a:70000",
                "tcp://a:9-1",
                "tcp://a:+1",
                "tcp://:80",
                "tcp://*.com:80",
                "tcp://10.0.0.0/40:80",
                "tcp://[127.0.0.1]:80",
                "tcp://a b:1",
            ]
            .map(|text| format!("{text:22} {}", words(text)))
            .join("\n")
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_reading_of_a_rule(text in "(tcp|udp|tcp-listen)?(://)?\\PC{0,24}(:[0-9*-]{0,8})?") {
            // Whatever it is, it is a rule or an error.
            _ = Rule::parse(&text);
        }
    }
}
