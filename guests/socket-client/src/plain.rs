//! A request as one would write it today: one GET on a connection of its own, or on one that is kept.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rustls::ClientConfig;
use wrun_guest::{Ending, Family, TcpOptions, TcpSocket, TcpStream, count, resolve};

use crate::args::{Linger, Settings};
use crate::budget::Budget;
use crate::http::Response;
use crate::stage::Stage;
use crate::wire::Wire;

/// Bytes asked for at a time.
const PIECE: usize = 16 * 1024;

/// Makes requests, one after the other.
pub struct Client<'a> {
    settings: &'a Settings,
    tls: Option<Arc<ClientConfig>>,
}

/// How an exchange on a connection went wrong.
enum Lost {
    /// Before a byte of the answer: where the connection had been kept, the server may have closed it meanwhile.
    Unanswered(String),
    Other(String),
}

impl<'a> Client<'a> {
    /// # Errors
    /// When the certificate authority cannot be read.
    pub fn new(settings: &'a Settings) -> Result<Self, Box<dyn Error>> {
        let tls = if settings.url.tls { Some(guest_tls::config(settings.ca.as_deref(), &[])?) } else { None };
        Ok(Self { settings, tls })
    }

    /// One request from its first phase to its last; the error says in which one it ended.
    ///
    /// `connection` is one that was kept, if any, and afterwards the one to keep; after an error, what is there is to be
    /// dropped.
    pub fn request(
        &self,
        connection: &mut Option<Wire>,
        stage: &mut Stage,
        response: &mut Response,
    ) -> Result<(), String> {
        let budget = Budget::start(self.settings.timeout);
        if let Some(kept) = connection {
            match self.exchange(kept, stage, response, &budget) {
                // Asking again is right for a GET, and no answer has been seen yet.
                Err(Lost::Unanswered(_)) if budget.left().is_ok() => count("reconnects", 1),
                outcome => return self.end(outcome, connection, stage, &budget),
            }
        }
        *connection = None;
        let wire = connection.insert(Wire::plain(connect(self.settings, stage, &budget)?));
        if let Some(config) = &self.tls {
            stage.enter("tls");
            wire.secure(config.clone(), &self.settings.url.host, &budget).map_err(|why| stage.failed(why))?;
        }
        let outcome = self.exchange(wire, stage, response, &budget);
        self.end(outcome, connection, stage, &budget)
    }

    /// The phases send, wait and receive. Says whether the connection can be kept.
    fn exchange(
        &self,
        wire: &mut Wire,
        stage: &mut Stage,
        response: &mut Response,
        budget: &Budget,
    ) -> Result<bool, Lost> {
        stage.enter("send");
        wire.write(self.head().as_bytes(), budget).map_err(|why| Lost::Unanswered(stage.failed(why)))?;
        stage.enter("wait");
        let mut piece = [0; PIECE];
        let mut size = wire.read(&mut piece, budget).map_err(|why| Lost::Unanswered(stage.failed(why)))?;
        if size == 0 {
            return Err(Lost::Unanswered(stage.failed("connection closed before an answer")));
        }
        stage.enter("receive");
        let failed = |stage: &Stage, why: String| Lost::Other(stage.failed(why));
        let mut unasked = false;
        while !response.complete() {
            if size == 0 {
                response.end().map_err(|error| failed(stage, error.to_string()))?;
                break;
            }
            let used = response.feed(&piece[..size]).map_err(|error| failed(stage, error.to_string()))?;
            if response.complete() {
                unasked = used < size;
                break;
            }
            size = wire.read(&mut piece, budget).map_err(|why| failed(stage, why))?;
        }
        // More than was asked for makes the next answer on this connection a guess.
        Ok(self.settings.keep_alive && response.keeps_alive() && !unasked)
    }

    /// After an exchange: the connection is kept, or the phase close.
    fn end(
        &self,
        outcome: Result<bool, Lost>,
        connection: &mut Option<Wire>,
        stage: &mut Stage,
        budget: &Budget,
    ) -> Result<(), String> {
        if outcome.map_err(Lost::into_reason)? {
            return Ok(());
        }
        stage.enter("close");
        close(connection, self.settings, budget).map_err(|why| stage.failed(why))
    }

    fn head(&self) -> String {
        let url = &self.settings.url;
        let connection = if self.settings.keep_alive { "keep-alive" } else { "close" };
        format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: wrun-socket-client/{}\r\nAccept: */*\r\nConnection: {connection}\r\n\r\n",
            url.target,
            url.authority(),
            env!("CARGO_PKG_VERSION"),
        )
    }
}

impl Lost {
    fn into_reason(self) -> String {
        match self {
            Self::Unanswered(reason) | Self::Other(reason) => reason,
        }
    }
}

/// The phases resolve (for a name) and connect. The addresses are tried in their order until one takes the connection,
/// each for its share of the time: one that never answers leaves the others theirs. The error is the last one's.
pub fn connect(settings: &Settings, stage: &mut Stage, budget: &Budget) -> Result<TcpStream, String> {
    let url = &settings.url;
    let addresses = match url.host.parse::<IpAddr>() {
        Ok(address) => vec![address],
        Err(_) => {
            stage.enter("resolve");
            let left = budget.left().map_err(|error| stage.failed(error))?;
            resolve(&url.host, Some(left)).map_err(|error| stage.failed(budget.reason(&error)))?
        }
    };
    stage.enter("connect");
    let mut last = String::new();
    for (tried, address) in addresses.iter().enumerate() {
        let attempt = budget.share(addresses.len() - tried).and_then(|share| {
            let remote = SocketAddr::new(*address, url.port);
            let socket = TcpSocket::new(Family::of(remote))?;
            if let Some(linger) = settings.linger {
                socket.set_linger(linger.time())?;
            }
            if settings.no_delay {
                socket.set_nodelay(true)?;
            }
            socket.connect(remote, Some(share))
        });
        match attempt {
            Ok(stream) => return Ok(stream),
            Err(error) => last = budget.reason(&error),
        }
    }
    Err(stage.failed(last))
}

/// Closes what is there, and counts how that ended.
///
/// # Errors
/// A close that took longer than what was left of the budget is one.
pub fn close(connection: &mut Option<Wire>, settings: &Settings, budget: &Budget) -> Result<(), String> {
    let Some(wire) = connection.take() else { return Ok(()) };
    let had_time = budget.left().is_ok();
    let closed = wire.close(settings.linger.and_then(Linger::time), budget)?;
    count(
        match closed.ending {
            Ending::Acknowledged => "close-acknowledged",
            Ending::Background => "close-background",
            Ending::Reset => "close-reset",
            Ending::TimedOut => "close-timed-out",
        },
        1,
    );
    match budget.left() {
        Err(error) if had_time => Err(budget.reason(&error)),
        _ => Ok(()),
    }
}
