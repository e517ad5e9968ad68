//! How much of this machine a guest may use: memory, and as many files as there may be.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wasmtime::{ResourceLimiter, Result};

/// What the host pays for an entry of a table, in bytes.
const TABLE_ENTRY: usize = 16;

/// Instances, memories and tables of one guest: a component of many modules has some dozens.
const MAX_PARTS: usize = 1000;

/// The guest asked for more memory than it may have.
#[derive(Debug, thiserror::Error)]
#[error("the guest asked for {asked} bytes of memory, of {max} it may have")]
pub struct MemoryExceeded {
    asked: usize,
    max: usize,
}

/// Counts the memories and tables of a guest together, and ends it when they pass the bound: a guest that is merely
/// refused aborts in a less clear way.
pub struct Limits {
    max: usize,
    used: usize,
}

impl Limits {
    pub fn new(max: usize) -> Self {
        Self { max, used: 0 }
    }

    fn grow(&mut self, bytes: usize) -> Result<bool> {
        let asked = self.used.saturating_add(bytes);
        if asked > self.max {
            return Err(MemoryExceeded { asked, max: self.max }.into());
        }
        self.used = asked;
        Ok(true)
    }
}

impl ResourceLimiter for Limits {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        self.grow(desired.saturating_sub(current))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        self.grow(desired.saturating_sub(current).saturating_mul(TABLE_ENTRY))
    }

    fn instances(&self) -> usize {
        MAX_PARTS
    }

    fn memories(&self) -> usize {
        MAX_PARTS
    }

    fn tables(&self) -> usize {
        MAX_PARTS
    }
}

/// Lets this process open as many files as it may at all: every socket of a guest is one.
pub fn raise_file_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If that fails the limit is what it was, and a guest that reaches it is told.
    _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_memories_and_tables_together_stay_under_the_bound() {
        let mut limits = Limits::new(132);
        assert!(limits.table_growing(0, 2, None).unwrap());
        assert!(limits.memory_growing(0, 60, None).unwrap());
        assert!(limits.memory_growing(0, 40, None).unwrap());
        assert!(limits.memory_growing(60, 61, None).is_err());
        assert!(limits.table_growing(2, 3, None).is_err());
        assert!(limits.memory_growing(0, usize::MAX, None).is_err());
    }
}
