//! Opens TCP sockets and keeps them until the host says no; prints the code and how many there were, and fails then.
//! `flood unwrap` takes a no for impossible, as careless guests do, and panics at it.

use std::process::ExitCode;

use wrun_guest::{Family, TcpSocket, reason};

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let careless = std::env::args().nth(1).as_deref() == Some("unwrap");
        let mut sockets = Vec::new();
        let error = loop {
            match TcpSocket::new(Family::V4) {
                Ok(socket) => sockets.push(socket),
                Err(error) => break error,
            }
        };
        println!("{} after {} sockets", reason(&error), sockets.len());
        if careless {
            panic!("a socket could not be opened: {error}");
        }
        Err(error.into())
    })
}
