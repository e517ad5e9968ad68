//! Measuring: a wrapper that changes nothing and notes every call.
//!
//! [`Metered`] is the outermost layer of every stack. It is the only place that reads the measuring clock, which is
//! [`Tape::now`]: the time since the run began. What it notes goes two ways: sums per socket into a [`Meter`], which is
//! cheap and always on, and single [`Call`]s to the [`Log`], only if that asks for them.

mod meter;
mod probe;
mod tape;
mod tcp;
mod udp;
mod underway;

use std::net::IpAddr;
use std::sync::Arc;

pub use self::meter::{End, Meter, Role, Sums};
pub use self::tape::{Call, Log, Lookup, Tape};
use self::underway::{Asking, Underway};
use crate::backend::{Backend, Capabilities, Family, Pending, TcpSocket, UdpSocket};
use crate::error::Result;

/// The wrapper.
pub struct Metered {
    inner: Arc<dyn Backend>,
    tape: Arc<Tape>,
}

impl Metered {
    pub fn new(inner: Arc<dyn Backend>, tape: Arc<Tape>) -> Self {
        Self { inner, tape }
    }
}

impl Backend for Metered {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn tcp(&self, family: Family) -> Result<Box<dyn TcpSocket>> {
        Ok(Box::new(tcp::Socket::new(self.inner.tcp(family)?, &self.tape)))
    }

    fn udp(&self, family: Family) -> Result<Arc<dyn UdpSocket>> {
        Ok(Arc::new(udp::Datagrams::new(self.inner.udp(family)?, &self.tape)))
    }

    fn resolve(&self, name: &str) -> Pending<Vec<IpAddr>> {
        let mut asking = Asking::begin(&self.tape, name);
        let mut underway = Underway::begin(&self.tape, 0, "resolve", || name.to_owned());
        let inner = self.inner.resolve(name);
        Box::pin(async move {
            let found = inner.await;
            asking.answered(&found);
            if let Some(underway) = &mut underway {
                underway.answered_with(&found, |found| format!(" -> {found:?}"));
            }
            found
        })
    }
}
