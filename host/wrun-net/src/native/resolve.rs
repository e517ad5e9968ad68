//! Looking names up with the system's own resolver.
//!
//! tokio's `lookup_host` asks the same resolver, but drops the code of its failure, and a guest is to know whether
//! trying again helps.

use std::net::IpAddr;
use std::sync::Arc;

use dns_lookup::{AddrInfoHints, LookupError, LookupErrorKind, SockType, getaddrinfo};
use tokio::sync::Semaphore;

use crate::backend::Pending;
use crate::error::{Error, Result};

/// Threads that lookups may hold at once. One that nobody waits for any more holds its thread to its own end, which may
/// be a minute off.
const THREADS: usize = 64;

/// The threads there are for lookups. Clones share them.
#[derive(Debug, Clone)]
pub struct Resolver(Arc<Semaphore>);

impl Resolver {
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(THREADS)))
    }

    /// Looks `name` up on a blocking thread, when one is free.
    pub fn resolve(&self, name: &str) -> Pending<Vec<IpAddr>> {
        let (threads, name) = (self.0.clone(), name.to_owned());
        Box::pin(async move {
            // Nobody closes the semaphore.
            let place = threads.acquire_owned().await.map_err(|_| Error::Unknown)?;
            let lookup = tokio::task::spawn_blocking(move || {
                let answer = lookup(&name);
                drop(place);
                answer
            });
            // The task fails only if the runtime goes away beneath it, or if the lookup panics.
            lookup.await.unwrap_or(Err(Error::Unknown))
        })
    }
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
