//! How long a TCP connect takes over the two lines of a link.
//!
//! A SYN goes up and its answer comes down. What is lost of the two is sent again after a second, then after twice that,
//! and so on: the steps at 1, 3 and 7 s that a capture of a lossy link shows.

use std::time::Duration;

use super::lane::Lane;
use super::line::Line;
use super::opening::{Opened, OpeningDice};
use super::profile::{Failure, Opening};

/// How long a SYN is waited for, the first time (RFC 6298).
pub const FIRST_TIMEOUT: Duration = Duration::from_secs(1);

/// How often a SYN is sent again, as on Linux: the last is given up 127 s after the first.
pub const RETRIES: u32 = 6;

/// A line and a socket's lane on it.
pub struct Leg<'a> {
    pub line: &'a mut Line,
    pub lane: &'a mut Lane,
}

/// How long a connect takes that begins now, and how it ends.
pub fn connect(now: Duration, up: Leg<'_>, down: Leg<'_>, opening: &Opening, dice: &mut OpeningDice) -> Opened {
    let mut answer: Option<Duration> = None;
    let mut sent = now;
    let mut timeout = FIRST_TIMEOUT;
    for _ in 0..=RETRIES {
        if let Some(arrived) = up.line.bare(sent, up.lane)
            && let Some(answered) = down.line.bare(arrived, down.lane)
        {
            answer = Some(answer.map_or(answered, |earlier| earlier.min(answered)));
        }
        sent = sent.saturating_add(timeout);
        timeout *= 2;
        if answer.is_some_and(|answer| answer <= sent) {
            break;
        }
    }
    match answer.filter(|&answer| answer <= sent) {
        Some(answer) => opening.draw(answer.saturating_sub(now), dice),
        None => {
            let after = sent.saturating_sub(now);
            Opened { after, failure: Some(Failure::Timeout(after)) }
        }
    }
}
