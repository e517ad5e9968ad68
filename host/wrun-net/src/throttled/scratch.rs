//! A buffer with room for any datagram, lent to whoever is just receiving one.

use std::cell::Cell;

/// The most that a datagram can be.
const LARGEST: usize = 65_535;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Whoever asks while it is lent gets one of his own.
pub fn lend<T>(receive: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut buffer = BUFFER.take();
    buffer.resize(LARGEST, 0);
    let received = receive(&mut buffer);
    BUFFER.set(buffer);
    received
}
