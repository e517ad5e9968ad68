//! How many sockets a board can have open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::core::Core;
use crate::error::{Error, Result};

/// Those that are taken.
#[derive(Default)]
pub struct Slots(AtomicU32);

/// One that is taken, until it is dropped.
pub struct Slot(Arc<Core>);

impl Slot {
    pub fn take(core: &Arc<Core>) -> Result<Self> {
        let limit = core.terms().profile.board.sockets.unwrap_or(u32::MAX);
        // The count guards nothing but itself.
        let take = |taken: u32| if taken < limit { taken.checked_add(1) } else { None };
        match core.slots.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(_) => Ok(Self(core.clone())),
            Err(_) => {
                core.quirks.note(|quirks| quirks.sockets_refused += 1);
                Err(Error::NewSocketLimit)
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.slots.0.fetch_sub(1, Ordering::Relaxed);
    }
}
