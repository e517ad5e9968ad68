//! Who has spoken last, for the waits that a turn of the talk begins with.

use std::sync::atomic::{AtomicBool, Ordering};

pub struct Talk {
    /// Something was sent, and nothing received since.
    pub asked: AtomicBool,
    /// Something was received since anything was sent, or nothing was ever sent.
    pub turn: AtomicBool,
}

impl Default for Talk {
    fn default() -> Self {
        Self { asked: AtomicBool::new(false), turn: AtomicBool::new(true) }
    }
}

impl Talk {
    pub fn sent(&self) {
        // Nothing else is published by them.
        self.asked.store(true, Ordering::Relaxed);
        self.turn.store(false, Ordering::Relaxed);
    }

    pub fn received(&self) {
        self.turn.store(true, Ordering::Relaxed);
    }
}
