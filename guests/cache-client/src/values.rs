//! What is written, and whether what is read was written.
//!
//! A value begins with its version, which counts the writes of the run; then come random bytes, whose seed are the version,
//! the key and a number of the run's own. So a value that was changed anywhere, cut, written under another key or by another
//! run is told from one of this run's without keeping any of them. The run's own number is not the seed that can be chosen:
//! what an earlier run with the same seed left behind is another run's.
//!
//! Left out: which of a key's versions are too old, which is [`history`](crate::history)'s.

use std::ops::RangeInclusive;

use crate::random::Random;

/// The shortest value that can be checked, in bytes: the version and as many random bytes.
pub const SHORTEST_CHECKED: usize = 2 * VERSION;

/// Bytes of a version.
const VERSION: usize = size_of::<u64>();

/// The values of one run.
#[derive(Debug)]
pub struct Values {
    /// Decides the sizes.
    seed: u64,
    /// Decides the content; of this run alone.
    own: u64,
    /// In bytes.
    sizes: RangeInclusive<usize>,
    /// Versions so far.
    written: u64,
    /// For what is compared.
    expected: Vec<u8>,
}

impl Values {
    /// Of these sizes in bytes, which `seed` decides. `own` is a number that no other run has.
    pub fn new(seed: u64, own: u64, sizes: RangeInclusive<usize>) -> Self {
        Self { seed, own, sizes, written: 0, expected: Vec::new() }
    }

    /// Writes the next value for a key over what was in `value`, and gives its version.
    pub fn next(&mut self, key: u32, value: &mut Vec<u8>) -> u64 {
        self.written += 1;
        self.fill(key, self.written, value);
        self.written
    }

    /// The version of a value that this run wrote for this key, if it has at least [`SHORTEST_CHECKED`] bytes; `None` for any
    /// other.
    pub fn version(&mut self, key: u32, flags_read: u32, value: &[u8]) -> Option<u64> {
        let (version, _) = value.split_first_chunk::<VERSION>()?;
        let version = u64::from_le_bytes(*version);
        if !(1..=self.written).contains(&version) || flags_read != flags(version) {
            return None;
        }
        let mut expected = std::mem::take(&mut self.expected);
        self.fill(key, version, &mut expected);
        let own = expected == value;
        self.expected = expected;
        own.then_some(version)
    }

    fn fill(&self, key: u32, version: u64, value: &mut Vec<u8>) {
        let (least, most) = (*self.sizes.start(), *self.sizes.end());
        let size = match (most - least) as u64 {
            0 => least,
            range => least + Random::of([self.seed, key.into(), version]).below(range + 1) as usize,
        };
        let mut random = Random::of([self.own, key.into(), version]);
        value.clear();
        value.extend_from_slice(&version.to_le_bytes());
        while value.len() < size {
            value.extend_from_slice(&random.number().to_le_bytes());
        }
        value.truncate(size);
    }
}

/// A value's flags are its version's last bits, so that they too are seen to come back.
pub fn flags(version: u64) -> u32 {
    version as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        Values::new(3, 5, SHORTEST_CHECKED..=100)
    }

    #[test]
    fn what_was_written_for_a_key_is_its_own_in_every_version() {
        let mut values = values();
        let mut all = Vec::new();
        for key in 0..200 {
            let mut value = Vec::new();
            let version = values.next(key % 7, &mut value);
            assert!((SHORTEST_CHECKED..=100).contains(&value.len()));
            all.push((key % 7, version, value));
        }
        for (key, version, value) in &all {
            assert_eq!(values.version(*key, flags(*version), value), Some(*version));
        }
    }

    #[test]
    fn a_value_of_another_key_run_version_length_or_content_is_not() {
        let mut values = values();
        let mut value = Vec::new();
        let flags = flags(values.next(1, &mut value));
        assert_eq!(values.version(1, flags, &value), Some(1));
        assert_eq!(values.version(2, flags, &value), None, "another key");
        assert_eq!(values.version(1, flags + 1, &value), None, "other flags");
        let mut other = Values::new(3, 6, SHORTEST_CHECKED..=100);
        let mut others = Vec::new();
        other.next(1, &mut others);
        assert_eq!(others.len(), value.len(), "the seed decides the size");
        assert_eq!(other.version(1, flags, &value), None, "another run with the same seed");
        let mut before = Values::new(3, 5, SHORTEST_CHECKED..=100);
        assert_eq!(before.version(1, flags, &value), None, "not written yet");
        for length in 0..value.len() {
            assert_eq!(values.version(1, flags, &value[..length]), None, "cut to {length}");
        }
        for bit in 0..value.len() * 8 {
            let mut changed = value.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(values.version(1, flags, &changed), None, "bit {bit}");
        }
        value.push(0);
        assert_eq!(values.version(1, flags, &value), None, "longer");
    }

    #[test]
    fn short_values_have_their_size_though_they_cannot_be_checked() {
        let mut values = Values::new(3, 5, 0..=3);
        let mut value = Vec::new();
        for _ in 0..100 {
            values.next(1, &mut value);
            assert!(value.len() <= 3);
        }
    }
}
