//! Opens TCP sockets and keeps them until the host says no; prints the code and how many there were, and fails then.

use std::process::ExitCode;

use wrun_guest::{Family, TcpSocket, reason};

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let mut sockets = Vec::new();
        let error = loop {
            match TcpSocket::new(Family::V4) {
                Ok(socket) => sockets.push(socket),
                Err(error) => break error,
            }
        };
        println!("{} after {} sockets", reason(&error), sockets.len());
        Err(error.into())
    })
}
