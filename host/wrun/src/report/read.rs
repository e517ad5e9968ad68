//! Reading a report again: a finished one, or what a killed run left.
//!
//! Nothing that a file may hold makes this panic. A line that was cut in the middle at the end of a partial file is
//! what a killed run leaves, and is passed over; a damaged line before it is skipped, with a warning.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;

use super::changes::Line;
use super::connections::Connection;
use super::data::{Denial, Family, Outcome, Report, SCHEMA};
use super::histogram::Histogram;
use super::live::partial_of;
use super::parts::Parts;
use super::words::Words;
use crate::warning::Warning;

/// The largest file that is read. No report that wrun writes comes near it.
const LARGEST: u64 = 4 << 30;

/// Why a report cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read the report {}: {why}", path.display())]
    Unreadable { path: PathBuf, why: io::Error },
    #[error("{} is larger than {} GiB: no report of wrun is", path.display(), LARGEST >> 30)]
    TooLarge { path: PathBuf },
    #[error("{} is not a report of wrun: {why}; give the file that --report wrote", path.display())]
    NotAReport { path: PathBuf, why: serde_json::Error },
    #[error(
        "{} was written by a newer wrun: its format is version {found}, this wrun reads up to {SCHEMA}; use that wrun", path.display()
    )]
    Newer { path: PathBuf, found: u64 },
    #[error("{} says it is of format version {found}, which no wrun has written; the oldest is 1", path.display())]
    NoSuchVersion { path: PathBuf, found: u64 },
}

/// Reads the report at `path`.
///
/// Where a run has left a partial report beside it, and nothing newer at `path` itself, that is read instead, or, where it
/// is a later round of the report at `path`, with it; the report is then marked incomplete and says so in its warnings.
/// `path` may also be a partial report's own name.
pub fn read(path: &Path) -> Result<Report, ReadError> {
    let partial = partial_of(path);
    match (changed(path), changed(&partial)) {
        (None, Some(_)) => return read_file(&partial),
        (Some(whole), Some(part)) if part >= whole => {
            // A run that was killed before its first line was whole left nothing to show; the earlier report is better.
            if let Ok((mut report, after)) = read_part(&partial) {
                if after > 0
                    && let Ok(earlier) = read_file(path)
                    && earlier.rounds == after
                    && earlier.header.guest == report.header.guest
                {
                    return Ok(earlier.followed_by(report));
                }
                report.warnings.push((&Warning::Earlier { path: path.to_owned() }).into());
                return Ok(report);
            }
        }
        _ => {}
    }
    read_file(path)
}

/// When a file was last written, if it is there.
fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

fn read_file(path: &Path) -> Result<Report, ReadError> {
    read_part(path).map(|(report, _)| report)
}

/// With how many rounds were run before, where it is of a later one.
fn read_part(path: &Path) -> Result<(Report, u64), ReadError> {
    let unreadable = |why| ReadError::Unreadable { path: path.to_owned(), why };
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        return Err(ReadError::TooLarge { path: path.to_owned() });
    }
    parse(path, &bytes).map(|report| (report, rounds_before(&bytes)))
}

fn rounds_before(bytes: &[u8]) -> u64 {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or(bytes);
    match serde_json::from_slice(first) {
        Ok(Line::Header { after, .. }) => after,
        _ => 0,
    }
}

/// A report from the bytes of a file of that name.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Report, ReadError> {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or(bytes);
    if let Some(found) = version(first, |line: &FirstLine| line.header.schema) {
        check(path, found)?;
        return from_lines(path, bytes);
    }
    match serde_json::from_slice::<Report>(bytes) {
        Ok(report) => check(path, report.schema.into()).map(|()| report),
        Err(why) => {
            if let Some(found) = version(bytes, |any: &AnyVersion| any.schema) {
                check(path, found)?;
            }
            Err(ReadError::NotAReport { path: path.to_owned(), why })
        }
    }
}

/// As much of a report of any version as tells its version.
#[derive(Deserialize)]
struct AnyVersion {
    schema: u64,
}

/// The same of a partial report's first line.
#[derive(Deserialize)]
struct FirstLine {
    header: AnyVersion,
}

fn version<'a, T: Deserialize<'a>>(bytes: &'a [u8], version: impl Fn(&T) -> u64) -> Option<u64> {
    serde_json::from_slice::<T>(bytes).ok().as_ref().map(version)
}

fn check(path: &Path, found: u64) -> Result<(), ReadError> {
    const NEWEST: u64 = SCHEMA as u64;
    match found {
        1..=NEWEST => Ok(()),
        0 => Err(ReadError::NoSuchVersion { path: path.to_owned(), found }),
        _ => Err(ReadError::Newer { path: path.to_owned(), found }),
    }
}

/// A report from the lines of a run that was killed.
fn from_lines(path: &Path, bytes: &[u8]) -> Result<Report, ReadError> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').zip(1u64..);
    let header = lines.next().map(|(line, _)| serde_json::from_slice::<Line>(line));
    let mut parts = match header {
        Some(Ok(Line::Header { header, .. })) => Parts::new(*header),
        Some(Err(why)) => return Err(ReadError::NotAReport { path: path.to_owned(), why }),
        Some(Ok(_)) | None => {
            let why = serde::de::Error::custom("its first line is not a header");
            return Err(ReadError::NotAReport { path: path.to_owned(), why });
        }
    };
    let mut gathered = Gathered::default();
    let (mut skipped, mut first_skipped) = (0, 0);
    for (line, number) in lines {
        match serde_json::from_slice::<Line>(line) {
            Ok(line) => gathered.add(line, &mut parts),
            Err(_) if !line.ends_with(b"\n") => {}
            Err(_) => {
                skipped += 1;
                if skipped == 1 {
                    first_skipped = number;
                }
            }
        }
    }
    parts.late_warnings.push(Warning::Partial { path: path.to_owned() });
    if skipped > 0 {
        parts.late_warnings.push(Warning::LinesSkipped { count: skipped, first: first_skipped });
    }
    let last = gathered.finish(&mut parts);
    let outcome = Outcome {
        family: Family::Interrupted,
        code: None,
        words: "wrun was killed before the run was over, or it still goes on".to_owned(),
        backtrace: Vec::new(),
    };
    Ok(parts.report(outcome, last))
}

/// Lines of things that replace one another, while they are read.
#[derive(Default)]
struct Gathered {
    connections: BTreeMap<u64, Connection>,
    histograms: BTreeMap<Words, Histogram>,
    denials: BTreeMap<String, u64>,
    reached: u64,
}

impl Gathered {
    fn add(&mut self, line: Line, parts: &mut Parts) {
        match line {
            // Only the first line is one; another belongs to a file that was put together by hand.
            Line::Header { .. } => {}
            Line::Sample(sample) => parts.samples.push(sample),
            Line::Histogram(histogram) => {
                self.histograms.insert(histogram.name.clone(), histogram);
            }
            Line::Connection(connection) => {
                self.connections.insert(connection.id, *connection);
            }
            Line::Lookup(lookup) => parts.lookups.push(lookup),
            Line::Throttle(throttle) => parts.throttle = Some(*throttle),
            Line::Denial(denial) => {
                self.denials.insert(denial.rule, denial.count);
            }
            Line::Counter { name, total } => {
                parts.counters.insert(name, total);
            }
            Line::Note(note) => parts.notes.push(note),
            Line::Warning(warning) => parts.warnings.push(warning),
            Line::Calibration(calibration) => parts.calibration = Some(calibration),
            Line::Omitted(omitted) => parts.omitted = omitted,
            Line::Reached { at_ns } => self.reached = self.reached.max(at_ns),
        }
    }

    /// Moves everything into place, and answers with the last moment of which something is known.
    fn finish(self, parts: &mut Parts) -> u64 {
        let ends = parts.samples.iter().map(|sample| sample.start_ns.saturating_add(sample.duration_ns));
        let lookups = parts.lookups.iter().map(|lookup| lookup.start_ns.saturating_add(lookup.duration_ns));
        let moments = self.connections.values().flat_map(|connection| {
            [connection.ended_ns, connection.last_sent_ns, connection.last_received_ns, connection.connect_end_ns]
        });
        let last = ends.chain(lookups).chain(moments.flatten()).fold(self.reached, u64::max);
        let counted: HashSet<&Words> = self.histograms.keys().collect();
        parts.samples.retain(|sample| !counted.contains(&sample.name));
        parts.connections = self.connections.into_values().collect();
        parts.histograms = self.histograms.into_values().collect();
        parts.denials = self.denials.into_iter().map(|(rule, count)| Denial { rule, count }).collect();
        last
    }
}
