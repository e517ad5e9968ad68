//! A TCP socket before it is connected or listening, and one that is on its way.

use std::cell::OnceCell;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use wasip2::io::poll::Pollable;
use wasip2::sockets::network::ErrorCode;
use wasip2::sockets::{tcp, tcp_create_socket};

use crate::address::{Family, from_wasi, to_wasi, with_network};
use crate::error::{refused, timed_out};
use crate::poll::{Deadline, Interest};
use crate::tcp::{TcpListener, TcpOptions, TcpStream};

/// A TCP socket that is not connected yet, for setting options or a local address first.
///
/// ```no_run
/// use std::time::Duration;
/// use wrun_guest::{Family, TcpOptions, TcpSocket};
///
/// let socket = TcpSocket::new(Family::V4)?;
/// socket.set_linger(Some(Duration::ZERO))?;
/// let stream = socket.connect("127.0.0.1:80".parse().unwrap(), Some(Duration::from_secs(5)))?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TcpSocket {
    // Dropped in this order: what is subscribed to a socket must go before it.
    pollable: OnceCell<Pollable>,
    raw: tcp::TcpSocket,
}

impl TcpSocket {
    /// # Errors
    /// `new-socket-limit` when there are too many, `not-supported` when the backend lacks the family.
    pub fn new(family: Family) -> io::Result<Self> {
        let raw = tcp_create_socket::create_tcp_socket(family.to_wasi())
            .map_err(|code| refused(code, || "open a TCP socket".to_owned()))?;
        Ok(Self { pollable: OnceCell::new(), raw })
    }

    /// Binds to a local address; port 0 is any free one. Without it, connecting picks an address.
    pub fn bind(&self, local: SocketAddr) -> io::Result<()> {
        let asked = || format!("bind to {local}");
        with_network(|network| self.raw.start_bind(network, to_wasi(local))).map_err(|code| refused(code, asked))?;
        self.until(&Deadline::after(None), || self.raw.finish_bind())
            .map_err(|code| refused(code, asked))
            .map(Option::unwrap_or_default)
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.raw.local_address().map(from_wasi).map_err(|code| refused(code, || "local address".to_owned()))
    }

    /// Connects. `timeout` is for the whole of it; `None` waits as long as the network does.
    ///
    /// # Errors
    /// `connection-refused`, `remote-unreachable`, `timeout` (the network's own), `access-denied` when the policy has
    /// no rule for the address, or the time-out given here. The socket is gone, whatever comes of it.
    pub fn connect(self, remote: SocketAddr, timeout: Option<Duration>) -> io::Result<TcpStream> {
        let asked = || format!("connect to {remote}");
        self.begin(remote)?;
        let (input, output) = self
            .until(&Deadline::after(timeout), || self.raw.finish_connect())
            .map_err(|code| refused(code, asked))?
            .ok_or_else(|| timed_out(timeout.unwrap_or_default(), asked))?;
        Ok(TcpStream::new(input, output, self.into_raw()))
    }

    /// Begins to connect and returns at once, so that many can be under way together.
    pub fn start_connect(self, remote: SocketAddr) -> io::Result<Connecting> {
        self.begin(remote)?;
        Ok(Connecting { socket: Some(self), remote })
    }

    fn begin(&self, remote: SocketAddr) -> io::Result<()> {
        with_network(|network| self.raw.start_connect(network, to_wasi(remote)))
            .map_err(|code| refused(code, || format!("connect to {remote}")))
    }

    /// Listens on the address it was bound to, holding up to `backlog` connections that nobody has accepted yet; `None`
    /// leaves their number to the backend.
    pub fn listen(self, backlog: Option<u64>) -> io::Result<TcpListener> {
        let refuse = |code| refused(code, || "listen".to_owned());
        if let Some(backlog) = backlog {
            self.raw.set_listen_backlog_size(backlog).map_err(refuse)?;
        }
        self.raw.start_listen().map_err(refuse)?;
        self.until(&Deadline::after(None), || self.raw.finish_listen()).map_err(refuse)?;
        Ok(TcpListener::new(self))
    }

    pub(super) fn pollable(&self) -> &Pollable {
        self.pollable.get_or_init(|| self.raw.subscribe())
    }

    /// The socket itself, after what was subscribed to it is gone.
    fn into_raw(self) -> tcp::TcpSocket {
        drop(self.pollable);
        self.raw
    }

    /// Asks until the answer is another than "would block"; `None` when the deadline passed first.
    pub(super) fn until<T>(
        &self,
        deadline: &Deadline,
        mut ask: impl FnMut() -> Result<T, ErrorCode>,
    ) -> Result<Option<T>, ErrorCode> {
        loop {
            match ask() {
                Err(ErrorCode::WouldBlock) if !deadline.block(self.pollable()) => return Ok(None),
                Err(ErrorCode::WouldBlock) => {}
                answer => return answer.map(Some),
            }
        }
    }
}

impl TcpOptions for TcpSocket {
    fn raw(&self) -> &tcp::TcpSocket {
        &self.raw
    }
}

/// A connection on its way. Dropping it gives it up.
#[derive(Debug)]
pub struct Connecting {
    /// Gone when the connecting has ended, well or not.
    socket: Option<TcpSocket>,
    remote: SocketAddr,
}

impl Connecting {
    /// The connection, if it is there; `None` while it is still on its way.
    ///
    /// # Errors
    /// As for [`TcpSocket::connect`]; and `not-in-progress` once it has ended.
    pub fn try_finish(&mut self) -> io::Result<Option<TcpStream>> {
        let asked = || format!("connect to {}", self.remote);
        let Some(socket) = self.socket.take() else { return Err(refused(ErrorCode::NotInProgress, asked)) };
        match socket.raw.finish_connect() {
            Ok((input, output)) => Ok(Some(TcpStream::new(input, output, socket.into_raw()))),
            Err(ErrorCode::WouldBlock) => {
                self.socket = Some(socket);
                Ok(None)
            }
            Err(code) => Err(refused(code, asked)),
        }
    }

    /// Ready when [`Self::try_finish`] has an answer. `None` once it has ended.
    pub fn ended(&self) -> Option<Interest<'_>> {
        self.socket.as_ref().map(|socket| Interest(socket.pollable()))
    }
}
