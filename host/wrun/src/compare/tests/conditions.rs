//! What `--fail-if` makes of runs.

use super::super::data::ConditionResult;
use super::super::expression::Expression;
use super::super::fixture::{MS, board, emulator};
use super::super::{Options, Run, compare};
use super::{failing, waits};

fn judge(base: &Run, other: &Run, text: &str) -> (ConditionResult, String) {
    let runs = [
        Run { label: "a".to_owned(), report: base.report.clone() },
        Run { label: "b".to_owned(), report: other.report.clone() },
    ];
    let options = Options { fail_if: vec![Expression::parse(text).unwrap()], ..Options::default() };
    let mut conditions = compare(&runs, &options).unwrap_or_else(|error| panic!("{error}")).conditions;
    let condition = conditions.remove(0);
    (condition.result, condition.words)
}

#[test]
fn a_condition_fails_where_the_figure_and_its_interval_are_beyond_the_limit() {
    use ConditionResult::{Failed, Inconclusive, Passed, TooFew};
    let base = waits("a", (0..100).map(|at| 1000 + at));
    let slow = failing(waits("b", (0..100).map(|at| 2000 + at * 10)), 3);
    let few = waits("b", (0..15).map(|at| 2000 + at * 100));
    let known = [
        (&slow, "request.median > 1.5x", Failed),
        (&slow, "request.median > 3x", Passed),
        (&slow, "request.median > 2.35x", Inconclusive),
        (&slow, "request.wait.median > 1.5x", Failed),
        (&slow, "request.p95 > 1.5x", Failed),
        (&slow, "request.p95 > 2500us", Failed),
        (&slow, "request.p99 > 1ms", TooFew),
        (&slow, "request.mean > 2ms", Failed),
        (&slow, "request.mean > 2x", Failed),
        (&slow, "request.mean < 1ms", Passed),
        (&slow, "request.max > 2ms", Failed),
        (&slow, "request.max >= 1s", Passed),
        (&slow, "request.min < 3ms", Failed),
        (&slow, "request.errors > 0", Failed),
        (&slow, "request.errors >= 3", Failed),
        (&slow, "request.errors > 3", Passed),
        (&slow, "request.errors > 0%", Failed),
        (&slow, "request.errors > 1%", Inconclusive),
        (&slow, "request.errors > 5%", Passed),
        (&slow, "request.n < 100", Failed),
        (&few, "request.p95 > 1.5x", TooFew),
        (&few, "request.p95 > 1h", TooFew),
        (&few, "request.median > 1.5x", Failed),
        (&base, "request.median > 1.1x", Passed),
        (&base, "request.errors > 0", Passed),
    ];
    for (other, text, expected) in known {
        let (result, words) = judge(&base, other, text);
        assert_eq!(result, expected, "{text}: {words}");
    }
}

#[test]
fn a_p95_fails_against_a_base_that_bounds_its_own() {
    let run = |label, n: u64, us: u64| waits(label, (0..n).map(|at| us + at));
    let slow = run("b", 30, 5000 * MS);
    assert_eq!(judge(&run("a", 72, 1000), &slow, "request.p95 > 1.5x").0, ConditionResult::Failed);
    // Of seventy-one the longest may well not be as long as the p95.
    let (result, words) = judge(&run("a", 71, 1000), &slow, "request.p95 > 1.5x");
    assert_eq!(result, ConditionResult::Inconclusive);
    assert!(words.ends_with("an interval with both ends takes 72 samples a run"), "{words}");
}

/// The same of a run that is alone.
fn alone(run: &Run, text: &str) -> Result<(ConditionResult, String), String> {
    let runs = [Run { label: "a".to_owned(), report: run.report.clone() }];
    let options = Options { fail_if: vec![Expression::parse(text).unwrap()], ..Options::default() };
    let mut conditions = compare(&runs, &options).map_err(|error| error.to_string())?.conditions;
    assert_eq!(conditions.len(), 1, "{text} was not judged");
    let condition = conditions.remove(0);
    Ok((condition.result, condition.words))
}

#[test]
fn a_run_that_is_alone_is_judged_itself() {
    use ConditionResult::{Failed, Passed};
    let run = failing(waits("a", (0..30).map(|at| 1000 + at)), 3);
    for (text, expected) in [
        ("request.errors > 0", Failed),
        ("request.errors > 50%", Passed),
        ("request.median > 500us", Failed),
        ("request.wait.max > 2ms", Passed),
        ("request.n < 28", Failed),
    ] {
        let (result, words) = alone(&run, text).unwrap();
        assert_eq!(result, expected, "{text}: {words}");
    }
    let refused = alone(&run, "request.median > 1.5x").unwrap_err();
    assert!(refused.contains("one run alone: compare it with another"), "{refused}");
    let refused = alone(&run, "reqest.median > 1ms").unwrap_err();
    assert!(refused.contains("did you mean request?"), "{refused}");
}

#[test]
fn what_never_finished_is_an_error_and_passes_no_upper_limit() {
    use ConditionResult::{Failed, Inconclusive, Passed};
    let base = waits("a", (0..100).map(|at| 1000 + at));
    // Three that were still waiting after 30 seconds.
    let mut hung = waits("b", (0..100).map(|at| 1000 + at));
    for sample in hung.report.samples.iter_mut().take(3) {
        (sample.finished, sample.duration_ns) = (false, 30_000_000_000);
    }
    for (text, expected) in [
        ("request.errors > 0", Failed),
        ("request.errors > 3", Passed),
        ("request.errors > 0%", Failed),
        ("request.max > 10s", Failed),
        ("request.max > 1m", Inconclusive),
        ("request.max > 1000x", Inconclusive),
        ("request.wait.max > 1m", Inconclusive),
        ("request.mean > 1h", Inconclusive),
        ("request.median > 2ms", Passed),
        ("request.median > 500us", Failed),
        ("request.p95 > 1.5x", Passed),
        ("request.p99 > 1.5x", ConditionResult::TooFew),
    ] {
        let (result, words) = judge(&base, &hung, text);
        assert_eq!(result, expected, "{text}: {words}");
        assert!(words.contains("never finished") || result == ConditionResult::TooFew, "{text}: {words}");
    }
    // Nor does a base that hangs make the other fail or pass for certain.
    assert_eq!(judge(&hung, &base, "request.max < 0.00001x").0, Inconclusive);
    assert_eq!(judge(&hung, &base, "request.median > 1.5x").0, Passed);
}

#[test]
fn a_longest_sample_fails_against_the_base_only_where_many_are_as_long() {
    use ConditionResult::{Failed, Inconclusive, Passed, TooFew};
    let run = |label, n: u64, long: u64| waits(label, (0..n).map(|at| if at < long { 9000 + at } else { 1000 + at }));
    for (base, other, text, expected) in [
        (run("a", 1, 0), run("b", 1, 1), "request.max > 1.5x", TooFew),
        (run("a", 20, 0), run("b", 20, 1), "request.max > 1.5x", Inconclusive),
        (run("a", 20, 0), run("b", 20, 5), "request.max > 1.5x", Failed),
        (run("a", 20, 0), run("b", 20, 20), "request.min > 1.5x", Failed),
        (run("a", 20, 19), run("b", 20, 20), "request.min > 1.5x", Inconclusive),
        (run("a", 20, 5), run("b", 20, 0), "request.max < 0.5x", Failed),
        (run("a", 20, 20), run("b", 20, 19), "request.min < 0.5x", Inconclusive),
        (run("a", 20, 20), run("b", 20, 1), "request.min < 0.5x", Failed),
        (run("a", 20, 20), run("b", 20, 20), "request.max > 1.5x", Passed),
    ] {
        let (result, words) = judge(&base, &other, text);
        assert_eq!(result, expected, "{text}: {words}");
    }
}

#[test]
fn the_same_reports_have_the_same_intervals_whatever_they_are_called() {
    let (base, other) = (emulator(30), board(30, 5));
    let figures = |labels: [&str; 2]| {
        let [a, b] = labels.map(str::to_owned);
        let runs = [Run { label: a, report: base.report.clone() }, Run { label: b, report: other.report.clone() }];
        let fail_if =
            ["request.median > 2x", "request.mean > 100ms"].map(|text| Expression::parse(text).unwrap()).into();
        let found = compare(&runs, &Options { fail_if, ..Options::default() }).unwrap();
        let conditions: Vec<String> = found.conditions.into_iter().map(|one| one.words).collect();
        (found.samples[0].runs[1].clone(), conditions)
    };
    assert_eq!(figures(["a", "b"]), figures(["before.json", "after.json"]));
}

#[test]
fn an_empty_sample_fails_and_says_so() {
    let base = emulator(15);
    let failed = failing(emulator(15), 15);
    for text in ["request.median > 1.5x", "request.max > 1h", "request.wait.p95 > 1h"] {
        let (result, words) = judge(&base, &failed, text);
        assert_eq!(result, ConditionResult::TooFew, "{text}");
        assert!(words.contains("0 samples"), "{words}");
    }
    assert_eq!(judge(&base, &failed, "request.errors > 0").0, ConditionResult::Failed);
    let (result, words) = judge(&base, &waits("b", []), "request.errors > 0");
    assert_eq!((result, words.as_str()), (ConditionResult::TooFew, "request has no samples here"));
    let (result, words) = judge(&waits("a", [5]), &base, "request.median > 1.5x");
    assert_eq!(result, ConditionResult::TooFew);
    assert!(words.contains("in a"), "{words}");
}

#[test]
fn an_expression_that_names_nothing_is_refused_with_the_nearest_name() {
    let runs = [emulator(15), emulator(15)];
    let said = |text: &str| {
        let options = Options { fail_if: vec![Expression::parse(text).unwrap()], ..Options::default() };
        compare(&runs, &options).unwrap_err().to_string()
    };
    let refusals: Vec<String> =
        ["reqest.p95 > 1.5x", "request.wiat.p95 > 1.5x", "zzz.n < 1", "request.wait.errors > 0"].map(said).into();
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn each_of_several_runs_is_judged() {
    let runs = [emulator(15), emulator(15), failing(emulator(15), 15)];
    let options = Options { fail_if: vec![Expression::parse("request.errors > 0").unwrap()], ..Options::default() };
    let results: Vec<ConditionResult> =
        compare(&runs, &options).unwrap().conditions.iter().map(|one| one.result).collect();
    assert_eq!(results, [ConditionResult::Passed, ConditionResult::Failed]);
}
