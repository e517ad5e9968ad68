//! Echo servers on loopback, for tests that need another end and care about nothing else.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::listen;

/// A running server. Dropping it stops it and cuts its connections.
///
/// It runs on a thread of its own, so a test may block, with a runtime or without.
pub struct Echo {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    /// A TCP server on a free port of `ip`. Each connection gets its bytes back, and the end of them too.
    pub fn tcp(ip: IpAddr) -> io::Result<Self> {
        let runtime = runtime()?;
        let listener = runtime.block_on(async { listen(SocketAddr::new(ip, 0)) })?;
        let address = listener.local_addr()?;
        Self::start(runtime, address, serve_tcp(listener))
    }

    /// A UDP server on a free port of `ip`. Each datagram goes back whole to its sender.
    pub fn udp(ip: IpAddr) -> io::Result<Self> {
        let runtime = runtime()?;
        let socket = runtime.block_on(UdpSocket::bind((ip, 0)))?;
        let address = socket.local_addr()?;
        Self::start(runtime, address, serve_udp(socket))
    }

    /// Where it can be reached, from now on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The socket is open already, so a client need not wait for the thread.
    fn start(
        runtime: Runtime,
        address: SocketAddr,
        serve: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new().name("echo".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serve => {}
                    // Nothing is ever sent: dropping the server ends the channel.
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }
}

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

impl Drop for Echo {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there is ours, and has been printed.
            let _ = thread.join();
        }
    }
}

async fn serve_tcp(listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(echo(stream))),
            // Out of file descriptors, mostly: connections that end give some back.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; 16 * 1024];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return stream.shutdown().await,
            length => stream.write_all(&buffer[..length]).await?,
        }
    }
}

async fn serve_udp(socket: UdpSocket) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        // An error is about a datagram sent before, to somebody who has closed since.
        if let Ok((length, sender)) = socket.recv_from(&mut buffer).await {
            let _ = socket.send_to(&buffer[..length], sender).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{Ipv4Addr, Shutdown};

    use super::*;

    const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    /// A server that does not answer fails the test instead of hanging it.
    const PATIENCE: Duration = Duration::from_secs(20);

    #[test]
    fn tcp_gives_the_bytes_back_and_then_the_end() {
        let server = Echo::tcp(LOCAL).unwrap();
        let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(b"there and back").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut back = String::new();
        stream.read_to_string(&mut back).unwrap();
        assert_eq!(back, "there and back");
    }

    #[test]
    fn more_clients_wait_than_a_usual_listener_holds() {
        let runtime = runtime().unwrap();
        // Nobody accepts: every connection is one that waits.
        let listener = runtime.block_on(async { listen(SocketAddr::new(LOCAL, 0)) }).unwrap();
        let address = listener.local_addr().unwrap();
        let connect = |_| std::net::TcpStream::connect_timeout(&address, Duration::from_millis(900));
        let waiting: io::Result<Vec<_>> = (0..400).map(connect).collect();
        assert_eq!(waiting.unwrap().len(), 400);
    }

    #[test]
    fn udp_gives_an_empty_and_a_full_datagram_back() {
        let server = Echo::udp(LOCAL).unwrap();
        let socket = std::net::UdpSocket::bind((LOCAL, 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut buffer = vec![0; 64 * 1024];
        for length in [0, 1, 65_507] {
            let sent = vec![7; length];
            socket.send_to(&sent, server.address()).unwrap();
            let (received, sender) = socket.recv_from(&mut buffer).unwrap();
            assert_eq!((&buffer[..received], sender), (&sent[..], server.address()));
        }
    }

    #[test]
    fn udp_outlives_a_client_that_closed() {
        let server = Echo::udp(LOCAL).unwrap();
        drop(std::net::UdpSocket::bind((LOCAL, 0)).and_then(|gone| gone.send_to(b"x", server.address())));
        let socket = std::net::UdpSocket::bind((LOCAL, 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.send_to(b"y", server.address()).unwrap();
        assert_eq!(socket.recv(&mut [0; 1]).unwrap(), 1);
    }

    #[test]
    fn dropping_it_closes_the_port() {
        let server = Echo::tcp(LOCAL).unwrap();
        let address = server.address();
        drop(server);
        assert!(std::net::TcpStream::connect(address).is_err());
    }
}
