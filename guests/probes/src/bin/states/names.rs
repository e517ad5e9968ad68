//! Name lookup: what needs no resolver, and what is no name.

use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::{ResolveAddressStream, resolve_addresses};
use wasip2::sockets::network::ErrorCode;

use crate::check::Checks;

pub fn walk(checks: &mut Checks) {
    for name in ["127.0.0.1", "::1"] {
        checks.is(&format!("name {name}, addresses"), Ok(1), lookup(name).map_err(|code| code.name()));
    }
    for (what, name) in [("an empty name", ""), ("a name with a blank", "a b"), ("a name with a slash", "a/b")] {
        checks.answers(what, "invalid-argument", lookup(name));
    }
}

/// How many addresses there are. The end is told as often as it is asked for.
fn lookup(name: &str) -> Result<usize, ErrorCode> {
    let answers = resolve_addresses(&instance_network(), name)?;
    let mut addresses = 0;
    while next(&answers)? {
        addresses += 1;
    }
    if next(&answers)? { Err(ErrorCode::Unknown) } else { Ok(addresses) }
}

fn next(answers: &ResolveAddressStream) -> Result<bool, ErrorCode> {
    loop {
        match answers.resolve_next_address() {
            Err(ErrorCode::WouldBlock) => answers.subscribe().block(),
            answer => return answer.map(|address| address.is_some()),
        }
    }
}
