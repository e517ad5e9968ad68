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

/// Defines, in an `impl` of the standard's socket, getters and setters of options: the standard's names and type, the
/// getter here and the kind of option, and how a value gets out and in. What is merely small or large is clamped by the
/// stack.
macro_rules! accessors {
    ($socket:ty: $($get:ident, $set:ident: $type:ty = $value:ident, $kind:ident, $out:expr, $in:expr;)*) => {$(
        async fn $get(&mut self, this: Resource<$socket>) -> Result<$type, SocketError> {
            let value = values::$value(self.table.get(&this)?.options()).await?;
            Ok($out(value))
        }

        async fn $set(&mut self, this: Resource<$socket>, value: $type) -> Result<(), SocketError> {
            let option = SocketOption::$kind($in(value)?);
            values::set(self.table.get(&this)?.options(), option).await
        }
    )*};
}
pub(super) use accessors;

/// A duration as the standard counts it.
pub fn nanoseconds(duration: Duration) -> u64 {
    duration.as_nanos().try_into().unwrap_or(u64::MAX)
}

/// A duration as the standard counts it, of which zero is none.
pub fn time(nanoseconds: u64) -> Result<Duration, SocketError> {
    Ok(Duration::from_nanos(positive(nanoseconds)?))
}

/// A number of which zero is none.
pub fn positive<T: Default + PartialEq>(value: T) -> Result<T, SocketError> {
    if value == T::default() { Err(ErrorCode::InvalidArgument.into()) } else { Ok(value) }
}

/// Any value will do.
pub fn any<T>(value: T) -> Result<T, SocketError> {
    Ok(value)
}
