//! What a report's file holds while a run goes on, after it, and after it was killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wrun_net::metered::{self, Log};

use super::super::changes::{Cursor, Line};
use super::super::data::Family;
use super::super::live::{Live, LiveError, partial_of};
use super::super::read::{ReadError, parse, read};
use super::super::{SampleOutcome, text};
use super::{MS, changes, codes, finish, lines_of, place, recorder, tell, with_limits, written};

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
        let lookup = metered::Lookup { name: "x".to_owned(), start: MS, took: MS, outcome: Some(Ok(Vec::new())) };
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
    let mut lines = vec![recorder.first_line(0)];
    for number in 0..9 {
        tell(&recorder, "get", number * MS, SampleOutcome::Ok);
        lines.extend(changes(&recorder, &mut cursor, false));
    }
    lines.extend(changes(&recorder, &mut cursor, true));
    assert_eq!(lines.iter().filter(|line| matches!(line, Line::Sample(_))).count(), 3);
    let (_folder, path) = place();
    fs::write(partial_of(&path), written(&lines)).unwrap();
    let report = read(&path).unwrap();
    assert_eq!((report.samples.len(), report.statistics[0].n), (0, 9));
}

#[test]
fn a_line_that_was_cut_is_passed_over_and_a_damaged_one_is_told_of() {
    let recorder = recorder();
    (0..4).for_each(|number| tell(&recorder, "get", number * MS, SampleOutcome::Ok));
    let mut text = lines_of(&recorder);
    text.truncate(text.find("{\"reached\"").unwrap());
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
fn a_report_of_version_1_reads_as_one_run_without_impairment() {
    let report = finish(&recorder());
    let mut older = serde_json::to_value(&report).unwrap();
    older["schema"] = 1.into();
    for added in ["rounds", "throttle"] {
        older.as_object_mut().unwrap().remove(added).unwrap();
    }
    let read = parse(Path::new("report.json"), older.to_string().as_bytes()).unwrap();
    assert_eq!((read.rounds, &read.throttle), (1, &None));
    let first = lines_of(&recorder()).replacen("\"schema\":2", "\"schema\":1", 1);
    assert!(parse(Path::new("report.json.partial"), first.as_bytes()).is_ok());
}

#[test]
fn a_killed_round_is_read_with_the_rounds_before_it() {
    let (_folder, path) = place();
    let mut before = finish(&recorder());
    before.rounds = 2;
    fs::write(&path, before.to_json_pretty()).unwrap();
    let recorder = recorder();
    tell(&recorder, "get", MS, SampleOutcome::Ok);
    let lines = lines_of(&recorder);
    let after = |rounds: u64| lines.replacen("\"after\":0", &format!("\"after\":{rounds}"), 1);
    fs::write(partial_of(&path), after(2)).unwrap();
    let whole = read(&path).unwrap();
    assert_eq!((whole.rounds, whole.samples.len(), whole.complete), (3, before.samples.len() + 1, false));
    // Of another series than the report beside it.
    fs::write(partial_of(&path), after(1)).unwrap();
    assert_eq!(codes(&read(&path).unwrap()), ["partial", "earlier"]);
}

#[test]
fn no_bytes_make_the_reader_panic() {
    let recorder = recorder();
    tell(&recorder, "get", MS, SampleOutcome::Ok);
    for written in [lines_of(&recorder), finish(&recorder).to_json_pretty()] {
        for place in 0..written.len() {
            let mut bytes = written.clone().into_bytes();
            bytes[place] = bytes[place].wrapping_add(17);
            if let Ok(report) = parse(Path::new("report.json"), &bytes) {
                text::render(&report);
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
    let later = finish(&recorder()).to_json_pretty().replace("\"schema\": 2", "\"schema\": 3");
    let later_line = lines_of(&recorder()).replace("\"schema\":2", "\"schema\":3");
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
    insta::assert_snapshot!(refusals.join("\n"), @r"
    FILE is not a report of wrun: EOF while parsing a value at line 1 column 0; give the file that --report wrote
    FILE is not a report of wrun: expected value at line 1 column 1; give the file that --report wrote
    FILE is not a report of wrun: missing field `schema` at line 1 column 2; give the file that --report wrote
    FILE is not a report of wrun: invalid length 1, expected struct Report with 18 elements at line 1 column 3; give the file that --report wrote
    FILE was written by a newer wrun: its format is version 3, this wrun reads up to 2; use that wrun
    FILE was written by a newer wrun: its format is version 9, this wrun reads up to 2; use that wrun
    FILE says it is of format version 0, which no wrun has written; the oldest is 1
    FILE was written by a newer wrun: its format is version 3, this wrun reads up to 2; use that wrun
    ");
    let missing = read(&path.with_file_name("missing.json")).unwrap_err();
    assert!(matches!(missing, ReadError::Unreadable { .. }));
}

#[test]
fn a_report_file_is_whole_at_every_moment() {
    let (folder, path) = place();
    fs::write(&path, "the older report").unwrap();
    let recorder = recorder();
    let live = Live::start(&path, recorder.clone(), 0).unwrap();
    assert!(fs::read_to_string(partial_of(&path)).unwrap().starts_with("{\"header\":{\"schema\":2"));
    tell(&recorder, "get", MS, SampleOutcome::Ok);
    assert_eq!(fs::read_to_string(&path).unwrap(), "the older report");
    assert!(matches!(Live::start(&path, recorder.clone(), 0), Err(LiveError::Taken { .. })));
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
    let live = Live::start(&path, recorder.clone(), 0).unwrap();
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
        let error = Live::start(&path, recorder(), 0).err().unwrap();
        error.to_string().replace(folder.path().to_str().unwrap(), "FOLDER")
    };
    fs::create_dir(folder.path().join("taken.json.partial")).unwrap();
    let refusals = [
        refused(folder.path().to_owned()),
        refused("/dev/null".into()),
        refused(path.join("report.json")),
        refused(folder.path().join("taken.json")),
    ];
    insta::assert_snapshot!(refusals.join("\n"), @r"
    cannot write the report to FOLDER: it is no regular file; name another, or - for the standard output
    cannot write the report to /dev/null: it is no regular file; name another, or - for the standard output
    cannot write the report to FOLDER/report.json/report.json: No such file or directory (os error 2); name a file in a folder that exists and can be written
    cannot write the report to FOLDER/taken.json: what is measured meanwhile goes to FOLDER/taken.json.partial: Is a directory (os error 21); move that away, or name another file
    ");
    assert!(Live::start(Path::new(""), recorder(), 0).is_err());
}

#[test]
fn a_link_keeps_leading_to_the_report() {
    let (folder, path) = place();
    let link = folder.path().join("latest.json");
    fs::write(&path, "older").unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let recorder = recorder();
    let report = finish(&recorder);
    Live::start(&link, recorder, 0).unwrap().finish(&report).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(read(&path).unwrap(), report);
}
