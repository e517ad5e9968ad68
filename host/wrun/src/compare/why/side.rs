//! What a recogniser may look at: the samples of one name in one run, and that run's sockets and lookups.

use crate::compare::gather::Named;
use crate::compare::series::Series;
use crate::report::Report;
use crate::report::connections::Connection;
use crate::report::data::Sample;
use crate::report::text::units::{count, duration};

/// Samples that a line of evidence names.
const SHOWN: usize = 8;

/// One of the two runs.
pub struct Side<'a> {
    pub label: &'a str,
    pub report: &'a Report,
    pub named: &'a Named,
    /// Every sample of the name in order, also those that failed. Empty where they were only counted.
    pub samples: Vec<&'a Sample>,
    /// Whether the run has no other name: then its sockets and lookups are those of these samples.
    pub alone: bool,
}

/// A duration, and the number of the sample or socket that it is of, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered {
    pub number: u64,
    pub ns: u64,
}

impl<'a> Side<'a> {
    /// The durations of a phase in the samples that ended well; of none, those of the samples themselves.
    pub fn durations(&self, phase: Option<&str>) -> Vec<Numbered> {
        let well = self.samples.iter().zip(1u64..).filter(|(sample, _)| sample.finished && sample.error.is_none());
        let mut durations = Vec::new();
        for (sample, number) in well {
            match phase {
                None => durations.push(Numbered { number, ns: sample.duration_ns }),
                Some(name) => {
                    let phases = sample.phases.iter().filter(|phase| *phase.name == *name);
                    durations.extend(phases.map(|phase| Numbered { number, ns: phase.duration_ns }));
                }
            }
        }
        durations
    }

    /// Phases whose name has one of these words in it.
    pub fn phases_like(&self, words: &'a [&str]) -> impl Iterator<Item = (&'a str, &'a Series)> {
        let phases = self.named.phases.iter().map(|(name, series)| (&**name, series));
        phases.filter(|(name, _)| like(name, words))
    }

    /// The durations of a phase in order, if there is such a phase; of none, those of the samples themselves.
    pub fn series(&self, phase: Option<&str>) -> Option<&'a Series> {
        match phase {
            None => Some(&self.named.times),
            Some(name) => self.named.phase(name),
        }
    }

    /// Their median, 0 where there is none.
    pub fn median(&self, phase: Option<&str>) -> u64 {
        self.series(phase).and_then(Series::median).unwrap_or(0)
    }

    /// The connects of the samples; of a run with no other name and no such phase, those of its sockets.
    pub fn connects(&self) -> Vec<Numbered> {
        self.spent(&["connect"], |socket| socket.connect_end_ns?.checked_sub(socket.connect_start_ns?))
    }

    /// What answers took to begin, in the same way.
    pub fn answers(&self) -> Vec<Numbered> {
        self.spent(&["wait", "answer"], |socket| socket.first_received_ns?.checked_sub(socket.first_sent_ns?))
    }

    /// The durations of the first phase with such a name; of a run with no other name, what its sockets took.
    fn spent(&self, words: &'a [&str], of_socket: fn(&Connection) -> Option<u64>) -> Vec<Numbered> {
        match self.phases_like(words).next() {
            Some((name, _)) => self.durations(Some(name)),
            None if self.alone => {
                let took = |socket: &Connection| Some(Numbered { number: socket.id, ns: of_socket(socket)? });
                self.report.connections.iter().filter_map(took).collect()
            }
            None => Vec::new(),
        }
    }

    /// The value of a setting of its sockets.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.report.header.backend.settings.get(name).map(String::as_str)
    }
}

/// Whether a name has one of these words in it.
pub fn like(name: &str, words: &[&str]) -> bool {
    let name = name.to_lowercase();
    words.iter().any(|word| name.contains(word))
}

/// `wait of 3: 41.2 ms, 7: 40.9 ms and 5 more`.
pub fn listed(what: &str, durations: &[Numbered]) -> String {
    let shown = durations.iter().take(SHOWN).map(|one| format!("{}: {}", count(one.number), duration(one.ns)));
    let more = match durations.len() {
        ..=SHOWN => String::new(),
        all => format!(" and {} more", count((all - SHOWN) as u64)),
    };
    format!("{what} of {}{more}", shown.collect::<Vec<_>>().join(", "))
}

/// The middle of some durations; 0 of none.
pub fn middle(durations: &[Numbered]) -> u64 {
    Series::of(durations.iter().map(|one| one.ns).collect()).median().unwrap_or(0)
}
