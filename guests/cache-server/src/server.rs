//! The loop that all connections are served from.
//!
//! A connection that was ready is tried again before anything is waited for, as long as it stays busy: what is there
//! already costs no wait. Each turn is bounded, and the others are looked at in between.

use std::error::Error;
use std::io::{self, ErrorKind, Write as _};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cache::server::Cache;
use cache::store::Store;
use wrun_guest::{ErrorCode, Family, Interest, TcpListener, TcpOptions, TcpSocket, error_code, wait};

use crate::args::Settings;
use crate::connection::{Buffers, Connection, Turn};
use crate::memory;
use crate::tally::Tally;

/// Connections that wait to be accepted.
const BACKLOG: u64 = 1024;

/// How often limits of time are looked at.
const INSPECTION: Duration = Duration::from_millis(100);

/// Serves until it is ended from outside.
///
/// # Errors
/// When there is not the memory, it cannot listen, or nothing can be waited for.
pub fn serve(settings: &Settings) -> Result<(), Box<dyn Error>> {
    memory::reserve(settings)?;
    let mut server = Server::new(settings)?;
    println!("{}", server.listener.local_addr()?);
    io::stdout().flush()?;
    loop {
        server.turn()?;
    }
}

/// A server, between two turns.
struct Server {
    settings: Settings,
    listener: TcpListener,
    cache: Cache,
    clock: Clock,
    connections: Vec<Option<Connection>>,
    /// Places in `connections` that are empty.
    vacant: Vec<usize>,
    /// Places of those that may have more to read at once.
    busy: Vec<usize>,
    /// Bytes of answers that were not taken, of all connections.
    unsent: usize,
    /// Since when there are too many of them.
    over_since: Option<Instant>,
    /// The place behind the last that could be answered, where the next turn begins.
    next: usize,
    buffers: Buffers,
    tally: Tally,
    /// When limits of time are looked at next.
    inspection: Instant,
    /// Whether nobody could be accepted, mostly for want of sockets, until one is closed or time has passed.
    full: bool,
}

impl Server {
    fn new(settings: &Settings) -> Result<Self, Box<dyn Error>> {
        let socket = TcpSocket::new(Family::of(settings.listen))?;
        // Connections inherit these. Where there is no such option it is as it is.
        _ = socket.set_nodelay(true);
        _ = socket.set_keep_alive(true);
        socket.bind(settings.listen)?;
        let listener = socket.listen(Some(BACKLOG))?;
        let clock = Clock::start();
        let now = clock.started;
        let mut cache = Cache::new(Store::new(settings.memory, settings.max_item), clock.seconds(now));
        cache.traffic.connections_limit = settings.connections as u64;
        Ok(Self {
            settings: *settings,
            listener,
            cache,
            clock,
            connections: Vec::new(),
            vacant: Vec::new(),
            busy: Vec::new(),
            unsent: 0,
            over_since: None,
            next: 0,
            buffers: Buffers::new(settings.read),
            tally: Tally::new(now),
            inspection: now,
            full: false,
        })
    }

    /// Waits for whoever is ready, and serves them.
    fn turn(&mut self) -> io::Result<()> {
        let now = Instant::now();
        self.cache.now = self.clock.seconds(now);
        self.inspect(now);
        self.relieve(now);
        let pause = self.tally.tell(&self.cache, now);
        let rests = self.busy.is_empty() || self.is_over();
        let timeout = if rests { self.patience(now, pause) } else { Some(Duration::ZERO) };
        let (accepts, ready) = self.wait(timeout)?;
        // Time has passed.
        let now = Instant::now();
        self.cache.now = self.clock.seconds(now);
        let mut places = std::mem::take(&mut self.busy);
        places.extend(ready);
        places.sort_unstable();
        places.dedup();
        let next = places.partition_point(|place| *place < self.next);
        places.rotate_left(next);
        for place in places.drain(..) {
            self.serve(place, now);
        }
        if accepts {
            self.accept(now);
        }
        Ok(())
    }

    /// How long nothing needs to be done; `None` is for ever.
    fn patience(&self, now: Instant, pause: Option<Duration>) -> Option<Duration> {
        let watched = self.full || self.settings.idle_timeout.is_some() && self.cache.traffic.connections > 0;
        let sending = self.connections.iter().flatten().any(Connection::is_sending);
        let inspection = (watched || sending).then(|| self.inspection.saturating_duration_since(now));
        [pause, inspection].into_iter().flatten().min()
    }

    /// Whether there is somebody to accept, and the places of connections that can be served.
    fn wait(&self, timeout: Option<Duration>) -> io::Result<(bool, Vec<usize>)> {
        let accepts = !self.full && self.cache.traffic.connections < self.settings.connections as u64;
        let mut interests: Vec<Interest<'_>> = Vec::with_capacity(self.connections.len() + 1);
        let mut places = Vec::with_capacity(self.connections.len());
        for (place, connection) in self.connections.iter().enumerate() {
            let Some(connection) = connection else { continue };
            let stream = connection.stream();
            match connection.is_sending() {
                true => interests.push(stream.writable()),
                false if self.is_over() => continue,
                false => interests.push(stream.readable()),
            }
            places.push(place);
        }
        if accepts {
            interests.push(self.listener.acceptable());
        }
        let mut ready = wait(&interests, timeout)?;
        let accepts = ready.pop_if(|last| *last == places.len()).is_some();
        ready.iter_mut().for_each(|ready| *ready = places[*ready]);
        Ok((accepts, ready))
    }

    fn serve(&mut self, place: usize, now: Instant) {
        let may_answer = !self.is_over();
        if may_answer {
            self.next = place + 1;
        }
        let Some(connection) = &mut self.connections[place] else { return };
        self.unsent -= connection.unsent();
        let turn = connection.turn(&mut self.buffers, &mut self.cache, now, may_answer);
        self.unsent += connection.unsent();
        self.after(place, turn);
    }

    /// Does what a turn has come to.
    fn after(&mut self, place: usize, turn: Turn) {
        match turn {
            Turn::Busy => self.busy.push(place),
            Turn::Waiting => {}
            Turn::Over => self.take(place).into_iter().for_each(|over| over.close(&mut self.cache.store)),
            Turn::Broken => self.cut(place),
        }
    }

    /// Whether there are so many answers that nobody took that none are added.
    fn is_over(&self) -> bool {
        self.unsent > memory::most_unsent(&self.settings)
    }

    /// Accepts whoever waits, as far as there may be more.
    fn accept(&mut self, now: Instant) {
        while self.cache.traffic.connections < self.settings.connections as u64 {
            match self.listener.try_accept() {
                Ok(stream) => {
                    let place = self.vacant.pop().unwrap_or_else(|| {
                        self.connections.push(None);
                        self.connections.len() - 1
                    });
                    self.connections[place] = Some(Connection::new(stream, now));
                    self.cache.traffic.connections += 1;
                    self.cache.traffic.connections_accepted += 1;
                    // What it has to say is often there already.
                    self.busy.push(place);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // Of one connection that is gone already.
                Err(error) if error_code(&error) == Some(ErrorCode::ConnectionAborted) => {}
                Err(_) => {
                    self.full = true;
                    return;
                }
            }
        }
    }

    /// Takes a connection out, to end it.
    fn take(&mut self, place: usize) -> Option<Connection> {
        let connection = self.connections[place].take()?;
        self.unsent -= connection.unsent();
        self.vacant.push(place);
        self.cache.traffic.connections -= 1;
        self.full = false;
        Some(connection)
    }

    fn cut(&mut self, place: usize) {
        self.take(place).into_iter().for_each(|connection| connection.cut(&mut self.cache.store));
    }

    /// Cuts those that keep the most answers, to half of what may be kept, where there have been too many for a while:
    /// nobody is answered until then, and clients that take their answers have taken enough of them meanwhile.
    fn relieve(&mut self, now: Instant) {
        if !self.is_over() {
            self.over_since = None;
            return;
        }
        let end = *self.over_since.get_or_insert(now) + INSPECTION;
        if now < end {
            self.inspection = self.inspection.min(end);
            return;
        }
        self.over_since = None;
        while self.unsent > memory::most_unsent(&self.settings) / 2 {
            let unsent = |place: &usize| self.connections[*place].as_ref().map_or(0, Connection::unsent);
            let Some(most) = (0..self.connections.len()).max_by_key(unsent) else { break };
            self.tally.dropped += 1;
            self.cut(most);
        }
    }

    /// Ends connections that are silent for too long, and cuts those that take no answers for too long.
    fn inspect(&mut self, now: Instant) {
        if now < self.inspection {
            return;
        }
        self.inspection = now + INSPECTION;
        self.full = false;
        let Settings { send_timeout, idle_timeout, .. } = self.settings;
        for place in 0..self.connections.len() {
            let Some(connection) = &mut self.connections[place] else { continue };
            let silent = now.saturating_duration_since(connection.active);
            if connection.is_sending() {
                if silent >= send_timeout {
                    self.tally.dropped += 1;
                    self.cut(place);
                }
            } else if idle_timeout.is_some_and(|limit| silent >= limit) {
                self.tally.dropped += 1;
                let turn = connection.end(now);
                self.after(place, turn);
            }
        }
    }
}

/// The time since 1970, carried on from when the server started by the clock that never jumps.
#[derive(Debug, Clone, Copy)]
struct Clock {
    started: Instant,
    epoch: Duration,
}

impl Clock {
    fn start() -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { started: Instant::now(), epoch }
    }

    fn seconds(&self, now: Instant) -> u32 {
        let time = self.epoch + now.saturating_duration_since(self.started);
        u32::try_from(time.as_secs()).unwrap_or(u32::MAX)
    }
}
