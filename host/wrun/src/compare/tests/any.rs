//! Any reports whatever: nothing panics, and nothing is said that is no answer.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::data::Verdict;
use super::super::expression::Expression;
use super::super::fixture::of_samples;
use super::super::{Options, Run, compare, output};
use crate::cli::Format;
use crate::report::connections::Connection;
use crate::report::data::{Phase, Sample};
use crate::report::fixture::story;
use crate::report::histogram::{Bucket, Buckets, Histogram, PhaseBuckets};
use crate::report::words::Words;

/// Durations of every size, zero and the largest among them.
fn duration() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), 0u64..50, any::<u64>(), 1_000_000u64..9_000_000]
}

fn name() -> impl Strategy<Value = Words> {
    prop_oneof![Just("request"), Just("wait"), Just("a.b"), Just("connect"), Just("send"), Just("close")]
        .prop_map(Words::from)
}

prop_compose! {
    fn sample()(
        name in name(),
        start_ns in any::<u64>(),
        duration_ns in duration(),
        phases in vec((name(), duration()), 0..4),
        error in prop::option::weighted(0.1, Just(Words::from("refused"))),
        finished in prop::bool::weighted(0.9),
    ) -> Sample {
        let phases = phases.into_iter().map(|(name, duration_ns)| Phase { name, duration_ns }).collect();
        Sample { name, start_ns, duration_ns, phases, error, finished }
    }
}

prop_compose! {
    fn buckets()(
        (count, min_ns, max_ns, mean_ns) in (any::<u64>(), duration(), duration(), duration()),
        buckets in vec((duration(), duration(), prop_oneof![0u64..99, any::<u64>()]), 0..6),
    ) -> Buckets {
        let buckets = buckets.into_iter().map(|(from_ns, to_ns, count)| Bucket { from_ns, to_ns, count }).collect();
        Buckets { count, min_ns, max_ns, mean_ns, buckets }
    }
}

prop_compose! {
    fn histogram()(name in name(), errors in any::<u64>(), times in buckets(), phase in name(), of_phase in buckets()) -> Histogram {
        let phases = vec![PhaseBuckets { name: phase, times: of_phase }];
        Histogram { name, errors, unfinished: errors, reasons: Vec::new(), times, phases }
    }
}

prop_compose! {
    fn connection()(of in vec(prop::option::of(duration()), 9), bytes in duration(), calls in duration()) -> Connection {
        let mut socket = story().connections.remove(0);
        (socket.connect_start_ns, socket.connect_end_ns, socket.first_sent_ns) = (of[0], of[1], of[2]);
        (socket.last_sent_ns, socket.first_received_ns, socket.last_received_ns) = (of[3], of[4], of[5]);
        (socket.ended_ns, socket.close_took_ns) = (of[6], of[7]);
        (socket.sent_bytes, socket.received_bytes, socket.sends, socket.receives) = (bytes, bytes, calls, calls);
        (socket.send_would_blocks, socket.receive_would_blocks) = (calls, calls);
        socket
    }
}

prop_compose! {
    fn run()(
        samples in vec(sample(), 0..50),
        histograms in vec(histogram(), 0..3),
        connections in vec(connection(), 0..8),
        complete in any::<bool>(),
    ) -> Run {
        let mut run = of_samples("run", samples);
        (run.report.histograms, run.report.connections, run.report.complete) = (histograms, connections, complete);
        run.report.lookups = story().lookups;
        run
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_report_panics_a_comparison(runs in vec(run(), 0..4), force in any::<bool>()) {
        let conditions = ["request.median > 1.5x", "wait.mean > 2x", "a.b.max > 1s", "send.errors > 1%", "request.wait.p95 < 0.5x"];
        let mut fail_if: Vec<Expression> = conditions.map(|text| Expression::parse(text).unwrap()).into();
        // Those that name nothing are refused, the others judged.
        fail_if.retain(|one| compare(&runs, &Options { fail_if: vec![one.clone()], ..Options::default() }).is_ok());
        let comparison = compare(&runs, &Options { force, fail_if, ..Options::default() }).unwrap();
        for format in [Format::Text, Format::Json, Format::Markdown, Format::Csv, Format::Junit] {
            output::render(&comparison, format);
        }
        let json = output::render(&comparison, Format::Json);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
        for name in &comparison.samples {
            for (at, judgement) in name.verdicts.iter().enumerate() {
                let few = |at: usize| name.runs[at].figures.n < 6;
                let timed = matches!(judgement.verdict, Verdict::Slower | Verdict::Faster | Verdict::Same);
                prop_assert!(!timed || !(few(0) || few(at + 1)), "a verdict on too few");
                let failed = name.runs[at + 1].errors > 0 && name.runs[0].errors == 0;
                prop_assert!(judgement.verdict != Verdict::Faster || !failed, "faster by failing");
            }
        }
    }
}
