//! The beginning of something: a connect or a name lookup.

use toml::Spanned;
use wrun_net::shape::profile::{Failure, Opening};

use super::notes::{HOUR, Notes};
use super::path::delay;
use crate::profile::written;
use crate::units;

/// How an opening fails, before it is known after how long.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Refused,
    Unreachable,
    Timeout,
}

pub fn opening(notes: &mut Notes<'_>, written: Option<&Spanned<written::Opening>>) -> Opening {
    let Some(written) = written.map(Spanned::get_ref) else { return Opening::default() };
    let base = written.delay.as_ref().map(|base| notes.time(base).unwrap_or(HOUR));
    let delay = delay(notes, base, written.jitter.as_ref(), written.distribution.as_ref());
    let failure = written.failure.as_ref().and_then(|share| notes.share(share)).unwrap_or_default();
    for given in [&written.how, &written.timeout].into_iter().flatten() {
        if written.failure.is_none() {
            notes.note(given.span(), "how it fails, but not how often", "write failure = \"10 %\", or neither");
        }
    }
    let words = [("refused", How::Refused), ("unreachable", How::Unreachable), ("timeout", How::Timeout)];
    let how = written.how.as_ref().and_then(|how| notes.word(how, "way to fail", &words));
    let how = match (how.unwrap_or(How::Refused), &written.timeout) {
        (How::Timeout, Some(given)) => {
            let after = notes.lasting(given, HOUR, "write a time of more than zero").unwrap_or(HOUR);
            if after < delay.base {
                let help = format!("write at least the delay, {}: it is part of it", units::time_text(delay.base));
                notes.note(given.span(), "a timeout before the delay is over", help);
            }
            Failure::Timeout(after)
        }
        (how, Some(given)) => {
            notes.note(given.span(), "a timeout, where nothing times out", "write how = \"timeout\" with it");
            without_timeout(how)
        }
        (How::Timeout, None) => {
            if let Some(how) = &written.how {
                notes.note(how.span(), "a timeout without its time", "write timeout = \"30 s\" with it");
            }
            Failure::default()
        }
        (how, None) => without_timeout(how),
    };
    Opening { delay, failure, how }
}

fn without_timeout(how: How) -> Failure {
    if how == How::Unreachable { Failure::Unreachable } else { Failure::Refused }
}
