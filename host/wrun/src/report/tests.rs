//! A run from its first word to a report that is read again: what the recorder keeps, what a file holds when.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wrun_net::metered::{self, Log};

use super::changes::{Cursor, Line};
use super::data::{Build, Family, Outcome, Profile};
use super::fixture::{ended_well, header};
use super::live::{Live, LiveError, partial_of};
use super::read::{ReadError, read};
use super::recorder::{COUNTERS, SAMPLE_NAMES};
use super::state::Limits;
use super::{Recorder, RecorderOptions, Report, Sample, SampleCounts, SampleOutcome};

const MS: Duration = Duration::from_millis(1);

fn recorder() -> Arc<Recorder> {
    Recorder::new(header(), RecorderOptions::default())
}

fn with_limits(samples: usize, bytes: usize) -> Arc<Recorder> {
    let limits = Limits { samples, bytes, ..Limits::default() };
    Recorder::with_limits(header(), RecorderOptions::default(), limits)
}

/// Tells of a sample of a millisecond with one phase, `wait`.
fn tell(recorder: &Recorder, name: &str, start: Duration, outcome: SampleOutcome) {
    let name = recorder.try_sample_name(name).unwrap();
    let phases = vec![(recorder.intern("wait"), MS / 2)];
    recorder.sample(Sample { name, start, end: start + MS, phases, outcome });
}

fn finish(recorder: &Recorder) -> Report {
    recorder.finish(ended_well(), 5 * MS)
}

fn codes(report: &Report) -> Vec<&str> {
    report.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

/// A folder of a test's own and the name of a report in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    (folder, path)
}

/// The file as a killed run leaves it: all lines, and nothing put in order at the end.
fn lines_of(recorder: &Recorder) -> String {
    let mut cursor = Cursor::default();
    let lines = std::iter::once(recorder.first_line()).chain(recorder.changes(&mut cursor, true));
    lines.map(|line| serde_json::to_string(&line).unwrap() + "\n").collect()
}

#[test]
fn samples_are_in_the_order_of_their_starts_with_their_errors_and_phases() {
    let recorder = recorder();
    tell(&recorder, "get", 9 * MS, SampleOutcome::Ok);
    tell(&recorder, "put", MS, SampleOutcome::Failed("refused".to_owned()));
    tell(&recorder, "get", 2 * MS, SampleOutcome::Unfinished);
    let report = finish(&recorder);
    let seen: Vec<_> = report.samples.iter().map(|s| (&*s.name, s.error.as_deref(), s.finished)).collect();
    assert_eq!(seen, [("put", Some("refused"), true), ("get", None, false), ("get", None, true)]);
    assert_eq!((report.samples[2].start_ns, report.samples[2].duration_ns), (9_000_000, 1_000_000));
    assert_eq!((&*report.samples[2].phases[0].name, report.samples[2].phases[0].duration_ns), ("wait", 500_000));
    assert!(report.complete && report.warnings.is_empty());
}

#[test]
fn announcements_count_from_what_is_done() {
    let recorder = recorder();
    assert_eq!(recorder.sample_counts(), SampleCounts { done: 0, expected: None });
    tell(&recorder, "warm-up", MS, SampleOutcome::Ok);
    recorder.announce(2);
    assert_eq!(recorder.sample_counts(), SampleCounts { done: 1, expected: Some(3) });
    recorder.announce(u64::MAX);
    assert_eq!(recorder.sample_counts().expected, Some(u64::MAX));
    assert_eq!(codes(&finish(&recorder)), ["announced"]);
}

#[test]
fn a_debug_build_is_warned_of() {
    let mut header = header();
    header.wrun = Build { profile: Profile::Debug, ..header.wrun };
    assert_eq!(codes(&finish(&Recorder::new(header, RecorderOptions::default()))), ["debug-build"]);
}

#[test]
fn a_flood_of_names_reasons_notes_and_rules_stays_bounded_and_is_owned_up_to() {
    let recorder = recorder();
    for number in 0..SAMPLE_NAMES {
        tell(&recorder, &format!("name {number}"), MS, SampleOutcome::Ok);
    }
    assert!(recorder.try_sample_name("one more").is_err());
    for number in 0..COUNTERS {
        recorder.count(&format!("counter {number}"), u64::MAX).unwrap();
    }
    recorder.count("counter 0", 1).unwrap();
    assert!(recorder.count("one more", 1).unwrap_err().to_string().contains("at most 1024 counters"));
    for number in 0..2000 {
        recorder.intern(&format!("phase {number}"));
        recorder.note("é".repeat(5000));
        recorder.denied(format!("tcp://192.0.2.1:{number}"));
        tell(&recorder, "name 0", MS, SampleOutcome::Failed(format!("reason {number}")));
    }
    assert!(recorder.try_sample_name("name 9").is_ok(), "known names do not run out");
    let report = finish(&recorder);
    assert_eq!((report.notes.len(), report.denials.len(), report.counters.len()), (1000, 1000, COUNTERS));
    assert_eq!((report.omitted.notes, report.omitted.denials), (1000, 1000));
    assert!(report.notes[0].len() <= 1027 && report.notes[0].starts_with('é'));
    assert_eq!(codes(&report), ["phases-folded", "reasons-folded", "notes-omitted", "denials-omitted"]);
    assert_eq!(report.statistics[0].errors, 2000);
}

#[test]
fn sample_names_still_fit_when_phases_have_used_theirs_up() {
    let recorder = recorder();
    (0..5000).for_each(|number| drop(recorder.intern(&format!("phase {number}"))));
    for number in 0..SAMPLE_NAMES {
        assert!(recorder.try_sample_name(&format!("name {number}")).is_ok());
    }
    assert_eq!(recorder.intern("one more").as_str(), "(other)");
}

#[test]
fn a_denial_is_news_once() {
    let recorder = recorder();
    assert!(recorder.denied("tcp://192.0.2.1:80".to_owned()));
    assert!(!recorder.denied("tcp://192.0.2.1:80".to_owned()));
    assert_eq!(finish(&recorder).denials[0].count, 2);
}

#[test]
fn too_many_samples_become_a_histogram_and_the_report_says_so() {
    let recorder = with_limits(10, usize::MAX);
    (0..11).for_each(|number| tell(&recorder, "echo", number * MS, SampleOutcome::Ok));
    (0..10).for_each(|number| tell(&recorder, "get", number * MS, SampleOutcome::Ok));
    let report = finish(&recorder);
    assert_eq!((report.samples.len(), report.histograms.len()), (10, 1));
    assert_eq!((&*report.histograms[0].name, report.histograms[0].times.count), ("echo", 11));
    assert_eq!(codes(&report), ["histogram-kept"]);
    let echo = &report.statistics[1];
    assert_eq!((&*echo.name, echo.n, echo.times.as_ref().unwrap().max_ns), ("echo", 11, 1_000_000));
}

#[test]
fn all_samples_together_stay_below_a_bound_of_bytes() {
    let recorder = with_limits(usize::MAX, 4000);
    for number in 0..300 {
        tell(&recorder, ["a", "b", "c"][number as usize % 3], number * MS, SampleOutcome::Ok);
        assert!(recorder.lock().bytes <= 4000);
    }
    let report = finish(&recorder);
    assert!(codes(&report).contains(&"histogram-forced"));
    assert_eq!(report.statistics.iter().map(|name| name.n).sum::<u64>(), 300);
}

#[test]
fn only_the_first_sockets_and_lookups_are_kept() {
    let recorder = recorder();
    for _ in 0..10_001 {
        let outcome = Ok(vec![[127, 0, 0, 1].into(); 200]);
        recorder.lookup(metered::Lookup { name: "x".repeat(900), start: MS, took: MS, outcome });
    }
    let report = finish(&recorder);
    assert_eq!((report.lookups.len(), report.omitted.lookups), (10_000, 1));
    assert_eq!((report.lookups[0].name.len(), report.lookups[0].addresses.len()), (255, 64));
    assert_eq!(codes(&report), ["lookups-omitted"]);
}

#[test]
fn only_a_recorder_with_a_trace_wants_every_call() {
    struct Shared(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    assert!(!recorder().wants_calls());
    let written = Arc::new(Mutex::new(Vec::new()));
    let trace = crate::trace::Trace::new(Box::new(Shared(written.clone())));
    let recorder = Recorder::new(header(), RecorderOptions { trace: Some(trace) });
    assert!(recorder.wants_calls());
    let remote: SocketAddr = ([127, 0, 0, 1], 80).into();
    let (name, detail) = ("connect", remote.to_string());
    recorder.call(&metered::Call { socket: 1, name, start: MS, took: MS, detail, bytes: None, outcome: Ok(()) });
    assert_eq!(written.lock().unwrap().as_slice(), "   0.001000 #1 connect 127.0.0.1:80 = ok <1.00 ms>\n".as_bytes());
}

#[test]
fn what_does_not_change_is_written_once_and_what_does_with_growing_pauses() {
    let recorder = recorder();
    let mut cursor = Cursor::default();
    tell(&recorder, "get", MS, SampleOutcome::Ok);
    recorder.note("once".to_owned());
    recorder.denied("all".to_owned());
    assert_eq!(recorder.changes(&mut cursor, false).len(), 3);
    assert_eq!(recorder.changes(&mut cursor, false), []);
    let mut written = 0;
    for _ in 0..10_000 {
        recorder.count("calls", 1).unwrap();
        written += recorder.changes(&mut cursor, false).len();
    }
    assert!((20..150).contains(&written), "{written} lines of 10,000 changes");
    recorder.count("calls", 1).unwrap();
    let total = Line::Counter { name: "calls".to_owned(), total: 10_001 };
    assert_eq!(recorder.changes(&mut cursor, true), [total]);
}

#[test]
fn the_lines_of_a_killed_run_hold_what_the_report_would() {
    for limit in [3, 1000] {
        let recorder = with_limits(limit, usize::MAX);
        for number in 0..10 {
            tell(&recorder, "get", number * MS, SampleOutcome::Ok);
            tell(&recorder, "put", number * MS, SampleOutcome::Failed("refused".to_owned()));
        }
        recorder.count("calls", 7).unwrap();
        recorder.denied("all".to_owned());
        (0..1001).for_each(|_| recorder.note("a note".to_owned()));
        let lookup = metered::Lookup { name: "x".to_owned(), start: MS, took: MS, outcome: Ok(Vec::new()) };
        recorder.lookup(lookup);

        let (_folder, path) = place();
        fs::write(partial_of(&path), lines_of(&recorder)).unwrap();
        let left = read(&path).unwrap();
        let mut whole = recorder.finish(left.outcome.clone(), Duration::from_nanos(left.duration_ns));
        assert_eq!((left.outcome.family, left.complete), (Family::Interrupted, false));
        assert_eq!(left.duration_ns, 10_000_000);
        assert!(codes(&left).contains(&"partial"));
        whole.warnings.clone_from(&left.warnings);
        assert_eq!(left, whole);
    }
}

#[test]
fn samples_of_a_name_that_was_counted_later_are_not_there_twice() {
    let recorder = with_limits(3, usize::MAX);
    let mut cursor = Cursor::default();
    let mut lines = vec![recorder.first_line()];
    for number in 0..9 {
        tell(&recorder, "get", number * MS, SampleOutcome::Ok);
        lines.extend(recorder.changes(&mut cursor, false));
    }
    lines.extend(recorder.changes(&mut cursor, true));
    assert_eq!(lines.iter().filter(|line| matches!(line, Line::Sample(_))).count(), 3);
    let (_folder, path) = place();
    let text: String = lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
    fs::write(partial_of(&path), text).unwrap();
    let report = read(&path).unwrap();
    assert_eq!((report.samples.len(), report.statistics[0].n), (0, 9));
}

#[test]
fn a_line_that_was_cut_is_passed_over_and_a_damaged_one_is_told_of() {
    let recorder = recorder();
    (0..4).for_each(|number| tell(&recorder, "get", number * MS, SampleOutcome::Ok));
    let text = lines_of(&recorder);
    let (_folder, path) = place();
    let partial = partial_of(&path);
    for cut in 1..60 {
        fs::write(&partial, &text[..text.len() - cut]).unwrap();
        let report = read(&partial).unwrap();
        assert_eq!((report.samples.len(), codes(&report)), (if cut == 1 { 4 } else { 3 }, vec!["partial"]));
    }
    fs::write(&partial, text.replacen("{\"sample\"", "{\"smaple\"", 2)).unwrap();
    let report = read(&partial).unwrap();
    assert_eq!((report.samples.len(), codes(&report)), (2, vec!["partial", "lines-skipped"]));
    assert!(report.warnings[1].words.starts_with("2 damaged lines were skipped, the first is line 2"));
}

#[test]
fn no_bytes_make_the_reader_panic() {
    let recorder = recorder();
    tell(&recorder, "get", MS, SampleOutcome::Ok);
    let (_folder, path) = place();
    for text in [lines_of(&recorder), finish(&recorder).to_json_pretty()] {
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = bytes[place].wrapping_add(17);
            fs::write(&path, &bytes).unwrap();
            if let Ok(report) = read(&path) {
                super::text::render(&report);
            }
        }
    }
}

#[test]
fn what_is_no_report_is_refused_with_the_reason() {
    let (_folder, path) = place();
    let refused = |text: &str| {
        fs::write(&path, text).unwrap();
        let error = read(&path).unwrap_err();
        error.to_string().replace(path.to_str().unwrap(), "FILE")
    };
    let later = finish(&recorder()).to_json_pretty().replace("\"schema\": 1", "\"schema\": 2");
    let later_line = lines_of(&recorder()).replace("\"schema\":1", "\"schema\":2");
    let refusals = [
        refused(""),
        refused("hello"),
        refused("{}"),
        refused("[1]\n"),
        refused(&later),
        refused("{\"schema\": 9, \"something\": \"else\"}"),
        refused("{\"schema\": 0}"),
        refused(&later_line),
    ];
    insta::assert_snapshot!(refusals.join("\n"), @"");
    let missing = read(&path.with_file_name("missing.json")).unwrap_err();
    assert!(matches!(missing, ReadError::Unreadable { .. }));
}

#[test]
fn a_report_file_is_whole_at_every_moment() {
    let (folder, path) = place();
    fs::write(&path, "the older report").unwrap();
    let recorder = recorder();
    let live = Live::start(&path, recorder.clone()).unwrap();
    assert!(fs::read_to_string(partial_of(&path)).unwrap().starts_with("{\"header\":{\"schema\":1"));
    tell(&recorder, "get", MS, SampleOutcome::Ok);
    assert_eq!(fs::read_to_string(&path).unwrap(), "the older report");
    assert!(matches!(Live::start(&path, recorder.clone()), Err(LiveError::Taken { .. })));
    let report = finish(&recorder);
    live.finish(&report).unwrap();
    assert_eq!(read(&path).unwrap(), report);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn a_run_that_ends_without_a_report_leaves_its_lines_beside_the_older_one() {
    let (_folder, path) = place();
    let recorder = recorder();
    let older = finish(&recorder);
    fs::write(&path, older.to_json_pretty()).unwrap();
    let live = Live::start(&path, recorder.clone()).unwrap();
    tell(&recorder, "get", MS, SampleOutcome::Ok);
    drop(live);
    let report = read(&path).unwrap();
    assert_eq!((report.samples.len(), report.complete), (1, false));
    assert_eq!(codes(&report), ["partial", "earlier"]);
    fs::write(partial_of(&path), "").unwrap();
    assert_eq!(read(&path).unwrap(), older);
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_guest_starts() {
    let (folder, path) = place();
    let refused = |path: PathBuf| {
        let error = Live::start(&path, recorder()).err().unwrap();
        error.to_string().replace(folder.path().to_str().unwrap(), "FOLDER")
    };
    fs::create_dir(folder.path().join("taken.json.partial")).unwrap();
    let refusals = [
        refused(folder.path().to_owned()),
        refused("/dev/null".into()),
        refused(path.join("report.json")),
        refused(folder.path().join("taken.json")),
        refused(PathBuf::new()),
    ];
    insta::assert_snapshot!(refusals.join("\n"), @"");
}

#[cfg(unix)]
#[test]
fn a_link_keeps_leading_to_the_report() {
    let (folder, path) = place();
    let link = folder.path().join("latest.json");
    fs::write(&path, "older").unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let recorder = recorder();
    let report = finish(&recorder);
    Live::start(&link, recorder).unwrap().finish(&report).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(read(&path).unwrap(), report);
}

#[test]
fn a_run_that_was_cut_short_is_incomplete() {
    let family = |family| {
        let outcome = Outcome { family, code: Some(1), words: String::new(), backtrace: Vec::new() };
        recorder().finish(outcome, MS).complete
    };
    assert!(family(Family::Ok) && family(Family::Guest));
    assert!(!family(Family::Limit) && !family(Family::Rig) && !family(Family::Interrupted));
}
