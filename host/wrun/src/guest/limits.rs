//! How much of this machine a guest may use: memory, and as many files as there may be.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wasmtime::{ResourceLimiter, Result};

/// Entries of a table, which the host pays for at 16 bytes each.
const MAX_TABLE: usize = 1 << 20;

/// The guest asked for more memory than it may have.
#[derive(Debug, thiserror::Error)]
#[error("the guest asked for {desired} bytes of memory, of {max} it may have")]
pub struct MemoryExceeded {
    desired: usize,
    max: usize,
}

/// Counts the memories of a guest together, and ends it when they pass the bound: a guest that is merely refused
/// aborts in a less clear way.
pub struct Limits {
    max: usize,
    used: usize,
}

impl Limits {
    pub fn new(max: usize) -> Self {
        Self { max, used: 0 }
    }
}

impl ResourceLimiter for Limits {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let used = self.used.saturating_add(desired.saturating_sub(current));
        if used > self.max {
            return Err(MemoryExceeded { desired: used, max: self.max }.into());
        }
        self.used = used;
        Ok(true)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        Ok(desired <= MAX_TABLE)
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
    fn all_memories_together_stay_under_the_bound() {
        let mut limits = Limits::new(100);
        assert!(limits.memory_growing(0, 60, None).unwrap());
        assert!(limits.memory_growing(0, 40, None).unwrap());
        assert!(limits.memory_growing(60, 61, None).is_err());
        assert!(limits.memory_growing(0, usize::MAX, None).is_err());
    }
}
