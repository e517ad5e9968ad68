//! Sends back what comes, over TCP and UDP on one port, for ever: `echo-server ADDR`. Prints the address it got.
//!
//! It is one loop over `wait`, whatever the number of connections, and never waits for a single one: a client that
//! sends and does not read holds up nobody else.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::process::ExitCode;

use wrun_guest::{Family, Interest, TcpListener, TcpSocket, TcpStream, UdpSocket, args, wait};

/// Connections that may wait to be accepted.
const BACKLOG: u64 = 4096;

/// One client, and what came from it and has not gone back.
struct Client {
    stream: TcpStream,
    unsent: Vec<u8>,
}

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let address = std::env::args().nth(1).ok_or("usage: echo-server ADDR")?;
        let (listener, socket) = bind(args::address(&address)?)?;
        println!("{}", listener.local_addr()?);
        serve(&listener, &socket)?;
        Ok(())
    })
}

/// Both on one port. Where TCP may choose a port, UDP may find it taken.
fn bind(address: SocketAddr) -> io::Result<(TcpListener, UdpSocket)> {
    let mut attempts = if address.port() == 0 { 16 } else { 1 };
    loop {
        let socket = TcpSocket::new(Family::of(address))?;
        socket.bind(address)?;
        match UdpSocket::bind(socket.local_addr()?) {
            Ok(udp) => return Ok((socket.listen(Some(BACKLOG))?, udp)),
            Err(error) if error.kind() != ErrorKind::AddrInUse || attempts == 1 => return Err(error),
            Err(_) => attempts -= 1,
        }
    }
}

fn serve(listener: &TcpListener, socket: &UdpSocket) -> io::Result<()> {
    let mut clients: Vec<Client> = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let mut interests: Vec<Interest<'_>> = vec![listener.acceptable(), socket.readable()?];
        interests.extend(clients.iter().map(Client::interest));
        let ready = wait(&interests, None)?;
        // From the last on, so that the places before stay true.
        for place in ready.into_iter().rev() {
            match place {
                // An error is of that one connection.
                0 => clients.extend(listener.try_accept().ok().map(Client::new)),
                1 => datagram(socket, &mut buffer),
                place => {
                    if !clients[place - 2].turn(&mut buffer) {
                        clients.swap_remove(place - 2);
                    }
                }
            }
        }
    }
}

/// Sends one datagram back. An error is about an earlier one, to a client that has left; and UDP may lose.
fn datagram(socket: &UdpSocket, buffer: &mut [u8]) {
    if let Ok((size, sender)) = socket.try_recv_from(buffer) {
        _ = socket.try_send_to(&buffer[..size], sender);
    }
}

impl Client {
    fn new(stream: TcpStream) -> Self {
        Self { stream, unsent: Vec::new() }
    }

    /// Nothing more is taken from a client before it has what it is owed, so that memory is bounded.
    fn interest(&self) -> Interest<'_> {
        if self.unsent.is_empty() { self.stream.readable() } else { self.stream.writable() }
    }

    /// Does what can be done; `false` when the client is done with.
    fn turn(&mut self, buffer: &mut [u8]) -> bool {
        if self.unsent.is_empty() {
            match self.stream.try_read(buffer) {
                Ok(0) => return false,
                Ok(size) => self.unsent.extend_from_slice(&buffer[..size]),
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        match self.stream.try_write(&self.unsent) {
            Ok(size) => {
                self.unsent.drain(..size);
                true
            }
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    }
}
