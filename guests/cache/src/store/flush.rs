//! When everything is forgotten, and how clients say it.

use super::expiry::{Expiry, Seconds};

/// When everything is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// Now, and nothing that is stored after it.
    Now,
    /// From when this second has come, and what is stored while it lasts too, whatever was answered to that. One that is
    /// over is as now.
    In(Seconds),
    /// Not at all; one that was to come is called off.
    Never,
}

impl Flush {
    /// What a client means by a delay or a time since 1970, to a server that started at `started`, as memcached reads it:
    /// a flush is in the second before the one that is named, and one from before the start is none.
    pub fn from_client(number: i64, now: Seconds, started: Seconds) -> Self {
        // 0 would be never, and a negative delay is none.
        match Expiry::from_client(number.max(0), now).at() {
            None => Self::Now,
            Some(at) if at <= started => Self::Never,
            Some(at) => Self::In(at - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_is_in_the_second_before_the_one_that_is_named_and_none_if_that_is_before_the_start() {
        let (started, now) = (1_700_000_000, 1_700_000_100);
        for (number, flush) in [
            (0, Flush::Now),
            (-1, Flush::Now),
            (1, Flush::In(now)),
            (3, Flush::In(now + 2)),
            (2_592_001, Flush::Never),
            (started.into(), Flush::Never),
            (i64::from(started) + 1, Flush::In(started)),
            (i64::from(now) + 10, Flush::In(now + 9)),
        ] {
            assert_eq!(Flush::from_client(number, now, started), flush, "{number}");
        }
    }
}
