//! Addresses that nobody has any more, and that are still taken: something in hand is to be sent from there.
//!
//! A guest that drops a UDP socket may bind its address again at once. So whoever finds such an address in use waits
//! until what is in hand has gone.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::core::Core;
use crate::backend::UdpSocket;
use crate::error::{Error, Result};
use crate::sync::lock;

#[derive(Default)]
pub struct Leftovers {
    taken: Mutex<Vec<SocketAddr>>,
    freed: Notify,
}

/// An address that is taken until this is dropped.
pub struct Leftover {
    core: Arc<Core>,
    address: SocketAddr,
}

impl Leftover {
    pub fn new(core: &Arc<Core>, address: SocketAddr) -> Self {
        lock(&core.leftovers.taken).push(address);
        Self { core: core.clone(), address }
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        let Leftovers { taken, freed } = &self.core.leftovers;
        let mut taken = lock(taken);
        if let Some(place) = taken.iter().position(|address| *address == self.address) {
            taken.swap_remove(place);
        }
        drop(taken);
        freed.notify_waiters();
    }
}

impl Leftovers {
    fn holds(&self, wanted: SocketAddr) -> bool {
        let collides = |taken: &SocketAddr| {
            let everywhere = taken.ip().is_unspecified() || wanted.ip().is_unspecified();
            taken.port() == wanted.port() && (taken.ip() == wanted.ip() || everywhere)
        };
        lock(&self.taken).iter().any(collides)
    }

    /// Binds, as soon as only others than leftovers could be in the way.
    pub async fn bind(&self, inner: &Arc<dyn UdpSocket>, local: SocketAddr) -> Result<SocketAddr> {
        loop {
            let freed = self.freed.notified();
            let mut freed = pin!(freed);
            freed.as_mut().enable();
            match inner.bind(local).await {
                Err(Error::AddressInUse) if self.holds(local) => freed.await,
                answer => return answer,
            }
        }
    }
}
