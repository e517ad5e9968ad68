//! One connection: it is opened, has operations in flight, is lost and opened again.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use cache::client::{Conversation, Request};
use wrun_guest::{Connecting, Family, Interest, TcpOptions, TcpSocket, TcpStream};

use crate::args::Settings;
use crate::protocol::Speech;
use crate::tally::{Begun, Tally};
use crate::wire::{Piece, Wire};

/// What all connections work with.
pub struct Shared<'a> {
    pub settings: &'a Settings,
    /// Each server's, in the resolver's order; at least one.
    pub addresses: Vec<Vec<SocketAddr>>,
    pub speech: Speech,
    pub piece: Piece,
    pub tally: Tally,
}

/// A connection to one server.
pub struct Connection {
    pub server: usize,
    state: State,
    /// While it is not open: the conversation that goes on when it is, and then answers what is in flight.
    suspended: Option<Box<dyn Conversation>>,
    in_flight: VecDeque<InFlight>,
    /// How often in a row it was lost, or not made, before an answer came.
    failures: u32,
    /// Nothing more will be asked, so it is not opened again.
    over: bool,
    /// When it was last seen what the server sent.
    heard: Instant,
}

enum State {
    /// Not there; it is opened when the time has come.
    Resting { until: Instant },
    /// On its way, for so long; then open or lost.
    Opening { connecting: Connecting, until: Instant },
    /// There, until it is lost.
    Open { wire: Wire, conversation: Box<dyn Conversation> },
    /// Lost too often in a row, at last for this reason. It stays so.
    GivenUp { why: String },
}

struct InFlight {
    begun: Begun,
    until: Instant,
}

/// Before the first attempt to open a connection again; doubled for each further one in a row.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Pieces that are taken from one connection before the others have their turn.
const PIECES: usize = 16;

impl Connection {
    /// To be opened now.
    pub fn new(server: usize, now: Instant) -> Self {
        let state = State::Resting { until: now };
        Self { server, state, suspended: None, in_flight: VecDeque::new(), failures: 0, over: false, heard: now }
    }

    /// Operations that are asked and not answered.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }

    /// Whether it is open, waits to be opened again, or was given up: not on its way for the first time.
    pub fn is_settled(&self) -> bool {
        self.failures > 0 || matches!(self.state, State::Open { .. } | State::GivenUp { .. })
    }

    /// Why there will be no more of this connection.
    pub fn given_up(&self) -> Option<&str> {
        match &self.state {
            State::GivenUp { why } => Some(why),
            _ => None,
        }
    }

    /// What it waits for.
    pub fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let (first, second) = match &self.state {
            State::Opening { connecting, .. } => (connecting.ended(), None),
            State::Open { wire, .. } if !self.in_flight.is_empty() || self.is_ending() => {
                (Some(wire.readable()), wire.writable())
            }
            State::Resting { .. } | State::Open { .. } | State::GivenUp { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// When something is to be done about it at the latest.
    pub fn until(&self) -> Option<Instant> {
        let state = match &self.state {
            State::Resting { until } | State::Opening { until, .. } => Some(*until),
            State::Open { .. } | State::GivenUp { .. } => None,
        };
        state.into_iter().chain(self.first_limit()).min()
    }

    /// When the first operation in flight has had its time. They are answered in order, and all have as long.
    fn first_limit(&self) -> Option<Instant> {
        self.in_flight.front().map(|first| first.until)
    }

    /// Asks for an operation. Only an open connection can.
    pub fn ask(&mut self, begun: Begun, request: Request<'_>, until: Instant) {
        if let State::Open { conversation, .. } = &mut self.state {
            conversation.ask(request);
            self.in_flight.push_back(InFlight { begun, until });
        }
    }

    /// Sends what there is to send.
    pub fn send(&mut self, now: Instant, shared: &mut Shared<'_>) {
        if let State::Open { wire, conversation } = &mut self.state
            && let Err(why) = wire.send(conversation.as_mut(), &mut shared.tally.moved)
        {
            self.lose(&why, now, shared);
        }
    }

    /// Has what is sent next take leave of the server. Only when nothing is in flight, and nothing is asked after.
    pub fn end(&mut self) {
        self.over = true;
        if let State::Open { conversation, .. } = &mut self.state {
            conversation.end();
        }
    }

    /// Whether it waits for the server to have heard that.
    pub fn is_ending(&self) -> bool {
        self.over && matches!(&self.state, State::Open { conversation, .. } if conversation.is_ending())
    }

    /// Whether it is still open. While nothing was in flight nobody waited for it, and the server may have closed it: then it
    /// is lost, and nothing with it.
    pub fn is_still_open(&mut self, now: Instant, shared: &mut Shared<'_>) -> bool {
        if self.in_flight.is_empty() && self.heard < now && self.is_open() {
            self.ready(now, shared);
        }
        self.is_open()
    }

    /// Something it waited for is there.
    pub fn ready(&mut self, now: Instant, shared: &mut Shared<'_>) {
        self.heard = now;
        match &mut self.state {
            State::Opening { connecting, .. } => match connecting.try_finish() {
                Ok(None) => {}
                Ok(Some(stream)) => self.opened(stream, shared),
                Err(error) => self.lose(&error.to_string(), now, shared),
            },
            State::Open { .. } => {
                if let Err(why) = self.receive(shared) {
                    self.lose(&why, now, shared);
                }
            }
            State::Resting { .. } | State::GivenUp { .. } => {}
        }
    }

    /// The time given by [`Self::until`] has come.
    pub fn late(&mut self, now: Instant, shared: &mut Shared<'_>) {
        let limit = shared.settings.timeout;
        if self.first_limit().is_some_and(|until| until <= now) {
            self.fail(&format!("timed out after {limit:?}"), shared);
        }
        match &mut self.state {
            State::Resting { until } | State::Opening { until, .. } if *until > now => {}
            State::Resting { .. } => {
                if let Err(why) = self.open(now, shared) {
                    self.lose(&why, now, shared);
                }
            }
            State::Opening { .. } => self.lose(&format!("connect: timed out after {limit:?}"), now, shared),
            // What was in flight is answered too late, if ever.
            State::Open { .. } => self.lose(&format!("timed out after {limit:?}"), now, shared),
            State::GivenUp { .. } => {}
        }
    }

    fn open(&mut self, now: Instant, shared: &mut Shared<'_>) -> Result<(), String> {
        if self.failures > 0 {
            shared.tally.retries += 1;
        }
        let addresses = &shared.addresses[self.server];
        let remote = addresses[self.failures as usize % addresses.len()];
        let open = || {
            let socket = TcpSocket::new(Family::of(remote))?;
            if shared.settings.no_delay {
                socket.set_nodelay(true)?;
            }
            socket.start_connect(remote)
        };
        let connecting = open().map_err(|error| error.to_string())?;
        self.state = State::Opening { connecting, until: now + shared.settings.timeout };
        Ok(())
    }

    fn opened(&mut self, stream: TcpStream, shared: &mut Shared<'_>) {
        if self.failures > 0 {
            shared.tally.reconnects += 1;
        }
        let conversation = self.suspended.take().unwrap_or_else(|| shared.speech.conversation(self.server));
        self.state = State::Open { wire: Wire::new(stream), conversation };
    }

    fn receive(&mut self, shared: &mut Shared<'_>) -> Result<(), String> {
        let State::Open { wire, conversation } = &mut self.state else { return Ok(()) };
        for _ in 0..PIECES {
            let more = wire.receive(conversation.as_mut(), &mut shared.piece, &mut shared.tally.moved)?;
            while let Some(answer) = conversation.answer().map_err(|broken| broken.0)? {
                let first = self.in_flight.pop_front().ok_or("an answer to nothing")?;
                shared.tally.answered(first.begun, &answer);
                self.failures = 0;
            }
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// It is of no use any more, for this reason. What was in flight has failed, unless the conversation goes on.
    fn lose(&mut self, why: &str, now: Instant, shared: &mut Shared<'_>) {
        self.failures += 1;
        let state = if self.over || self.failures > shared.settings.reconnect {
            State::GivenUp { why: why.to_owned() }
        } else {
            let doubled = FIRST_PAUSE * 2_u32.saturating_pow(self.failures - 1).min(1 << 10);
            State::Resting { until: now + doubled.min(LONGEST_PAUSE) }
        };
        let mut lost = None;
        if let State::Open { wire, mut conversation } = std::mem::replace(&mut self.state, state) {
            lost = Some(wire);
            if !self.in_flight.is_empty() && conversation.begin_again() {
                self.suspended = Some(conversation);
            }
        }
        if self.suspended.is_none() || self.given_up().is_some() {
            self.fail(why, shared);
        }
        // Only now: it may take its time, which is none of the operations'.
        if let Some(wire) = lost {
            wire.cut();
        }
    }

    /// Nothing that is in flight will be answered, for this reason.
    fn fail(&mut self, why: &str, shared: &mut Shared<'_>) {
        self.suspended = None;
        let mut in_flight = self.in_flight.drain(..);
        if let Some(first) = in_flight.next() {
            shared.tally.failed(first.begun, why);
        }
        in_flight.for_each(|behind| shared.tally.failed(behind.begun, &format!("behind one that failed: {why}")));
    }
}
