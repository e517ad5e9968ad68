//! Options that are on or off, and that rustix has no names for.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use crate::error::Result;

pub fn set(socket: impl AsFd, level: libc::c_int, name: libc::c_int, on: bool) -> Result<()> {
    let value = libc::c_int::from(on);
    // SAFETY: the descriptor is open, and the option is read from one C int that outlives the call.
    let answer = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error().into()) }
}
