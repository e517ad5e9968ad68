//! A request in the order of operations of .NET Micro Framework's SocketClient sample.
//!
//! Look the name up, connect, send one GET with the absolute URL and `Connection: Close`; look every 100 ms, for up to
//! 30 s, whether anything has come; then wait up to 30 s at a time and read 1024 bytes, until the end or until nothing
//! comes, which is taken for the end. No socket option is set unless the arguments say so, and where `--timeout` leaves
//! less than 30 s, a wait is that much shorter.
//!
//! So the phase wait comes in steps of 100 ms: that is the sample's own, and not the network's.

use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use wrun_guest::wait;

use crate::args::Settings;
use crate::budget::Budget;
use crate::http::Response;
use crate::plain::{close, connect};
use crate::stage::Stage;
use crate::wire::Wire;

const STEP: Duration = Duration::from_millis(100);
/// For the first data, and then the silence that is taken for the end.
pub const PATIENCE: Duration = Duration::from_secs(30);
const PIECE: usize = 1024;

/// One request from its first phase to its last; the error says in which one it ended.
/// `connection` is where the connection is meanwhile; after an error, what is there is to be dropped.
pub fn request(
    settings: &Settings,
    connection: &mut Option<Wire>,
    stage: &mut Stage,
    response: &mut Response,
) -> Result<(), String> {
    let budget = Budget::start(settings.timeout);
    let wire = connection.insert(Wire::plain(connect(settings, stage, &budget)?));
    stage.enter("send");
    let (url, host) = (&settings.url, settings.url.authority());
    let head = format!("GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: Close\r\n\r\n");
    wire.write(head.as_bytes(), &budget).map_err(|why| stage.failed(why))?;

    stage.enter("wait");
    let give_up = Instant::now() + PATIENCE;
    while !arrived(wire, Duration::ZERO).map_err(|why| stage.failed(why))? && Instant::now() < give_up {
        let left = budget.left().map_err(|error| stage.failed(error))?;
        thread::sleep(STEP.min(left));
    }

    stage.enter("receive");
    let mut piece = [0; PIECE];
    let silent = loop {
        let left = budget.left().map_err(|error| stage.failed(error))?;
        if !arrived(wire, PATIENCE.min(left)).map_err(|why| stage.failed(why))? {
            break true;
        }
        match (&mut wire.stream()).read(&mut piece) {
            Ok(0) => break false,
            // The original reads to the end of the connection, whatever the head says.
            Ok(size) => response.feed(&piece[..size]).map_err(|error| stage.failed(error))?,
            Err(error) => return Err(stage.failed(budget.reason(&error))),
        };
    };
    if !response.complete() {
        // A silence that the budget cut short says nothing about an answer that is not all there.
        budget.left().map_err(|error| stage.failed(error))?;
        let silence = if silent { "silence taken for the end: " } else { "" };
        response.end().map_err(|error| stage.failed(format!("{silence}{error}")))?;
    }
    stage.enter("close");
    close(connection, settings, &budget).map_err(|why| stage.failed(why))
}

/// Whether something can be read, the end included.
fn arrived(wire: &Wire, patience: Duration) -> Result<bool, String> {
    let ready = wait(&[wire.stream().readable()], Some(patience)).map_err(|error| error.to_string())?;
    Ok(!ready.is_empty())
}
