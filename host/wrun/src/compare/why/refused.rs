//! Options of sockets that are refused: the guest asks for what these sockets do not have.

use super::{Found, Side};
use crate::report::text::units::count;

/// How an error, a counter or a note names it, as the contract with guests does.
const REFUSED: &str = "not-supported";

/// As a report's quirk is called.
const QUIRK: &str = "options-refused";

pub(super) fn recognise(suspect: &Side<'_>, other: &Side<'_>) -> Option<Found> {
    let (own, others) = (Refusals::of(suspect), Refusals::of(other));
    if own.is_none() || !others.is_none() {
        return None;
    }
    let have = |side: &Side<'_>| side.report.header.backend.capabilities.options.clone();
    let has = have(suspect);
    let lacking: Vec<String> = have(other).into_iter().filter(|option| !has.contains(option)).collect();
    let what = if lacking.is_empty() { "what the guest asks of them".to_owned() } else { lacking.join(", ") };
    let Refusals { calls, samples, told } = own;
    let mut evidence = Vec::new();
    if calls > 0 {
        evidence.push(format!("{} options refused, none in {}", count(calls), other.label));
    }
    if samples > 0 {
        evidence.push(format!("{} of {} fail with {REFUSED}", count(samples), count(suspect.named.begun())));
    }
    evidence.extend(told);
    Some(Found { words: format!("these sockets do not support {what}, which those of {} do", other.label), evidence })
}

/// Where a report shows that something was refused.
struct Refusals {
    calls: u64,
    samples: u64,
    /// Counters and notes.
    told: Vec<String>,
}

impl Refusals {
    fn of(side: &Side<'_>) -> Self {
        let report = side.report;
        let quirks = report.throttle.iter().flat_map(|throttle| &throttle.quirks);
        let reasons = side.named.reasons.iter().filter(|reason| reason.words.contains(REFUSED));
        let counters = report.counters.iter().filter(|(name, times)| name.contains(REFUSED) && **times > 0);
        let notes = report.notes.iter().filter(|note| note.contains(REFUSED)).take(1).cloned();
        Self {
            calls: quirks.filter(|quirk| quirk.name == QUIRK).map(|quirk| quirk.count).fold(0, u64::saturating_add),
            samples: reasons.map(|reason| reason.count).fold(0, u64::saturating_add),
            told: counters.take(1).map(|(name, times)| format!("{name}: {}", count(*times))).chain(notes).collect(),
        }
    }

    fn is_none(&self) -> bool {
        self.calls == 0 && self.samples == 0 && self.told.is_empty()
    }
}
