//! Looking names up.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use wasip2::sockets::ip_name_lookup::resolve_addresses;
use wasip2::sockets::network::ErrorCode;

use crate::address::{ip_from_wasi, with_network};
use crate::error::{refused, timed_out};
use crate::poll::Deadline;

/// The addresses of a host name, in the resolver's order; at least one.
///
/// An address in digits, with or without the brackets of a URL, is its own answer and asks nobody. `timeout` is for the
/// whole lookup; `None` waits as long as the resolver does.
///
/// # Errors
/// `name-unresolvable` when there is no such name, `temporary-` or `permanent-resolver-failure`, `invalid-argument`
/// when it is no host name, `access-denied` when the policy has no rule for it, or the time-out.
pub fn resolve(name: &str, timeout: Option<Duration>) -> io::Result<Vec<IpAddr>> {
    let digits = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    if let Ok(address) = digits.parse() {
        return Ok(vec![address]);
    }
    let asked = || format!("resolve {name}");
    let answers = with_network(|network| resolve_addresses(network, name)).map_err(|code| refused(code, asked))?;
    // Declared after the lookup, so that it is dropped before it.
    let pollable = answers.subscribe();
    let deadline = Deadline::after(timeout);
    let mut addresses = Vec::new();
    loop {
        match answers.resolve_next_address() {
            Ok(Some(address)) => addresses.push(ip_from_wasi(address)),
            Ok(None) if addresses.is_empty() => return Err(refused(ErrorCode::NameUnresolvable, asked)),
            Ok(None) => return Ok(addresses),
            Err(ErrorCode::WouldBlock) => {
                if !deadline.block(&pollable) {
                    return Err(timed_out(timeout.unwrap_or_default(), asked));
                }
            }
            Err(code) => return Err(refused(code, asked)),
        }
    }
}
