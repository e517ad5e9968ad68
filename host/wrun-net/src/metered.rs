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

use std::net::IpAddr;
use std::sync::Arc;

pub use self::meter::{End, Meter, Role, Sums};
use self::tape::Note;
pub use self::tape::{Call, Log, Lookup, Tape};
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
        let (tape, name) = (self.tape.clone(), name.to_owned());
        let start = tape.now();
        let inner = self.inner.resolve(&name);
        Box::pin(async move {
            let outcome = inner.await;
            let took = tape.now() - start;
            tape.call(tape.start().map(|_| start), &outcome, || Note {
                socket: 0,
                name: "resolve",
                detail: outcome.as_ref().map_or_else(|_| name.clone(), |found| format!("{name} -> {found:?}")),
                bytes: None,
            });
            tape.lookup(Lookup { name, start, took, outcome: outcome.clone() });
            outcome
        })
    }
}
