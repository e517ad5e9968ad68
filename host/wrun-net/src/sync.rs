//! The crate's one way to take a lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock that a panic elsewhere does not poison: everything under one is whole between any two statements that could
/// panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
