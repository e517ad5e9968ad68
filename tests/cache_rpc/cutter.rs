//! A proxy that gives each connection so many bytes of answers and no more.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

/// What becomes of a connection that has had its bytes. Requests reach the server until then, and beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Close,
    /// It stays, and nothing comes any more.
    Silence,
}

/// A proxy that listens until the tests end.
pub struct Cutter {
    address: SocketAddr,
}

impl Cutter {
    /// In front of `server`. `answers` is how many bytes a client gets on one connection.
    pub fn start(server: &str, answers: usize, then: Then) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = server.to_owned();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(&server);
                thread::spawn(move || {
                    // However the connection ends, the proxy goes on.
                    _ = server.and_then(|server| pass(client, server, answers, then));
                });
            }
        });
        Self { address }
    }

    pub fn address(&self) -> String {
        self.address.to_string()
    }
}

fn pass(mut client: TcpStream, mut server: TcpStream, left: usize, then: Then) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    let there = thread::spawn(move || {
        _ = std::io::copy(&mut from_client, &mut to_server);
        _ = to_server.shutdown(Shutdown::Both);
    });
    // However it comes to its end, nobody waits for more.
    _ = answer(&mut client, &mut server, left, then);
    _ = client.shutdown(Shutdown::Both);
    _ = there.join();
    Ok(())
}

fn answer(client: &mut TcpStream, server: &mut TcpStream, mut left: usize, then: Then) -> std::io::Result<()> {
    let mut bytes = vec![0; 1 << 16];
    loop {
        let count = server.read(&mut bytes)?;
        // What does not fit is lost: the server has done what it answers.
        if count == 0 || count > left && then == Then::Close {
            return Ok(());
        }
        let heard = count.min(left);
        client.write_all(&bytes[..heard])?;
        left -= heard;
    }
}
