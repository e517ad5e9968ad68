//! Looking names up with the system's own resolver.
//!
//! tokio's `lookup_host` asks the same resolver, but drops the code of its failure, and a guest is to know whether
//! trying again helps.

use std::net::IpAddr;

use dns_lookup::{AddrInfoHints, LookupError, LookupErrorKind, SockType, getaddrinfo};

use crate::backend::Pending;
use crate::error::{Error, Result};

/// Looks `name` up on a blocking thread. Dropping the future leaves the thread to finish by itself.
pub fn resolve(name: &str) -> Pending<Vec<IpAddr>> {
    let name = name.to_owned();
    Box::pin(async move {
        // The task fails only if the runtime goes away beneath it, or if the lookup panics.
        tokio::task::spawn_blocking(move || lookup(&name)).await.unwrap_or(Err(Error::Unknown))
    })
}

fn lookup(name: &str) -> Result<Vec<IpAddr>> {
    if name.contains('\0') {
        return Err(Error::InvalidArgument);
    }
    // Without a type every address would come once for each type of socket.
    let hints = AddrInfoHints { socktype: SockType::Stream.into(), ..AddrInfoHints::default() };
    let found = getaddrinfo(Some(name), None, Some(hints)).map_err(|error| failure(&error))?;
    let mut addresses = Vec::new();
    for info in found {
        let address = info?.sockaddr.ip();
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() { Err(Error::NameUnresolvable) } else { Ok(addresses) }
}

/// `EAI_ADDRFAMILY` of glibc: the name is known and has no address of a wanted family.
const NO_ADDRESS_OF_FAMILY: i32 = -9;

fn failure(error: &LookupError) -> Error {
    match error.kind() {
        LookupErrorKind::NoName | LookupErrorKind::NoData => Error::NameUnresolvable,
        _ if error.error_num() == NO_ADDRESS_OF_FAMILY => Error::NameUnresolvable,
        // A system error is one of the machine's own, such as no free descriptor: trying again may help.
        LookupErrorKind::Again | LookupErrorKind::System => Error::TemporaryResolverFailure,
        LookupErrorKind::Memory => Error::OutOfMemory,
        _ => Error::PermanentResolverFailure,
    }
}
