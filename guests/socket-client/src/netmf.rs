//! A request in the order of operations of .NET Micro Framework's SocketClient sample.
//!
//! Look the name up, connect, send one GET with the absolute URL and `Connection: Close`; look every 100 ms, for up to
//! 30 s, whether anything has come; then wait up to 30 s at a time and read 1024 bytes, until the end or until nothing
//! comes. No socket option is set unless the arguments say so.
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
const PATIENCE: Duration = Duration::from_secs(30);
const PIECE: usize = 1024;

/// One request from its first phase to its last; the error says in which one it ended.
pub fn request(settings: &Settings, stage: &mut Stage, response: &mut Response) -> Result<(), String> {
    let budget = Budget::start(settings.timeout);
    let mut wire = Wire::plain(connect(settings, stage, &budget)?);
    stage.enter("send");
    let (url, host) = (&settings.url, settings.url.authority());
    let head = format!("GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: Close\r\n\r\n");
    wire.write(head.as_bytes(), &budget).map_err(|why| stage.failed(why))?;

    stage.enter("wait");
    let give_up = Instant::now() + PATIENCE;
    while !arrived(&wire, Duration::ZERO).map_err(|why| stage.failed(why))? && Instant::now() < give_up {
        let left = budget.left().map_err(|error| stage.failed(error))?;
        thread::sleep(STEP.min(left));
    }

    stage.enter("receive");
    let mut piece = [0; PIECE];
    loop {
        let left = budget.left().map_err(|error| stage.failed(error))?;
        if !arrived(&wire, PATIENCE.min(left)).map_err(|why| stage.failed(why))? {
            // The original takes silence for the end, so it is one if this is not the budget's.
            budget.left().map_err(|error| stage.failed(error))?;
            break;
        }
        match (&mut wire.stream()).read(&mut piece) {
            Ok(0) => break,
            // The original reads to the end of the connection, whatever the head says.
            Ok(size) => response.feed(&piece[..size]).map_err(|error| stage.failed(error))?,
            Err(error) => return Err(stage.failed(budget.reason(&error))),
        };
    }
    if !response.complete() {
        response.end().map_err(|error| stage.failed(error))?;
    }
    stage.enter("close");
    close(wire, &budget).map_err(|why| stage.failed(why))
}

/// Whether something can be read, the end included.
fn arrived(wire: &Wire, patience: Duration) -> Result<bool, String> {
    let ready = wait(&[wire.stream().readable()], Some(patience)).map_err(|error| error.to_string())?;
    Ok(!ready.is_empty())
}
