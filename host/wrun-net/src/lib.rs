//! The sockets under wrun.
//!
//! [`backend`] is the one core trait and stands alone. Beside it, one file each: the backends ([`native`],
//! [`memory`]), which open sockets, and the wrappers ([`metered`], [`throttled`]), which change one thing
//! about the sockets of the backend inside them. [`shape`] is the arithmetic of the second. [`conformance`] is the one body of claims that every stack of them must meet.
//!
//! What is left out: WebAssembly, flags and reports. They are `wrun`'s, and this crate cannot name them.

pub mod backend;
pub mod conformance;
pub mod error;
pub mod memory;
pub mod metered;
pub mod native;
mod rounding;
pub mod shape;
mod sync;
pub mod throttled;
mod transport;
mod watched;

pub use backend::{
    Backend, Capabilities, Closed, Ending, Family, Interface, OptionKind, SocketOption, TcpListener, TcpSocket,
    TcpStream, UdpSocket,
};
pub use error::{Error, Result};
