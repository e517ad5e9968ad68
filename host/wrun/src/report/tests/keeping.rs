//! What a recorder keeps of what it is told, and how it stays bounded.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use wrun_net::metered::{self, Log};

use super::super::changes::{Cursor, Line};
use super::super::data::{Build, Family, Outcome, Profile};
use super::super::fixture::header;
use super::super::recorder::{COUNTERS, SAMPLE_NAMES};
use super::super::{Recorder, RecorderOptions, SampleCounts, SampleOutcome};
use super::{MS, changes, codes, finish, recorder, tell, with_limits};

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
        let outcome = Some(Ok(vec![[127, 0, 0, 1].into(); 200]));
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
    let recorder = Recorder::new(header(), RecorderOptions { trace: Some(trace), ..Default::default() });
    assert!(recorder.wants_calls());
    let remote: SocketAddr = ([127, 0, 0, 1], 80).into();
    let (name, detail) = ("connect", remote.to_string());
    recorder.call(&metered::Call { socket: 1, name, start: MS, took: MS, detail, bytes: None, outcome: Some(Ok(())) });
    assert_eq!(written.lock().unwrap().as_slice(), "   0.001000 #1 connect 127.0.0.1:80 = ok <1.00 ms>\n".as_bytes());
}

#[test]
fn what_does_not_change_is_written_once_and_what_does_with_growing_pauses() {
    let recorder = recorder();
    let mut cursor = Cursor::default();
    tell(&recorder, "get", MS, SampleOutcome::Ok);
    recorder.note("once".to_owned());
    recorder.denied("all".to_owned());
    assert_eq!(changes(&recorder, &mut cursor, false).len(), 4);
    assert_eq!(changes(&recorder, &mut cursor, false), []);
    let mut written = 0;
    for _ in 0..10_000 {
        recorder.count("calls", 1).unwrap();
        written += changes(&recorder, &mut cursor, false).len();
    }
    assert!((20..150).contains(&written), "{written} lines of 10,000 changes");
    recorder.count("calls", 1).unwrap();
    let total = Line::Counter { name: "calls".to_owned(), total: 10_001 };
    assert_eq!(changes(&recorder, &mut cursor, true), [total]);
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
