//! Until when an item is kept, and how clients say it.

/// Seconds since 1970, as whoever uses the store reads its clock.
pub type Seconds = u32;

/// Clients' numbers above this, 30 days, are times since 1970; those up to it are from now on.
pub const LONGEST_FROM_NOW: i64 = 60 * 60 * 24 * 30;

/// Until when an item is kept: seconds since 1970, or for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expiry(u32);

impl Expiry {
    pub const NEVER: Self = Self(0);
    /// Long ago.
    pub const AT_ONCE: Self = Self(1);

    /// What a client means: 0 is never, up to 30 days is from now on, more is a time since 1970, and negative is at once.
    pub fn from_client(number: i64, now: Seconds) -> Self {
        match number {
            0 => Self::NEVER,
            ..0 => Self::AT_ONCE,
            1..=LONGEST_FROM_NOW => Self(now.saturating_add(number as u32)),
            _ => Self(u32::try_from(number).unwrap_or(u32::MAX)),
        }
    }

    pub(super) fn from_word(word: u32) -> Self {
        Self(word)
    }

    pub(super) fn word(self) -> u32 {
        self.0
    }

    /// The time since 1970 at which it ends, if it ends.
    pub fn at(self) -> Option<Seconds> {
        (self.0 != 0).then_some(self.0)
    }

    pub fn has_passed(self, now: Seconds) -> bool {
        self.at().is_some_and(|at| at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_s_number_is_read_as_from_now_on_up_to_30_days_and_as_a_time_beyond() {
        let now = 1_700_000_000;
        let at = |number| Expiry::from_client(number, now).at();
        assert_eq!(at(0), None);
        assert_eq!(at(1), Some(now + 1));
        assert_eq!(at(2_592_000), Some(now + 2_592_000));
        assert_eq!(at(2_592_001), Some(2_592_001));
        assert_eq!(at(i64::from(now) + 10), Some(now + 10));
        assert!(Expiry::from_client(-1, now).has_passed(now));
        assert!(Expiry::from_client(2_592_001, now).has_passed(now));
        assert!(!Expiry::from_client(1, now).has_passed(now));
        assert!(Expiry::from_client(1, now).has_passed(now + 1));
    }
}
