//! The wrapper that impairs: the sockets of the backend inside it, with the behaviour of a [`Profile`].
//!
//! Law: with an empty profile it is indistinguishable from the backend inside. It narrows capabilities, never widens
//! them, but for the send queue of a board that has one.
//!
//! [`crate::shape`] decides; here is what carries it out. `core` is what all sockets share, `terms` a profile in force,
//! `course` one socket's way over a line; `tcp` and `udp` are the sockets, `resolve` the lookups; `alarm` waits, `budget` bounds what is held,
//! and `tally` counts what [`Account`] is made of, `showing` what quirks have taken.
//!
//! What is left out: the guest's clock ([`crate::shape::profile::Board::tick`]), which is whose who gives the guest one.

mod account;
mod alarm;
mod budget;
mod core;
mod course;
mod histogram;
mod leftover;
mod resolve;
mod scratch;
mod showing;
mod slots;
mod talk;
mod tally;
mod tcp;
mod terms;
mod transit;
mod turns;
mod udp;
mod wakes;

use std::net::IpAddr;
use std::sync::Arc;

pub use self::account::{Account, Occurrences, PathAccount, QuirkAccount, Way};
pub use self::alarm::Precision;
use self::core::{Core, Ground};
use self::slots::Slot;
use crate::backend::{Backend, Capabilities, Family, OptionKind, Pending, TcpSocket, UdpSocket};
use crate::error::Result;
use crate::shape::Profile;
use crate::shape::profile::LingerOption;

/// The wrapper.
pub struct Throttled {
    inner: Arc<dyn Backend>,
    core: Arc<Core>,
}

impl Throttled {
    /// Wraps a backend. The regimes of the profile begin now.
    ///
    /// Its sockets are to be opened on a tokio runtime with time, and for [`Precision::Fine`] with I/O. The runtime has to
    /// go on until nothing is in hand any more, or what still is goes with it.
    pub fn new(inner: Arc<dyn Backend>, profile: Profile, seed: u64, precision: Precision) -> Arc<Self> {
        Arc::new(Self { inner, core: Arc::new(Core::new(profile, seed, precision)) })
    }

    /// What the profile has done until now. After [`Self::replace`], the figures of paths are the new profile's.
    pub fn account(&self) -> Account {
        self.core.account()
    }

    /// Puts another profile in place, at any time, without waiting for anybody. Whoever waits is woken, and what waits
    /// for a rate is decided anew; what was on its way keeps its time.
    pub fn replace(&self, profile: Profile) {
        self.core.replace(profile);
    }
}

impl Backend for Throttled {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.inner.capabilities();
        let terms = self.core.terms();
        let board = &terms.profile.board;
        capabilities.name.push_str("+throttled");
        if board.send_queue.is_some() && !capabilities.options.contains(&OptionKind::SendQueue) {
            capabilities.options.push(OptionKind::SendQueue);
        }
        capabilities.options.retain(|kind| {
            let no_linger = *kind == OptionKind::Linger && board.linger.option == LingerOption::NotSupported;
            !no_linger && !board.unsupported.contains(kind)
        });
        capabilities
    }

    fn tcp(&self, family: Family) -> Result<Box<dyn TcpSocket>> {
        let slot = Slot::take(&self.core)?;
        Ok(Box::new(tcp::Socket::new(self.inner.tcp(family)?, Ground::here(&self.core)?, slot)))
    }

    fn udp(&self, family: Family) -> Result<Arc<dyn UdpSocket>> {
        let slot = Slot::take(&self.core)?;
        Ok(Arc::new(udp::Datagrams::new(self.inner.udp(family)?, Ground::here(&self.core)?, slot)))
    }

    fn resolve(&self, name: &str) -> Pending<Vec<IpAddr>> {
        resolve::resolve(&self.inner, &self.core, name)
    }
}
