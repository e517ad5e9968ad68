//! A run from its first word to a report that is read again: what the recorder keeps, what a file holds when.

mod files;
mod keeping;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::changes::{Cursor, Line};
use super::fixture::{ended_well, header};
use super::state::Limits;
use super::{Recorder, RecorderOptions, Report, Sample, SampleOutcome};

pub(super) const MS: Duration = Duration::from_millis(1);

pub(super) fn recorder() -> Arc<Recorder> {
    Recorder::new(header(), RecorderOptions::default())
}

pub(super) fn with_limits(samples: usize, bytes: usize) -> Arc<Recorder> {
    let limits = Limits { samples, bytes, ..Limits::default() };
    Recorder::with_limits(header(), RecorderOptions::default(), limits)
}

/// Tells of a sample of a millisecond with one phase, `wait`.
pub(super) fn tell(recorder: &Recorder, name: &str, start: Duration, outcome: SampleOutcome) {
    let name = recorder.try_sample_name(name).unwrap();
    let phases = vec![(recorder.intern("wait"), MS / 2)];
    recorder.sample(Sample { name, start, end: start + MS, phases, outcome });
}

pub(super) fn finish(recorder: &Recorder) -> Report {
    recorder.finish(ended_well(), 5 * MS)
}

pub(super) fn codes(report: &Report) -> Vec<&str> {
    report.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

/// A folder of a test's own and the name of a report in it.
pub(super) fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    (folder, path)
}

/// What is new, as a list.
pub(super) fn changes(recorder: &Recorder, cursor: &mut Cursor, at_the_end: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    recorder.changes(cursor, at_the_end, &mut |line| lines.push(line));
    lines
}

/// Lines as they are in a file.
pub(super) fn written(lines: &[Line]) -> String {
    lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

/// The file as a killed run leaves it: all lines, and nothing put in order at the end.
pub(super) fn lines_of(recorder: &Recorder) -> String {
    let lines = [vec![recorder.first_line(0)], changes(recorder, &mut Cursor::default(), true)];
    written(&lines.concat())
}
