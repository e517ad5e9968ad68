//! A TCP socket before it is anything, and connecting.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::connection::Connection;
use super::listener::Listener;
use super::settings::Settings;
use super::stream::Stream;
use crate::backend::{OptionKind, Options, Pending, SocketOption, TcpListener, TcpSocket, TcpStream};
use crate::error::{Error, Result};
use crate::shape::dice::{Dice, Effect, Owner};
use crate::shape::handshake;
use crate::shape::opening::{Opened, OpeningDice};
use crate::shape::profile::{Failure, Operation, Protocol};
use crate::throttled::account::Way;
use crate::throttled::core::Ground;
use crate::throttled::course::Course;
use crate::throttled::showing::Showing;
use crate::throttled::slots::Slot;
use crate::throttled::terms::Terms;

pub struct Socket {
    inner: Box<dyn TcpSocket>,
    ground: Ground,
    number: u64,
    settings: Settings,
    slot: Slot,
}

impl Socket {
    pub fn new(inner: Box<dyn TcpSocket>, ground: Ground, slot: Slot) -> Self {
        let number = ground.core.birth();
        Self { inner, ground, number, settings: Settings::default(), slot }
    }
}

impl Options for Socket {
    fn option(&self, kind: OptionKind) -> Pending<SocketOption> {
        self.settings.option(&self.ground.core, &*self.inner, kind)
    }

    fn set_option(&self, option: SocketOption) -> Pending<()> {
        self.settings.set_option(&self.ground.core, &*self.inner, option)
    }
}

impl TcpSocket for Socket {
    fn bind(&self, local: SocketAddr) -> Pending<SocketAddr> {
        self.inner.bind(local)
    }

    fn connect(self: Box<Self>, remote: SocketAddr) -> Pending<Arc<dyn TcpStream>> {
        let Self { inner, ground, number, settings, slot } = *self;
        Box::pin(async move {
            let (inner, courses) = match Attempt::new(&ground, number, remote) {
                Some(attempt) => attempt.run(inner, remote).await?,
                None => (inner.connect(remote).await?, None),
            };
            let (up, down) = courses.unzip();
            let connection = Connection::new(ground, number, inner, settings, up, down);
            Ok(Arc::new(Stream::new(connection, slot)) as Arc<dyn TcpStream>)
        })
    }

    fn listen(self: Box<Self>, backlog: u32) -> Pending<Arc<dyn TcpListener>> {
        let Self { inner, ground, number, settings, slot } = *self;
        let inner = inner.listen(backlog);
        Box::pin(async move {
            let inner = inner.await?;
            Ok(Arc::new(Listener::new(inner, ground, number, settings, backlog, slot)) as Arc<dyn TcpListener>)
        })
    }
}

/// A connect that a rule decides about.
struct Attempt<'a> {
    ground: &'a Ground,
    number: u64,
    remote: SocketAddr,
    dice: OpeningDice,
    stalls: Dice,
}

/// How a connect is to go, on the terms of the moment.
struct Plan {
    /// When the connection inside is to be made: once the guest's part of it has come there. Or when it has failed.
    arrives: Instant,
    /// How long the answer is on its way.
    back: Duration,
    failure: Option<Failure>,
    courses: (Course, Course),
    /// The last of it is a stall.
    _stall: Option<Showing>,
}

impl<'a> Attempt<'a> {
    fn new(ground: &'a Ground, number: u64, remote: SocketAddr) -> Option<Self> {
        let rule = ground.core.terms().rule(Operation::Connect, Some(Protocol::Tcp), Some(remote))?;
        let rule = u32::try_from(rule).unwrap_or(u32::MAX);
        let owner = Owner { socket: number, rule, way: Way::Up, effect: Effect::StallConnect };
        Some(Self {
            ground,
            number,
            remote,
            dice: OpeningDice::connect(ground.core.seed, number, rule),
            stalls: ground.core.seed.dice(owner),
        })
    }

    /// `None` where no rule decides.
    fn plan(&mut self, terms: &Terms) -> Option<Plan> {
        let core = &self.ground.core;
        let rule = terms.rule(Operation::Connect, Some(Protocol::Tcp), Some(self.remote))?;
        let now = Instant::now();
        let time = core.since(now);
        let effects = terms.effects(rule, time)?;
        let course = |way| terms.course(rule, way, core.seed, self.number);
        let (mut up, mut down) = (course(Way::Up)?, course(Way::Down)?);
        let dice = &mut self.dice;
        let opened =
            Course::legs(&mut up, &mut down, |up, down| handshake::connect(time, up, down, &effects.connect, dice));
        let stall = effects.stalls.connect.draw(&mut self.stalls);
        let Opened { after, failure } = opened;
        let back = if failure.is_some() { Duration::ZERO } else { effects.down.delay.base.min(after) };
        let stalls = core.at(time.saturating_add(after - back));
        let arrives = core.after(stalls, stall.unwrap_or_default());
        let stall = stall.map(|_| Showing::new(core, |quirks| &mut quirks.connect_stalls, stalls, arrives));
        Some(Plan { arrives, back, failure, courses: (up, down), _stall: stall })
    }

    async fn run(
        mut self,
        inner: Box<dyn TcpSocket>,
        remote: SocketAddr,
    ) -> Result<(Arc<dyn TcpStream>, Option<(Course, Course)>)> {
        let ground = self.ground;
        // On new terms it is decided anew, as if the guest had asked then.
        let plan = loop {
            let renewed = ground.core.renewed();
            let mut renewed = pin!(renewed);
            renewed.as_mut().enable();
            let Some(plan) = self.plan(&ground.core.terms()) else { break None };
            tokio::select! {
                biased;
                () = renewed => {}
                () = ground.until(plan.arrives) => break Some(plan),
            }
        };
        let Some(plan) = plan else { return Ok((inner.connect(remote).await?, None)) };
        if let Some(failure) = plan.failure {
            ground.core.quirks.note(|quirks| quirks.connects_failed += 1);
            return Err(match failure {
                Failure::Refused => Error::ConnectionRefused,
                Failure::Unreachable => Error::RemoteUnreachable,
                Failure::Timeout(_) => Error::Timeout,
            });
        }
        let result = inner.connect(remote).await;
        // However long that took: what is inside may be a link too.
        ground.until(ground.core.after(Instant::now(), plan.back)).await;
        Ok((result?, Some(plan.courses)))
    }
}
