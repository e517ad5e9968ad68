//! `wasi:io/streams`: of connections, and of everything else a guest reads and writes.
//!
//! - [`reader`] and [`writer`]: the two halves of a connection, which hang on one [`wrun_net::TcpStream`];
//! - [`interface`]: the standard's functions over those and over wasmtime-wasi's streams.
//!
//! What is left out: how other streams work. Files and the standard streams are wasmtime-wasi's.

mod interface;
mod reader;
mod writer;

use std::sync::{Mutex, MutexGuard, PoisonError};

use wasmtime_wasi::p2::StreamError;
use wrun_net::Error;

use super::error::code;
use super::scratch;
pub use interface::{add_to_linker, input, output};
pub use reader::Reader;
pub use writer::Writer;

/// The most that one read or write moves: what wasmtime's own streams grant, and enough to keep a socket busy.
const MAX_PIECE: usize = scratch::SIZE;

/// An error of the socket, as the stream's last failed operation. Guests get its code back through
/// `network-error-code`.
fn failed(error: Error) -> StreamError {
    match code(&error) {
        Ok(_) => StreamError::LastOperationFailed(error.into()),
        Err(rig) => StreamError::Trap(rig.into()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
