//! The values of socket options: from a backend's [`SocketOption`] to the standard's numbers, and the ranges.

use std::time::Duration;

use wrun_net::backend::Options;
use wrun_net::{Error, OptionKind, SocketOption};

use super::bindings::wasi::sockets::network::ErrorCode;
use super::error::SocketError;

/// Defines a getter that asks for one kind of option and takes its value out.
macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $kind:ident -> $type:ty;)*) => {
        $($(#[$doc])*
        pub async fn $name(options: Result<&dyn Options, SocketError>) -> Result<$type, SocketError> {
            // Not held across the wait: the future borrows nothing.
            let pending = options?.option(OptionKind::$kind);
            match pending.await? {
                SocketOption::$kind(value) => Ok(value),
                // A backend that answers with another option breaks its contract.
                _ => Err(Error::Unknown.into()),
            }
        })*
    };
}

getters! {
    keep_alive: KeepAlive -> bool;
    keep_alive_idle: KeepAliveIdle -> Duration;
    keep_alive_interval: KeepAliveInterval -> Duration;
    keep_alive_count: KeepAliveCount -> u32;
    hop_limit: HopLimit -> u8;
    /// Bytes.
    receive_buffer: ReceiveBuffer -> u64;
    /// Bytes.
    send_buffer: SendBuffer -> u64;
    no_delay: NoDelay -> bool;
    linger: Linger -> Option<Duration>;
    broadcast: Broadcast -> bool;
    multicast_hops: MulticastHops -> u8;
    multicast_loopback: MulticastLoopback -> bool;
    /// Datagrams.
    send_queue: SendQueue -> u32;
}

/// Sets an option whose value is in its range.
pub async fn set(options: Result<&dyn Options, SocketError>, option: SocketOption) -> Result<(), SocketError> {
    let pending = options?.set_option(option);
    Ok(pending.await?)
}

/// A duration as the standard counts it.
pub fn nanoseconds(duration: Duration) -> u64 {
    duration.as_nanos().try_into().unwrap_or(u64::MAX)
}

/// Zero is no value for any of these; what is merely small or large is clamped by the stack.
pub fn positive<T: Default + PartialEq>(value: T) -> Result<T, SocketError> {
    if value == T::default() { Err(ErrorCode::InvalidArgument.into()) } else { Ok(value) }
}
