//! One buffer for everything that is received before its size is known.

use std::cell::RefCell;

/// Bytes: as much as one read of a stream may ask for, and more than the largest datagram.
pub const SIZE: usize = 64 * 1024;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Lends the buffer of this thread. `receive` must not lend it again.
pub fn lend<T>(receive: impl FnOnce(&mut [u8]) -> T) -> T {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.resize(SIZE, 0);
        receive(buffer)
    })
}
