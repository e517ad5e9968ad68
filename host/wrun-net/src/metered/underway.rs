//! Calls that may wait, from their start on.
//!
//! A guest may give such a call up, which is the drop of its future and nothing else. So both are told of when they are
//! dropped, with the answer if there was one by then.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::tape::{Call, Lookup, Tape};
use crate::error::Result;

/// A call of a socket, for a log that wants every call.
pub struct Underway {
    tape: Arc<Tape>,
    call: Call,
}

impl Underway {
    /// A call that begins now, unless the log wants none.
    pub fn begin(tape: &Arc<Tape>, socket: u64, name: &'static str, detail: impl FnOnce() -> String) -> Option<Self> {
        let start = tape.start()?;
        let call = Call { socket, name, start, took: Duration::ZERO, detail: detail(), bytes: None, outcome: None };
        Some(Self { tape: tape.clone(), call })
    }

    /// It was answered.
    pub fn answered<T>(&mut self, result: &Result<T>) {
        self.call.outcome = Some(result.as_ref().map(drop).map_err(Clone::clone));
    }

    /// It was answered with more than that it is done.
    pub fn answered_with<T>(&mut self, result: &Result<T>, words: impl FnOnce(&T) -> String) {
        if let Ok(answer) = result {
            self.call.detail.push_str(&words(answer));
        }
        self.answered(result);
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.call.took = self.tape.now() - self.call.start;
        self.tape.tell(&self.call);
    }
}

/// A name lookup.
pub struct Asking {
    tape: Arc<Tape>,
    lookup: Lookup,
}

impl Asking {
    /// A lookup that begins now.
    pub fn begin(tape: &Arc<Tape>, name: &str) -> Self {
        let lookup = Lookup { name: name.to_owned(), start: tape.now(), took: Duration::ZERO, outcome: None };
        Self { tape: tape.clone(), lookup }
    }

    pub fn answered(&mut self, found: &Result<Vec<IpAddr>>) {
        self.lookup.outcome = Some(found.clone());
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.lookup.took = self.tape.now() - self.lookup.start;
        self.tape.lookup(self.lookup.clone());
    }
}
