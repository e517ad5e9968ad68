//! Which traffic a rule is for.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use ipnet::IpNet;
use toml::{Spanned, Value};
use wrun_net::shape::profile::{Match, Network, Operation, Protocol};

use super::notes::{Notes, shown};
use super::reach;
use crate::profile::given::Given;
use crate::profile::written;

pub const OPERATIONS: [(&str, Operation); 4] = [
    ("connect", Operation::Connect),
    ("send", Operation::Send),
    ("receive", Operation::Receive),
    ("resolve", Operation::Resolve),
];

/// Addresses and networks in a list.
pub const NETWORKS: usize = 1000;

pub const PROTOCOLS: [(&str, Protocol); 2] = [("tcp", Protocol::Tcp), ("udp", Protocol::Udp)];

pub fn matching(notes: &mut Notes<'_>, written: &Spanned<written::Match>) -> Match {
    let written::Match { protocol, address, port, operation } = written.get_ref();
    let matches = Match {
        protocol: protocol.as_ref().and_then(|given| notes.word(given, "protocol", &PROTOCOLS)),
        addresses: address.iter().flat_map(|given| addresses(notes, given)).collect(),
        port: port.as_ref().and_then(|given| self::port(notes, given)),
        operations: operation.iter().flat_map(|given| operations(notes, given)).collect(),
    };
    if let [Operation::Resolve] = matches.operations[..] {
        for other in [protocol, address, port].into_iter().flatten() {
            let help = "a name lookup has no protocol, no address and no port: leave them out";
            notes.note(other.span(), "a rule that nothing matches", help);
        }
    } else if let (Some(operation), true) = (operation, reach::operations(&matches).is_empty()) {
        let help = "nothing connects over UDP, and a name lookup has no protocol, no address and no port";
        notes.note(operation.span(), "a rule that nothing matches", help);
    }
    matches
}

/// One value or a list of them.
fn several(given: &Given) -> &[Value] {
    match given.get_ref() {
        Value::Array(list) => list,
        one => std::slice::from_ref(one),
    }
}

fn operations(notes: &mut Notes<'_>, given: &Given) -> Vec<Operation> {
    let written = bounded(notes, given, OPERATIONS.len(), "operations");
    written.iter().filter_map(|value| notes.word_of(value, given.span(), "operation", &OPERATIONS)).collect()
}

fn addresses(notes: &mut Notes<'_>, given: &Given) -> Vec<Network> {
    let written = bounded(notes, given, NETWORKS, "addresses");
    written.iter().filter_map(|value| network(notes, value, given.span())).collect()
}

/// One or several, and not too many.
fn bounded<'a>(notes: &mut Notes<'_>, given: &'a Given, most: usize, what: &str) -> &'a [Value] {
    let written = several(given);
    if !(1..=most).contains(&written.len()) {
        let help = format!("write 1 to {most}, or for any leave it out");
        notes.note(given.span(), format!("a list of {} {what}", written.len()), help);
    }
    &written[..written.len().min(most)]
}

/// An address, or those with a common prefix.
pub fn network(notes: &mut Notes<'_>, value: &Value, span: std::ops::Range<usize>) -> Option<Network> {
    let text = value.as_str().unwrap_or_default();
    let single = text.parse::<IpAddr>().map(IpNet::from);
    match single.or_else(|_| text.parse::<IpNet>()) {
        Ok(net) => Some(Network { address: net.network(), prefix: net.prefix_len() }),
        Err(_) => {
            let help = "write an address or a network, such as \"192.0.2.7\", \"10.0.0.0/8\" or \"fd00::/8\"; names are not matched";
            notes.note(span, format!("{} is no address", shown(value)), help);
            None
        }
    }
}

fn port(notes: &mut Notes<'_>, given: &Given) -> Option<RangeInclusive<u16>> {
    let ports = match given.get_ref() {
        Value::Integer(port) => u16::try_from(*port).ok().map(|port| port..=port),
        Value::String(text) => {
            text.split_once('-').and_then(|(first, last)| Some(first.trim().parse().ok()?..=last.trim().parse().ok()?))
        }
        _ => None,
    };
    let ports = ports.filter(|ports| *ports.start() > 0 && ports.start() <= ports.end());
    if ports.is_none() {
        let help = "write a number from 1 to 65535, or a range of them in quotes: \"8000-8099\"";
        notes.note(given.span(), format!("{} is no port", shown(given.get_ref())), help);
    }
    ports
}
