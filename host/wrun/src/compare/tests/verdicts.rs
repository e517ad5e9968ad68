//! What is said of runs that are alike, that differ, and that cannot be compared.

use super::super::data::Verdict;
use super::super::fixture::{MS, board, emulator, killed};
use super::super::math::random::Random;
use super::super::{Options, Run, compare, words};
use super::{compared, failing, run, waits};
use crate::report::fixture::many;

/// The verdict on the other run and its words.
fn verdict(base: Run, other: Run) -> (Verdict, String) {
    let against = compared(base, other).against_base.remove(0);
    (against.verdict, against.words)
}

fn steady(label: &str, us: u64) -> Run {
    waits(label, (0..20).map(|at| us + at * us / 400))
}

#[test]
fn a_clear_change_beyond_the_threshold_is_slower_or_faster_and_none_is_same() {
    for (us, expected) in
        [(1000, Verdict::Same), (1010, Verdict::Same), (1200, Verdict::Slower), (800, Verdict::Faster)]
    {
        assert_eq!(verdict(steady("a", 1000), steady("b", us)).0, expected, "{us}");
    }
    assert_eq!(verdict(emulator(15), board(15, 3)).0, Verdict::Slower);
}

#[test]
fn what_is_less_than_wrun_itself_takes_is_the_same_and_what_is_more_is_not() {
    let on = |label, us: u64, crossing_ns: u64| {
        let mut run = steady(label, us);
        let calibration = run.report.calibration.as_mut().unwrap();
        // A crossing when a sample begins or ends, and one for its only phase.
        (calibration.crossing_ns, calibration.metering_ns) = (crossing_ns, 0);
        run
    };
    // They are 4 us apart, of 20.
    assert_eq!(verdict(on("a", 20, 100), on("b", 24, 100)).0, Verdict::Slower);
    assert_eq!(verdict(on("a", 20, 100), on("b", 24, 1900)).0, Verdict::Slower);
    for (base, other) in [(on("a", 20, 100), on("b", 24, 2100)), (on("a", 24, 2100), on("b", 20, 100))] {
        let (found, words) = verdict(base, other);
        assert_eq!(found, Verdict::Same, "{words}");
        assert!(words.ends_with("apart: less than the 4.20 µs that wrun itself takes of a sample"), "{words}");
    }
    // Without a measured overhead there is none to be less than.
    let mut unmeasured = [on("a", 20, 0), on("b", 24, 0)];
    unmeasured.iter_mut().for_each(|run| run.report.calibration = None);
    let [base, other] = unmeasured;
    assert_eq!(verdict(base, other).0, Verdict::Slower);
}

#[test]
fn a_change_that_the_samples_do_not_bear_is_inconclusive() {
    let wide = |label, from: u64| waits(label, (0..8).map(|at| from + at * at * 60));
    assert_eq!(verdict(wide("a", 1000), wide("b", 1300)).0, Verdict::Inconclusive);
}

/// Of 200 pairs of runs of the same, how many are told apart.
fn told_apart(mut run: impl FnMut() -> Run) -> usize {
    let mut pair = || Run { label: "b".to_owned(), ..run() };
    (0..200).filter(|_| matches!(verdict(pair(), pair()).0, Verdict::Slower | Verdict::Faster)).count()
}

#[test]
fn alike_runs_are_seldom_told_apart() {
    let mut random = Random::new(23);
    let mut wait = move || (1000.0 * (0.5 * random.normal()).exp()) as u64;
    let plain = told_apart(|| waits("a", (0..15).map(|_| wait()).collect::<Vec<_>>()));
    let mut seed = 0;
    let stalling = told_apart(|| {
        seed += 1;
        board(15, seed)
    });
    println!("{plain} of 200 plain pairs and {stalling} of 200 stalling pairs told apart");
    assert!(plain <= 14 && stalling <= 14, "{plain} {stalling}");
}

#[test]
fn fewer_than_six_are_too_few_whatever_they_are() {
    let (found, words) = verdict(waits("a", [100]), waits("b", [90_000]));
    assert_eq!(found, Verdict::TooFew);
    assert_eq!(words, "1 sample that ended well here, a verdict needs 6");
    assert_eq!(verdict(steady("a", 100), waits("b", [1; 5])).0, Verdict::TooFew);
    assert_eq!(verdict(waits("a", []), waits("b", [])).0, Verdict::TooFew);
}

#[test]
fn stalls_of_a_third_are_slower_though_the_median_is_the_same() {
    let stalls = waits("b", (0..15).map(|at| if at % 3 == 1 { 7600 * MS } else { 180 * MS + at }));
    let (found, words) = verdict(waits("a", (0..15).map(|at| 180 * MS + at)), stalls);
    assert_eq!(found, Verdict::Slower);
    assert!(words.starts_with("5 of 15 take over 1.17 s, 0 of 15 in a; the median is 1.00×"), "{words}");
}

#[test]
fn a_hair_s_breadth_between_many_is_no_difference() {
    let mut random = Random::new(2);
    let mut run = |label: &str, scale: f64| {
        waits(label, (0..20_000).map(|_| (scale * (0.4 * random.normal()).exp()) as u64).collect::<Vec<_>>())
    };
    assert_eq!(verdict(run("a", 1000.0), run("b", 1012.0)).0, Verdict::Same);
}

#[test]
fn who_fails_more_is_never_faster() {
    let (found, words) = verdict(steady("a", 1000), failing(steady("b", 500), 2));
    assert_eq!(found, Verdict::Inconclusive);
    assert!(words.contains("2 of 20 failed, 0 of 20 in a"), "{words}");
    let (found, words) = verdict(steady("a", 1000), failing(steady("b", 500), 20));
    assert_eq!((found, &*words), (Verdict::Failing, "20 of 20 failed, 0 of 20 in a, nothing is left to time"));
    let (found, words) = verdict(failing(steady("a", 1000), 9), steady("b", 1000));
    assert_eq!(found, Verdict::Same);
    assert!(words.ends_with("; 0 of 20 failed, 9 of 20 in a"), "{words}");
}

#[test]
fn who_may_fail_more_by_as_much_as_counts_is_not_the_same() {
    let steady = |label, n: u64| waits(label, (0..n).map(|at| 1000 + at % 7));
    let (found, words) = verdict(steady("a", 40), failing(steady("b", 40), 4));
    assert_eq!(found, Verdict::Inconclusive);
    assert!(words.contains("4 of 40 failed, 0 of 40 in a"), "{words}");
    // One of a thousand rules out that five of a hundred do.
    let (found, words) = verdict(steady("a", 1000), failing(steady("b", 1000), 1));
    assert_eq!(found, Verdict::Same);
    assert!(words.ends_with("; 1 of 1,000 failed, 0 of 1,000 in a"), "{words}");
}

#[test]
fn a_run_that_leaves_samples_unfinished_is_neither_the_same_nor_faster() {
    let hanging = |mut run: Run, n: usize| {
        run.report.samples.iter_mut().take(n).for_each(|sample| sample.finished = false);
        run
    };
    for us in [1000, 500] {
        let (found, words) = verdict(steady("a", 1000), hanging(steady("b", us), 3));
        assert_eq!(found, Verdict::Inconclusive);
        assert!(words.contains("3 of 20 never finished, 0 of 20 in a"), "{words}");
    }
    let (found, words) = verdict(hanging(steady("a", 1000), 3), steady("b", 1000));
    assert_eq!(found, Verdict::Same);
    assert!(words.contains("0 of 20 never finished, 3 of 20 in a"), "{words}");
    assert_eq!(verdict(steady("a", 1000), hanging(steady("b", 2000), 3)).0, Verdict::Slower);
    let (found, words) = verdict(steady("a", 1000), hanging(steady("b", 1000), 20));
    assert_eq!(found, Verdict::TooFew);
    assert!(words.contains("20 of 20 never finished"), "{words}");
}

#[test]
fn a_run_that_was_cut_short_is_neither_the_same_nor_faster() {
    let cut = |mut run: Run| {
        run.report = killed(run.report);
        run
    };
    for (base, other, who) in [
        (steady("a", 1000), cut(steady("b", 1000)), "b"),
        (steady("a", 1000), cut(steady("b", 500)), "b"),
        (cut(steady("a", 1000)), steady("b", 1000), "a"),
    ] {
        let (found, words) = verdict(base, other);
        assert_eq!(found, Verdict::Inconclusive);
        assert!(words.ends_with(&format!("but {who} was cut short")), "{words}");
    }
}

#[test]
fn a_few_failures_of_very_many_are_no_failing() {
    // The same histogram in both, and three failures in the one.
    let run = |label: &str, errors: u64| {
        let mut run = Run { label: label.to_owned(), report: many() };
        run.report.histograms[0].times.buckets.iter_mut().for_each(|bucket| bucket.count *= 12);
        run.report.histograms[0].errors = errors;
        run
    };
    let found = compared(run("a", 0), run("b", 3));
    let bulk = found.samples.iter().find(|name| &*name.name == "bulk").unwrap();
    assert_eq!(bulk.verdicts[0].verdict, Verdict::Same, "{}", bulk.verdicts[0].words);
    assert!(bulk.verdicts[0].words.contains("3 of 600,003 failed"), "{}", bulk.verdicts[0].words);
}

#[test]
fn many_names_of_few_samples_that_are_all_slower_make_the_run_slower() {
    let many = |label: &str, us: u64| {
        let mut run = waits(label, (0..180).map(|at| us + at));
        for (at, sample) in run.report.samples.iter_mut().enumerate() {
            sample.name = format!("n{}", at % 30).as_str().into();
        }
        run
    };
    let (found, words) = verdict(many("a", 1000), many("b", 10_000));
    assert_eq!(found, Verdict::Slower, "{words}");
    assert_eq!(verdict(many("a", 10_000), many("b", 1000)).0, Verdict::Faster);
}

#[test]
fn another_guest_or_other_arguments_are_not_compared_unless_forced() {
    let mut guest = steady("b", 1000);
    guest.report.header.guest.sha256 = "00".repeat(32);
    let mut arguments = steady("b", 1000);
    arguments.report.header.arguments = vec!["http://localhost:8080/ --requests 15".to_owned()];
    let mut names = steady("b", 1000);
    names.report.samples.iter_mut().for_each(|sample| sample.name = "put".into());
    for (other, what) in [(guest, "guest"), (arguments, "arguments"), (names, "sample names")] {
        let runs = [steady("a", 1000), other];
        let found = compare(&runs, &Options::default()).unwrap();
        assert_eq!(found.against_base[0].verdict, Verdict::NotComparable, "{what}");
        assert!(found.against_base[0].words.contains(what), "{}", found.against_base[0].words);
        assert!(found.samples.iter().all(|name| name.runs[1].figures.to_base.is_none()));
        let forced = compare(&runs, &Options { force: true, ..Options::default() }).unwrap();
        let expected = if what == "sample names" { Verdict::NotComparable } else { Verdict::Same };
        assert_eq!(forced.against_base[0].verdict, expected, "{what}");
    }
}

#[test]
fn a_killed_run_is_compared_as_far_as_it_got_and_says_so() {
    let mut other = steady("b", 2000);
    other.report = killed(other.report);
    let found = compared(steady("a", 1000), other);
    assert_eq!(found.against_base[0].verdict, Verdict::Slower);
    assert!(!found.runs[1].complete && found.runs[1].outcome.contains("killed"));
    let mut nothing = waits("b", []);
    nothing.report = killed(nothing.report);
    assert_eq!(verdict(steady("a", 1000), nothing).0, Verdict::TooFew);
}

#[test]
fn a_base_whose_median_is_zero_has_no_ratio() {
    let zero = |label| {
        let mut run = steady(label, 1000);
        run.report.samples.iter_mut().for_each(|sample| sample.duration_ns = 0);
        run
    };
    let (found, words) = verdict(zero("a"), zero("b"));
    assert_eq!(found, Verdict::Inconclusive);
    assert!(words.contains("zero"), "{words}");
    // Against anything else the counts tell.
    let (found, words) = verdict(zero("a"), steady("b", 1000));
    assert_eq!(found, Verdict::Slower);
    assert!(words.starts_with("20 of 20 take over"), "{words}");
}

#[test]
fn counted_samples_are_compared_by_their_quantiles() {
    let run = |label: &str| Run { label: label.to_owned(), report: many() };
    let found = compared(run("a"), run("b"));
    let bulk = found.samples.iter().find(|name| &*name.name == "bulk").unwrap();
    assert!(bulk.runs[1].figures.counted);
    assert_eq!(bulk.verdicts[0].verdict, Verdict::Same);
    let mut slower = run("b");
    for bucket in &mut slower.report.histograms[0].times.buckets {
        (bucket.from_ns, bucket.to_ns) = (bucket.from_ns * 2, bucket.to_ns * 2);
    }
    slower.report.histograms[0].times.max_ns *= 2;
    let found = compared(run("a"), slower);
    let bulk = found.samples.iter().find(|name| &*name.name == "bulk").unwrap();
    assert_eq!(bulk.verdicts[0].verdict, Verdict::Slower);
}

#[test]
fn the_phase_that_carries_the_difference_is_named() {
    let found = compared(emulator(15), board(15, 3));
    let places = &found.samples[0].verdicts[0].places;
    assert_eq!(places.len(), 1);
    assert_eq!(places[0].phase.as_deref(), Some("wait"));
    assert!((places[0].percent.get() - 100.0).abs() < 1.0);
}

#[test]
fn phases_that_cancel_one_another_out_are_told_by_their_changes() {
    let of = |label, wait: u64, receive: u64| {
        run(label, (0..20).map(move |at| vec![("wait", wait + at), ("receive", receive + at)]))
    };
    let found = compared(of("a", 1000, 10_000), of("b", 12_000, 1000));
    let judgement = &found.samples[0].verdicts[0];
    assert_eq!(judgement.verdict, Verdict::Slower);
    assert_eq!(words::places(&judgement.places), ["wait +11.0 ms, receive −9.00 ms (means)"]);
    let found = compared(of("a", 1000, 10_000), of("b", 12_000, 10_000));
    let told = words::places(&found.samples[0].verdicts[0].places);
    assert_eq!(told, ["wait carries 100 % of the difference (mean 1.01 ms → 12.0 ms)"]);
}

#[test]
fn what_is_said_of_one_run_does_not_hang_on_the_others() {
    let two = compare(&[emulator(15), board(15, 3)], &Options::default()).unwrap();
    let three = compare(&[emulator(15), board(15, 3), board(40, 4)], &Options::default()).unwrap();
    assert_eq!(two.samples[0].verdicts[0], three.samples[0].verdicts[0]);
    assert_eq!(two.samples[0].runs[1], three.samples[0].runs[1]);
    assert_eq!(three.runs[2].label, "throttled netmf3-board (2)");
}

#[test]
fn one_of_many_names_that_looks_slower_by_chance_does_not_make_the_run_slower() {
    // Forty names that are alike, and the same with one that is slower beyond doubt.
    let many = |label: &str, seed: u64, slow: bool| {
        let mut random = Random::new(seed);
        let mut run =
            waits(label, (0..800).map(|_| (1000.0 * (0.3 * random.normal()).exp()) as u64).collect::<Vec<_>>());
        for (at, sample) in run.report.samples.iter_mut().enumerate() {
            sample.name = format!("n{}", at % 40).as_str().into();
            sample.duration_ns *= if slow && at % 40 == 7 { 3 } else { 1 };
        }
        run
    };
    let mut looks = 0;
    for seed in 0..5 {
        let found = compared(many("a", seed, false), many("b", seed + 100, false));
        looks += found.samples.iter().filter(|name| name.verdicts[0].verdict == Verdict::Slower).count();
        assert!(!matches!(found.against_base[0].verdict, Verdict::Slower | Verdict::Faster), "{seed}");
    }
    assert!(looks > 0, "none of 200 names looked slower: the test tests nothing");
    let (found, words) = verdict(many("a", 1, false), many("b", 2, true));
    assert_eq!(found, Verdict::Slower);
    assert!(words.starts_with("n7: the median is "), "{words}");
}
