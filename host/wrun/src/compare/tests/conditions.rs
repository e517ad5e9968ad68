//! What `--fail-if` makes of runs.

use super::super::data::ConditionResult;
use super::super::expression::Expression;
use super::super::fixture::{MS, emulator};
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
fn a_p95_of_thirty_can_fail_against_the_base() {
    let base = waits("a", (0..30).map(|at| 1000 + at));
    let slow = waits("b", (0..30).map(|at| 5000 * MS + at));
    assert_eq!(judge(&base, &slow, "request.p95 > 1.5x").0, ConditionResult::Failed);
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
