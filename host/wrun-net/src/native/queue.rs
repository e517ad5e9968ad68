//! How many bytes a socket still has to send.

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};

/// `SIOCOUTQ`, which has the number of the terminals' `TIOCOUTQ`.
const SIOCOUTQ: Opcode = libc::TIOCOUTQ as Opcode;

/// For TCP, bytes written and not yet acknowledged, an unacknowledged end of the stream counting as one. For UDP, bytes
/// that were handed over and have not left, with what the kernel needs to keep them.
pub fn queued(socket: impl AsFd) -> Result<u64, Errno> {
    // SAFETY: `SIOCOUTQ` writes one C int, and touches nothing else.
    let bytes = unsafe { ioctl(socket, Getter::<SIOCOUTQ, libc::c_int>::new()) }?;
    Ok(u64::try_from(bytes).unwrap_or(0))
}
