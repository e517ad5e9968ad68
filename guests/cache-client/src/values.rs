//! What is written, and whether what is read was written.
//!
//! A value is decided by the run's seed, its key and its version, which counts the writes of the run: the version comes first,
//! then random bytes whose seed are all three. So a value that was changed anywhere, cut, written under another key or by
//! another run is told from one of this run's without keeping any of them. Older versions of a key are right: a read may
//! pass a write on another connection.

use std::ops::RangeInclusive;

use crate::random::Random;

/// The shortest value that can be checked, in bytes: the version and as many random bytes.
pub const SHORTEST_CHECKED: usize = 2 * VERSION;

/// Bytes of a version.
const VERSION: usize = size_of::<u64>();

/// The values of one run.
#[derive(Debug)]
pub struct Values {
    seed: u64,
    /// In bytes.
    sizes: RangeInclusive<usize>,
    /// Versions so far.
    written: u64,
    /// For what is compared.
    expected: Vec<u8>,
}

impl Values {
    pub fn new(seed: u64, sizes: RangeInclusive<usize>) -> Self {
        Self { seed, sizes, written: 0, expected: Vec::new() }
    }

    /// Writes the next value for a key over what was in `value`, and gives its flags.
    pub fn next(&mut self, key: u32, value: &mut Vec<u8>) -> u32 {
        self.written += 1;
        self.fill(key, self.written, value);
        flags(self.written)
    }

    /// Whether a value was written for this key by this run, if it has at least [`SHORTEST_CHECKED`] bytes.
    pub fn is_own(&mut self, key: u32, flags_read: u32, value: &[u8]) -> bool {
        let Some((version, _)) = value.split_first_chunk::<VERSION>() else { return false };
        let version = u64::from_le_bytes(*version);
        if !(1..=self.written).contains(&version) || flags_read != flags(version) {
            return false;
        }
        let mut expected = std::mem::take(&mut self.expected);
        self.fill(key, version, &mut expected);
        let own = expected == value;
        self.expected = expected;
        own
    }

    fn fill(&self, key: u32, version: u64, value: &mut Vec<u8>) {
        let mut random = Random::of([self.seed, key.into(), version]);
        let (least, most) = (*self.sizes.start(), *self.sizes.end());
        let size = least + random.below((most - least) as u64 + 1) as usize;
        value.clear();
        value.extend_from_slice(&version.to_le_bytes());
        while value.len() < size {
            value.extend_from_slice(&random.number().to_le_bytes());
        }
        value.truncate(size);
    }
}

/// A value's flags are its version's last bits, so that they too are seen to come back.
fn flags(version: u64) -> u32 {
    version as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        Values::new(3, SHORTEST_CHECKED..=100)
    }

    #[test]
    fn what_was_written_for_a_key_is_its_own_and_older_versions_too() {
        let mut values = values();
        let mut all = Vec::new();
        for version in 0..200 {
            let mut value = Vec::new();
            let flags = values.next(version % 7, &mut value);
            assert!((SHORTEST_CHECKED..=100).contains(&value.len()));
            all.push((version % 7, flags, value));
        }
        assert!(all.iter().all(|(key, flags, value)| values.is_own(*key, *flags, value)));
    }

    #[test]
    fn a_value_of_another_key_run_version_length_or_content_is_not() {
        let mut values = values();
        let mut value = Vec::new();
        let flags = values.next(1, &mut value);
        assert!(values.is_own(1, flags, &value));
        assert!(!values.is_own(2, flags, &value), "another key");
        assert!(!values.is_own(1, flags + 1, &value), "other flags");
        let mut other = Values::new(4, SHORTEST_CHECKED..=100);
        other.next(1, &mut Vec::new());
        assert!(!other.is_own(1, flags, &value), "another run");
        assert!(!Values::new(3, SHORTEST_CHECKED..=100).is_own(1, flags, &value), "not written yet");
        for length in 0..value.len() {
            assert!(!values.is_own(1, flags, &value[..length]), "cut to {length}");
        }
        for bit in 0..value.len() * 8 {
            let mut changed = value.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(!values.is_own(1, flags, &changed), "bit {bit}");
        }
        value.push(0);
        assert!(!values.is_own(1, flags, &value), "longer");
    }

    #[test]
    fn short_values_have_their_size_though_they_cannot_be_checked() {
        let mut values = Values::new(3, 0..=3);
        let mut value = Vec::new();
        for _ in 0..100 {
            values.next(1, &mut value);
            assert!(value.len() <= 3);
        }
    }
}
