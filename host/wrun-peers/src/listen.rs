//! Listening for more clients at once than the usual listener holds.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

/// Clients that may wait to be accepted. The standard library's 128 are too few for a guest that opens a thousand
/// connections: the next one's connect is dropped in silence, and tried again by its system a second later.
const BACKLOG: u32 = 4096;

/// A listener at `address`, port 0 for any free one. Has to be called in a tokio runtime.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A peer that is started again takes its port back at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
