//! UDP: the [`UdpSocket`] and its options.

mod options;
mod socket;

pub use options::Interface;
pub use socket::UdpSocket;
