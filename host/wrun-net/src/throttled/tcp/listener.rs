//! A listening TCP socket: connections can be accepted a while after they have come.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll};

use tokio::time::Instant;

use super::closing;
use super::connection::Connection;
use super::settings::Settings;
use super::stream::Stream;
use crate::backend::{OptionKind, Options, Pending, SocketOption, TcpListener, TcpStream};
use crate::error::{Error, Result};
use crate::shape::profile::{Operation, Protocol};
use crate::sync::lock;
use crate::throttled::account::Way;
use crate::throttled::alarm::Bell;
use crate::throttled::core::{Ground, Member, accepted};
use crate::throttled::course::Course;
use crate::throttled::slots::Slot;
use crate::throttled::turns::{TURN, in_turns};
use crate::throttled::wakes::{Waiting, Wakes};

pub struct Listener {
    inner: Arc<dyn TcpListener>,
    shared: Arc<Shared>,
    _slot: Slot,
}

/// What goes on while the guest does not look.
struct Shared {
    ground: Ground,
    number: u64,
    settings: Settings,
    /// How many connections have come.
    came: AtomicU32,
    queue: Mutex<Queue>,
}

struct Queue {
    /// Those that have come, in that order.
    arriving: VecDeque<Arriving>,
    /// The number of the terms that have said from when on they can be accepted.
    terms: u64,
    /// The most that wait here.
    limit: usize,
    pumping: bool,
    over: bool,
    pump: Waiting,
    acceptor: Waiting,
}

/// A connection that has come, or what kept it from coming.
struct Arriving {
    /// From when on it can be accepted.
    due: Instant,
    /// It receives already: what its peer sends counts from when it comes.
    connection: Result<Arc<Connection>>,
}

/// The longest queue of a listener, whatever the guest has asked for.
const MOST: usize = 1024;

impl Listener {
    pub fn new(
        inner: Arc<dyn TcpListener>,
        ground: Ground,
        number: u64,
        settings: Settings,
        backlog: u32,
        slot: Slot,
    ) -> Self {
        let queue = Queue {
            arriving: VecDeque::new(),
            terms: ground.core.current(),
            limit: usize::try_from(backlog).unwrap_or(MOST).clamp(1, MOST),
            pumping: false,
            over: false,
            pump: Waiting::default(),
            acceptor: Waiting::default(),
        };
        let shared = Arc::new_cyclic(|this: &Weak<Shared>| {
            ground.core.enter(number, this.clone());
            Shared { ground, number, settings, came: AtomicU32::new(0), queue: Mutex::new(queue) }
        });
        let listener = Self { inner, shared, _slot: slot };
        listener.watch();
        listener
    }

    /// Starts to accept from inside, if a rule says when connections come. Answers whether one does.
    fn watch(&self) -> bool {
        let is_changed = self.shared.is_changed();
        let mut queue = lock(&self.shared.queue);
        if is_changed && !std::mem::replace(&mut queue.pumping, true) {
            self.shared.ground.spawn(pump(self.shared.clone(), Arc::downgrade(&self.inner)));
        }
        queue.pumping || !queue.arriving.is_empty()
    }

    fn accepted(&self, connection: Arc<Connection>) -> Result<Arc<dyn TcpStream>> {
        match Slot::take(&self.shared.ground.core) {
            Ok(slot) => Ok(Arc::new(Stream::new(connection, slot))),
            Err(error) => {
                // A board that has no place for it does not keep it.
                closing::refuse(&connection);
                Err(error)
            }
        }
    }
}

impl Shared {
    /// Whether any rule could say when a connection comes.
    fn is_changed(&self) -> bool {
        self.ground.core.terms().any(Operation::Connect, Protocol::Tcp, |effects| !effects.down.is_clear())
    }

    /// When a connection of this number can be accepted that has come now, and the course that its peer's part of the
    /// handshake has taken.
    fn way_here(&self, number: u64, remote: Option<SocketAddr>) -> (Instant, Option<Course>) {
        let core = &self.ground.core;
        let now = Instant::now();
        let terms = core.terms();
        let rule = terms.rule(Operation::Connect, Some(Protocol::Tcp), remote);
        match rule.and_then(|rule| terms.course(rule, Way::Down, core.seed, number)) {
            Some(mut course) => (core.at(course.opening(core.since(now))), Some(course)),
            None => (now, None),
        }
    }

    /// A number for the next connection.
    fn next(&self) -> u64 {
        accepted(self.number, self.came.fetch_add(1, Ordering::Relaxed))
    }

    /// A connection that has come, as a rule may change it.
    fn connection(&self, inner: Arc<dyn TcpStream>, number: u64, course: Option<Course>) -> Arc<Connection> {
        Connection::new(self.ground.clone(), number, inner, self.settings.clone(), None, course)
    }

    fn arrive(&self, accepted: Result<Arc<dyn TcpStream>>) {
        let number = self.next();
        let remote = accepted.as_ref().ok().and_then(|inner| inner.peer_address().ok());
        let (due, course) = self.way_here(number, remote);
        let connection = accepted.map(|inner| self.connection(inner, number, course));
        let mut queue = lock(&self.queue);
        let due = queue.arriving.back().map_or(due, |last| due.max(last.due));
        queue.arriving.push_back(Arriving { due, connection });
    }

    /// On other terms, those that cannot be accepted yet are as if they came now.
    fn renew(&self, queue: &mut Queue, now: Instant) {
        let current = self.ground.core.current();
        if std::mem::replace(&mut queue.terms, current) == current {
            return;
        }
        let mut last = now;
        for Arriving { due, connection } in queue.arriving.iter_mut().filter(|arriving| arriving.due > now) {
            let Ok(connection) = connection else { continue };
            let (anew, _) = self.way_here(connection.number, connection.inner.peer_address().ok());
            last = last.max(anew);
            *due = last;
        }
    }
}

impl Options for Listener {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        self.shared.settings.option(&self.shared.ground.core, &*self.inner, kind)
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        self.shared.settings.set_option(&self.shared.ground.core, &*self.inner, option)
    }
}

impl TcpListener for Listener {
    fn try_accept(&self) -> Result<Arc<dyn TcpStream>> {
        if !self.watch() {
            let inner = self.inner.try_accept()?;
            return self.accepted(self.shared.connection(inner, self.shared.next(), None));
        }
        let mut wakes = Wakes::default();
        let mut queue = lock(&self.shared.queue);
        let Some(arrived) = queue.arriving.pop_front_if(|first| first.due <= Instant::now()) else {
            return Err(Error::WouldBlock);
        };
        wakes.add(&mut queue.pump);
        drop(queue);
        self.accepted(arrived.connection?)
    }

    fn poll_accept_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.watch() {
            if self.inner.poll_accept_ready(cx).is_ready() {
                return Poll::Ready(());
            }
            let _replaced = lock(&self.shared.queue).acceptor.keep(cx);
            return Poll::Pending;
        }
        let mut queue = lock(&self.shared.queue);
        if queue.arriving.front().is_some_and(|first| first.due <= Instant::now()) {
            return Poll::Ready(());
        }
        let replaced = queue.acceptor.keep(cx);
        drop(queue);
        drop(replaced);
        Poll::Pending
    }

    fn local_address(&self) -> Result<SocketAddr> {
        self.inner.local_address()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut wakes = Wakes::default();
        let mut queue = lock(&self.shared.queue);
        queue.over = true;
        let arrived = std::mem::take(&mut queue.arriving);
        wakes.add(&mut queue.pump);
        drop(queue);
        // As of any listener that goes: nobody will ever answer there.
        arrived.into_iter().filter_map(|arrived| arrived.connection.ok()).for_each(|it| closing::refuse(&it));
    }
}

impl Member for Shared {
    fn renewed(self: Arc<Self>) {
        let mut wakes = Wakes::default();
        let mut queue = lock(&self.queue);
        wakes.add(&mut queue.acceptor);
        wakes.add(&mut queue.pump);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.ground.core.leave(self.number);
    }
}

/// Accepts from the listener inside, for as long as the guest has its own.
async fn pump(shared: Arc<Shared>, inner: Weak<dyn TcpListener>) {
    let mut bell = shared.ground.bell();
    in_turns(|cx| poll(&shared, &inner, &mut bell, cx)).await;
}

fn poll(
    shared: &Shared,
    inner: &Weak<dyn TcpListener>,
    bell: &mut Bell,
    cx: &mut Context<'_>,
) -> Poll<ControlFlow<()>> {
    for _ in 0..TURN {
        let mut wakes = Wakes::default();
        let (has_room, deadline) = {
            let mut queue = lock(&shared.queue);
            if queue.over {
                return Poll::Ready(ControlFlow::Break(()));
            }
            let replaced = queue.pump.keep(cx);
            let now = Instant::now();
            shared.renew(&mut queue, now);
            let first = queue.arriving.front().map(|first| first.due);
            if first.is_some_and(|due| due <= now) {
                wakes.add(&mut queue.acceptor);
            }
            let has_room = queue.arriving.len() < queue.limit;
            drop(queue);
            drop(replaced);
            (has_room, first.filter(|due| *due > now))
        };
        drop(wakes);
        // Held for this one look only, so that its address is free as soon as the guest's listener is gone.
        let Some(inner) = inner.upgrade() else { return Poll::Ready(ControlFlow::Break(())) };
        if has_room && inner.poll_accept_ready(cx).is_ready() {
            let accepted = inner.try_accept();
            if accepted.as_ref().err() != Some(&Error::WouldBlock) {
                shared.arrive(accepted);
            }
        } else if deadline.is_none_or(|deadline| bell.poll(deadline, cx).is_pending()) {
            return Poll::Pending;
        }
    }
    Poll::Ready(ControlFlow::Continue(()))
}
