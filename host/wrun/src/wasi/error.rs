//! From a backend's answer to what a guest is told.

use wasmtime::component::ResourceTableError;
use wrun_net::Error;

use super::View;
use super::bindings::wasi::sockets::network::ErrorCode;

/// How a host function fails: with a code for the guest, or by ending it.
#[derive(Debug)]
pub enum SocketError {
    Code(ErrorCode),
    Trap(wasmtime::Error),
}

/// What stands between wrun and the sockets broke. Ends the run; never a guest's fault.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RigFailure(pub String);

pub type Result<T, E = SocketError> = std::result::Result<T, E>;

impl From<ErrorCode> for SocketError {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<ResourceTableError> for SocketError {
    fn from(error: ResourceTableError) -> Self {
        Self::Trap(error.into())
    }
}

impl From<Error> for SocketError {
    fn from(error: Error) -> Self {
        match code(&error) {
            Ok(code) => Self::Code(code),
            Err(failure) => Self::Trap(failure.into()),
        }
    }
}

/// The standard's code of a backend's error, which is data; or the failure of the rig, which is not.
pub fn code(error: &Error) -> Result<ErrorCode, RigFailure> {
    Ok(match error {
        Error::Unknown => ErrorCode::Unknown,
        Error::AccessDenied => ErrorCode::AccessDenied,
        Error::NotSupported => ErrorCode::NotSupported,
        Error::InvalidArgument => ErrorCode::InvalidArgument,
        Error::OutOfMemory => ErrorCode::OutOfMemory,
        Error::Timeout => ErrorCode::Timeout,
        Error::WouldBlock => ErrorCode::WouldBlock,
        Error::InvalidState => ErrorCode::InvalidState,
        Error::NewSocketLimit => ErrorCode::NewSocketLimit,
        Error::AddressNotBindable => ErrorCode::AddressNotBindable,
        Error::AddressInUse => ErrorCode::AddressInUse,
        Error::RemoteUnreachable => ErrorCode::RemoteUnreachable,
        Error::ConnectionRefused => ErrorCode::ConnectionRefused,
        Error::ConnectionReset => ErrorCode::ConnectionReset,
        Error::ConnectionAborted => ErrorCode::ConnectionAborted,
        Error::DatagramTooLarge => ErrorCode::DatagramTooLarge,
        Error::NameUnresolvable => ErrorCode::NameUnresolvable,
        Error::TemporaryResolverFailure => ErrorCode::TemporaryResolverFailure,
        Error::PermanentResolverFailure => ErrorCode::PermanentResolverFailure,
        Error::Rig(words) => return Err(RigFailure(words.to_string())),
    })
}

impl View<'_> {
    pub(super) fn convert(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        match error {
            SocketError::Code(code) => Ok(code),
            SocketError::Trap(trap) => Err(trap),
        }
    }
}
