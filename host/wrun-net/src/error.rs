//! What a backend may answer instead of a result.

use std::io;

use rustix::io::Errno;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Every failure of a socket call.
///
/// All variants but [`Error::Rig`] are the network's or the socket's own answer: data for the guest, named as in
/// `wasi:sockets`. [`Error::Rig`] is a failure of what stands between wrun and the sockets, such as a board that is
/// gone; it never reaches the guest and ends the run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("unknown error")]
    Unknown,
    #[error("access denied")]
    AccessDenied,
    #[error("not supported")]
    NotSupported,
    #[error("invalid argument")]
    InvalidArgument,
    #[error("out of memory")]
    OutOfMemory,
    #[error("timed out")]
    Timeout,
    /// Nothing to read, no room to write, nobody to accept: wait for readiness and try again.
    #[error("would block")]
    WouldBlock,
    /// The call does not fit the state of the socket.
    #[error("invalid state")]
    InvalidState,
    #[error("too many sockets")]
    NewSocketLimit,
    #[error("address not bindable")]
    AddressNotBindable,
    #[error("address in use")]
    AddressInUse,
    #[error("remote unreachable")]
    RemoteUnreachable,
    #[error("connection refused")]
    ConnectionRefused,
    #[error("connection reset")]
    ConnectionReset,
    #[error("connection aborted")]
    ConnectionAborted,
    #[error("datagram too large")]
    DatagramTooLarge,
    #[error("name unresolvable")]
    NameUnresolvable,
    #[error("temporary resolver failure")]
    TemporaryResolverFailure,
    #[error("permanent resolver failure")]
    PermanentResolverFailure,
    /// What carries the sockets broke, in words for the user.
    #[error("{0}")]
    Rig(std::sync::Arc<str>),
}

impl From<Errno> for Error {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::AGAIN | Errno::INTR => Self::WouldBlock,
            Errno::PERM | Errno::ACCESS => Self::AccessDenied,
            Errno::ADDRINUSE => Self::AddressInUse,
            Errno::ADDRNOTAVAIL => Self::AddressNotBindable,
            Errno::TIMEDOUT => Self::Timeout,
            Errno::CONNREFUSED => Self::ConnectionRefused,
            // A write after the peer has closed is a reset that was noticed one call later.
            Errno::CONNRESET | Errno::PIPE => Self::ConnectionReset,
            Errno::CONNABORTED => Self::ConnectionAborted,
            Errno::INVAL | Errno::DOM => Self::InvalidArgument,
            Errno::HOSTUNREACH | Errno::HOSTDOWN | Errno::NETDOWN | Errno::NETUNREACH | Errno::NONET => {
                Self::RemoteUnreachable
            }
            Errno::ISCONN | Errno::NOTCONN | Errno::DESTADDRREQ => Self::InvalidState,
            Errno::NFILE | Errno::MFILE => Self::NewSocketLimit,
            Errno::MSGSIZE => Self::DatagramTooLarge,
            Errno::NOMEM | Errno::NOBUFS => Self::OutOfMemory,
            Errno::OPNOTSUPP
            | Errno::NOPROTOOPT
            | Errno::PFNOSUPPORT
            | Errno::PROTONOSUPPORT
            | Errno::PROTOTYPE
            | Errno::SOCKTNOSUPPORT
            | Errno::AFNOSUPPORT => Self::NotSupported,
            _ => Self::Unknown,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        if let Some(errno) = Errno::from_io_error(&error) {
            return errno.into();
        }
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Self::WouldBlock,
            io::ErrorKind::InvalidInput => Self::InvalidArgument,
            io::ErrorKind::TimedOut => Self::Timeout,
            io::ErrorKind::OutOfMemory => Self::OutOfMemory,
            io::ErrorKind::Unsupported => Self::NotSupported,
            _ => Self::Unknown,
        }
    }
}
