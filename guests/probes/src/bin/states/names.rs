//! Name lookup: what needs no resolver, and what is no name.

use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::{ResolveAddressStream, resolve_addresses};
use wasip2::sockets::network::ErrorCode;

use crate::check::Checks;

pub fn walk(checks: &mut Checks) {
    for name in ["127.0.0.1", "::1"] {
        checks.answers(&format!("name {name}, which is an address"), "ok", lookup(name));
    }
    for (what, name) in [("an empty name", ""), ("a name with a blank", "a b"), ("a name with a slash", "a/b")] {
        checks.answers(what, "invalid-argument", lookup(name));
    }
}

/// Reads the answers to their end, which is told as often as it is asked for.
fn lookup(name: &str) -> Result<(), ErrorCode> {
    let answers = resolve_addresses(&instance_network(), name)?;
    while next(&answers)? {}
    if next(&answers)? { Err(ErrorCode::Unknown) } else { Ok(()) }
}

fn next(answers: &ResolveAddressStream) -> Result<bool, ErrorCode> {
    loop {
        match answers.resolve_next_address() {
            Err(ErrorCode::WouldBlock) => answers.subscribe().block(),
            answer => return answer.map(|address| address.is_some()),
        }
    }
}
