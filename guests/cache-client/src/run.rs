//! The one loop over all connections.
//!
//! Each turn takes what has come, begins what can begin, sends it, and waits for more. A connection that was answered is
//! asked and sent for again before the next one is looked at, so that its server has something to do meanwhile.

use std::error::Error;
use std::time::{Duration, Instant};

use cache::client::Request;
use wrun_guest::{Interest, Sample, Timer, announce, note, resolve, wait};

use crate::args::{Mode, Settings};
use crate::connection::{Connection, Shared};
use crate::history::History;
use crate::keys;
use crate::protocol::Speech;
use crate::random;
use crate::tally::{Begun, Tally};
use crate::values::Values;
use crate::wire::Piece;
use crate::work::{Kind, Operation, Work};

/// The longest value that a server may answer with though this run writes none of that size: what memcached takes unless
/// it is told otherwise, in bytes.
const USUAL_LONGEST: usize = 1 << 20;

/// How long a server may take to hear that a run is over.
const FAREWELL: Duration = Duration::from_secs(1);

/// A timer may be so late. What is due sooner is waited for by looking again and again.
const TIMER_ERROR: Duration = Duration::from_millis(2);

/// Connects, preloads, reads and writes.
///
/// # Errors
/// What is wrong before the first operation, such as a server whose name is not known. Operations that go wrong are in the
/// tally.
pub fn all(settings: &Settings) -> Result<Tally, Box<dyn Error>> {
    let seed = settings.seed.unwrap_or_else(random::seed);
    note(&format!("seed {seed}"));
    announce(settings.reads.saturating_add(settings.writes).saturating_add(settings.preload.into()));
    let mut run = Run::new(settings, seed)?;
    run.connect()?;
    if settings.preload {
        let sample = Sample::start("preload");
        run.work(Work::preload(settings), false)?;
        match run.shared.tally.errors() {
            0 => sample.finish(),
            failed => sample.fail(&format!("{failed} of {} keys were not written", settings.keys)),
        }
    }
    run.shared.tally.took = run.work(Work::mixed(settings, seed), true)?;
    run.shared.tally.given_up = run.given_up();
    if let Some(words) = &run.shared.tally.given_up {
        note(words);
    }
    run.end()?;
    run.shared.tally.tell();
    Ok(run.shared.tally)
}

struct Run<'a> {
    shared: Shared<'a>,
    connections: Vec<Connection>,
    /// The connection whose turn it is to begin an operation first.
    turn: usize,
    /// Those that have something, by place.
    ready: Vec<usize>,
    /// Whose each interest was, in the last wait.
    places: Vec<usize>,
    /// Before this no connection is late; as of the last wait.
    late: Option<Instant>,
    /// The timer and when it is ready; kept while nothing is to be done before.
    timer: Option<(Instant, Timer)>,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<'a> Run<'a> {
    fn new(settings: &'a Settings, seed: u64) -> Result<Self, Box<dyn Error>> {
        let mut addresses = Vec::new();
        for server in &settings.servers {
            let found = resolve(&server.host, Some(settings.timeout))?;
            addresses.push(found.into_iter().map(|address| (address, server.port).into()).collect());
        }
        let now = Instant::now();
        let of_all = (0..settings.connections).flat_map(|_| 0..settings.servers.len());
        let connections = of_all.map(|server| Connection::new(server, now)).collect();
        let values = Values::new(seed, random::secret() as u64, settings.sizes.clone());
        let history = settings.verify.then(|| History::new(settings.keys));
        let shared = Shared {
            settings,
            addresses,
            speech: Speech::new(settings, USUAL_LONGEST.max(*settings.sizes.end()))?,
            piece: Piece::default(),
            tally: Tally::new(values, history),
        };
        Ok(Self {
            shared,
            connections,
            turn: 0,
            ready: Vec::new(),
            places: Vec::new(),
            late: Some(now),
            timer: None,
            key: Vec::new(),
            value: Vec::new(),
        })
    }

    /// Waits until every connection has been opened, or could not be at the first attempt.
    fn connect(&mut self) -> Result<(), Box<dyn Error>> {
        loop {
            let now = Instant::now();
            self.take(now, |_, _| {});
            if self.connections.iter().all(Connection::is_settled) {
                return Ok(());
            }
            self.wait(now, None)?;
        }
    }

    /// Does all of some work, and says how long it took.
    fn work(&mut self, mut work: Work, measured: bool) -> Result<Duration, Box<dyn Error>> {
        let began = Instant::now();
        let parallel = self.shared.settings.mode == Mode::Parallel;
        loop {
            let now = Instant::now();
            let since = Since { began, now, measured };
            self.take(now, |run, place| {
                if parallel {
                    run.begin(place, &mut work, since);
                }
                // Also what its conversation has to say of itself, and what there was no room for.
                run.send(place, now);
            });
            let (first, after) = (self.turn, self.connections.len());
            for place in (first..after).chain(0..first) {
                if !parallel && self.in_flight() > 0 {
                    break;
                }
                if self.begin(place, &mut work, since) {
                    self.send(place, now);
                }
            }
            self.bury(&mut work, since);
            if work.is_empty() && self.in_flight() == 0 {
                return Ok(began.elapsed());
            }
            self.wait(now, work.due().map(|due| began + due))?;
        }
    }

    /// Takes leave of the servers, which then keep nothing for this run. One that does not answer is not waited for long.
    fn end(&mut self) -> Result<(), Box<dyn Error>> {
        let until = Instant::now() + self.shared.settings.timeout.min(FAREWELL);
        self.connections.iter_mut().for_each(Connection::end);
        loop {
            let now = Instant::now();
            self.take(now, |_, _| {});
            for connection in &mut self.connections {
                connection.send(now, &mut self.shared);
            }
            if now >= until || !self.connections.iter().any(Connection::is_ending) {
                return Ok(());
            }
            self.wait(now, Some(until))?;
        }
    }

    /// Takes what is there and does what is late. `after` follows for each that had something.
    fn take(&mut self, now: Instant, mut after: impl FnMut(&mut Self, usize)) {
        let ready = std::mem::take(&mut self.ready);
        for place in &ready {
            self.connections[*place].ready(now, &mut self.shared);
            after(self, *place);
        }
        self.ready = ready;
        if self.late.is_none_or(|late| late > now) {
            return;
        }
        for connection in &mut self.connections {
            if connection.until().is_some_and(|until| until <= now) {
                connection.late(now, &mut self.shared);
            }
        }
    }

    /// Begins what can begin on one connection. Says whether that was anything.
    fn begin(&mut self, place: usize, work: &mut Work, since: Since) -> bool {
        let connection = &self.connections[place];
        let room = match self.shared.settings.mode {
            _ if !connection.is_open() => 0,
            Mode::Parallel => self.shared.settings.pipeline - connection.in_flight(),
            Mode::OneAtATime => 1,
        };
        let server = connection.server;
        for begun in 0..room {
            let Some(operation) = work.next(server, since.now - since.began) else { return begun > 0 };
            if !self.connections[place].is_still_open(since.now, &mut self.shared) {
                work.put_back(server, operation);
                return false;
            }
            self.ask(place, operation, since);
        }
        room > 0
    }

    fn send(&mut self, place: usize, now: Instant) {
        self.connections[place].send(now, &mut self.shared);
    }

    fn ask(&mut self, place: usize, operation: Operation, since: Since) {
        let Self { shared, key, value, .. } = self;
        let begun = Begun { oldest: shared.tally.oldest(operation.key), ..since.begin(operation) };
        keys::name(operation.key, key);
        let request = match operation.kind {
            Kind::Get => Request::Get { key },
            Kind::Set => {
                let flags = shared.tally.write(operation.key, value);
                Request::Set { key, value, flags, expiry: shared.settings.expiry }
            }
        };
        self.connections[place].ask(begun, request, since.now + shared.settings.timeout);
        self.turn = (place + 1) % self.connections.len();
    }

    /// How many connections were given up and why one was, in words; `None` when all are there.
    fn given_up(&self) -> Option<String> {
        let mut given_up = self.connections.iter().filter_map(Connection::given_up);
        let why = given_up.next()?;
        let (count, all) = (1 + given_up.count(), self.connections.len());
        Some(format!("{count} of {all} connections were given up, one because: {why}"))
    }

    /// Fails what is for a server all of whose connections were given up.
    fn bury(&mut self, work: &mut Work, since: Since) {
        let given_up = |connection: &Connection| connection.given_up().is_some();
        if !self.connections.iter().any(given_up) {
            return;
        }
        // When nobody is left there is nothing to wait for.
        let all = self.connections.iter().all(given_up);
        let by_now = if all { Duration::MAX } else { since.now - since.began };
        for server in 0..self.shared.settings.servers.len() {
            let mut of_it = self.connections.iter().filter(|connection| connection.server == server);
            if !of_it.clone().all(given_up) {
                continue;
            }
            let why = of_it.find_map(Connection::given_up).unwrap_or_default().to_owned();
            while let Some(operation) = work.next(server, by_now) {
                self.shared.tally.failed(since.begin(operation), &format!("given up: {why}"));
            }
        }
    }

    fn in_flight(&self) -> usize {
        self.connections.iter().map(Connection::in_flight).sum()
    }

    /// Waits until a connection has something, or is late, or an operation is due.
    fn wait(&mut self, now: Instant, due: Option<Instant>) -> Result<(), Box<dyn Error>> {
        // What is due and did not begin waits for a connection, and not for a time.
        let due =
            due.filter(|due| *due > now).map(|due| due.checked_sub(TIMER_ERROR).map_or(now, |early| early.max(now)));
        self.late = self.connections.iter().filter_map(Connection::until).min();
        let until = self.late.into_iter().chain(due).min();
        if let Some(until) = until
            && self.timer.as_ref().is_none_or(|(at, _)| *at > until || *at <= now)
        {
            self.timer = Some((until, Timer::after(until.saturating_duration_since(now))));
        }
        self.places.clear();
        let mut interests: Vec<Interest<'_>> = Vec::with_capacity(self.connections.len() + 1);
        for (place, connection) in self.connections.iter().enumerate() {
            for interest in connection.interests() {
                interests.push(interest);
                self.places.push(place);
            }
        }
        interests.extend(self.timer.iter().map(|(_, timer)| timer.elapsed()));
        let found = wait(&interests, None)?;
        // The timer has no place: it has done its work by ending the wait.
        self.ready.clear();
        self.ready.extend(found.into_iter().filter_map(|found| self.places.get(found)));
        // A connection may have waited for both directions.
        self.ready.dedup();
        Ok(())
    }
}

/// The times of one turn.
#[derive(Debug, Clone, Copy)]
struct Since {
    /// The work.
    began: Instant,
    /// This turn.
    now: Instant,
    /// Whether its operations are samples.
    measured: bool,
}

impl Since {
    fn begin(self, operation: Operation) -> Begun {
        let name = operation.kind.name();
        let sample = self.measured.then(|| match operation.due {
            None => Sample::start(name),
            Some(due) => {
                let sample = Sample::since(name, self.began.elapsed().saturating_sub(due), Some("queue"));
                sample.phase("service");
                sample
            }
        });
        Begun { operation, oldest: 0, sample }
    }
}
