//! Handing a descriptor to tokio to be watched.

use std::os::fd::{AsRawFd, OwnedFd};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::error::Result;

/// Has tokio watch a descriptor that is owned by `io`, which is one of the standard library's own types.
pub fn watched<T: AsRawFd + Into<OwnedFd>>(io: T, interest: Interest) -> Result<AsyncFd<T>> {
    // SAFETY: the types of the standard library that become an `OwnedFd` keep one open descriptor from their making to
    // their drop, and `as_raw_fd` names always that one.
    unsafe { AsyncFd::register_with_interest(io, interest) }.map_err(|error| error.into_parts().1.into())
}
