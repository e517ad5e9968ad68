//! Arguments that differ in nothing but where on this machine a peer happened to listen.
//!
//! A peer on port 0 has another port each time it is started, and so has the guest that is told of it. Ports from 32768 on, which
//! systems give out themselves (Linux from there, others and RFC 6335 from 49152), are taken as equal behind a loopback
//! address. What is left out: that two of one run may be one in the other.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The first port that a system gives out itself.
const EPHEMERAL: u16 = 32768;

/// Whether the arguments are the same, such ports aside.
pub fn alike(some: &[String], others: &[String]) -> bool {
    some.len() == others.len() && some.iter().zip(others).all(|(one, other)| without(one) == without(other))
}

/// What stands before, between and behind such ports.
fn without(argument: &str) -> Vec<&str> {
    let (mut parts, mut from) = (Vec::new(), 0);
    for (at, _) in argument.match_indices(':') {
        let port = at + 1;
        let digits = argument[port..].bytes().take_while(u8::is_ascii_digit).count();
        let number = argument[port..port + digits].parse::<u16>();
        if number.is_ok_and(|number| number >= EPHEMERAL) && ends_in_loopback(&argument[..at]) {
            parts.push(&argument[from..port]);
            from = port + digits;
        }
    }
    parts.push(&argument[from..]);
    parts
}

/// Whether the last that stands there is this machine's name or address for itself.
fn ends_in_loopback(text: &str) -> bool {
    if let Some((_, address)) = text.strip_suffix(']').and_then(|text| text.rsplit_once('[')) {
        return address.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    }
    let host = text.rsplit(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))).next().unwrap_or_default();
    host.eq_ignore_ascii_case("localhost") || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ports_that_the_system_gave_a_peer_of_this_machine_are_taken_as_equal() {
        for (one, other, expected) in [
            ("http://127.0.0.1:41467/", "http://127.0.0.1:43143/", true),
            ("https://localhost:41467/a", "https://localhost:65535/a", true),
            ("[::1]:40000", "[::1]:40001", true),
            ("--to=127.0.0.2:32768,127.0.0.3:40000", "--to=127.0.0.2:32769,127.0.0.3:40001", true),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:41467/", false),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8081/", false),
            ("http://127.0.0.1:41467/a", "http://127.0.0.1:43143/b", false),
            ("http://127.0.0.1:41467/", "http://127.0.0.2:41467/", false),
            ("http://192.0.2.1:41467/", "http://192.0.2.1:43143/", false),
            ("http://notlocalhost:41467/", "http://notlocalhost:43143/", false),
            ("http://[2001:db8::1]:41467/", "http://[2001:db8::1]:43143/", false),
            ("127.0.0.1:99999", "127.0.0.1:99998", false),
            ("127.0.0.1:", "127.0.0.1:40000", false),
            ("40000", "40001", false),
            ("é:40000", "é:40001", false),
        ] {
            let alike = alike(&[one.to_owned()], &[other.to_owned()]);
            assert_eq!(alike, expected, "{one} and {other}");
        }
        let two = ["127.0.0.1:40000".to_owned(), "127.0.0.1:40000".to_owned()];
        assert!(!alike(&two[..1], &two));
    }
}
