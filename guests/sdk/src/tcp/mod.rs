//! TCP: a [`TcpSocket`] before it is anything, the [`TcpStream`] or [`TcpListener`] it becomes, and their options.

mod listener;
mod options;
mod socket;
mod stream;

pub use listener::{Incoming, TcpListener};
pub use options::{Closed, Ending, TcpOptions};
pub use socket::{Connecting, TcpSocket};
pub use stream::TcpStream;
pub(crate) use stream::not_zero;
