//! What every wrapped socket carries: its meter, and the tape.

use std::sync::Arc;
use std::time::Duration;

use super::meter::{Meter, Role};
use super::tape::{Note, Tape};
use super::underway::Underway;
use crate::backend::Pending;
use crate::error::{Error, Result};

#[derive(Clone)]
pub struct Probe {
    pub tape: Arc<Tape>,
    pub meter: Arc<Meter>,
}

impl Probe {
    pub fn new(tape: &Arc<Tape>, role: Role) -> Self {
        Self { tape: tape.clone(), meter: tape.meter(role) }
    }

    pub fn start(&self) -> Option<Duration> {
        self.tape.start()
    }

    /// A call that began at `start` has ended.
    pub fn call<T>(
        &self,
        name: &'static str,
        start: Option<Duration>,
        bytes: Option<usize>,
        result: &Result<T>,
        detail: impl FnOnce() -> String,
    ) {
        self.tape.call(start, result, || Note { socket: self.meter.socket, name, detail: detail(), bytes });
    }

    /// A call that may wait begins, if the log wants to know.
    pub fn begin(&self, name: &'static str, detail: impl FnOnce() -> String) -> Option<Underway> {
        Underway::begin(&self.tape, self.meter.socket, name, detail)
    }

    /// Makes a call that may wait, and notes its end.
    pub fn wait<T: Send + 'static>(
        &self,
        name: &'static str,
        call: impl FnOnce() -> Pending<T>,
        detail: impl FnOnce() -> String,
    ) -> Pending<T> {
        let underway = self.begin(name, detail);
        let inner = call();
        let Some(mut underway) = underway else { return inner };
        Box::pin(async move {
            let result = inner.await;
            underway.answered(&result);
            result
        })
    }

    pub fn sent(&self, result: &Result<usize>) {
        let mut sums = self.meter.lock();
        match result {
            Ok(bytes) => sums.sent(*bytes, self.tape.now()),
            Err(Error::WouldBlock) => sums.send_would_blocks += 1,
            Err(error) => sums.failed(error),
        }
    }

    pub fn received(&self, result: &Result<usize>) {
        let mut sums = self.meter.lock();
        match result {
            Ok(bytes) => sums.received(*bytes, self.tape.now()),
            Err(Error::WouldBlock) => sums.receive_would_blocks += 1,
            Err(error) => sums.failed(error),
        }
    }
}

/// Notes the end of a socket when it is dropped. It goes along when the socket becomes another object.
pub struct Life(Probe);

impl Life {
    pub fn of(probe: &Probe) -> Self {
        Self(probe.clone())
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        let now = self.0.tape.now();
        self.0.meter.lock().dropped(now);
    }
}
