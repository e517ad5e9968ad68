//! What each shape looks like, that it is told, and that plain runs have none.

use super::Kind;
use crate::compare::data::{Judgement, Verdict};
use crate::compare::fixture::{MS, emulator, jitter, of_samples, request, run};
use crate::compare::math::random::Random;
use crate::compare::{Options, Run, compare};
use crate::report::connections::Connection;
use crate::report::fixture::{sample, story};

fn judgement(base: Run, other: Run) -> Judgement {
    compare(&[base, other], &Options::default()).unwrap().samples.remove(0).verdicts.remove(0)
}

fn kinds(judgement: &Judgement) -> Vec<Kind> {
    judgement.shapes.iter().map(|shape| shape.kind).collect()
}

/// Fifteen requests whose phases are made from their number, from 0.
fn requests(label: &str, phases: impl Fn(u64) -> Vec<(&'static str, u64)>) -> Run {
    run(label, (0..15).map(phases))
}

/// The same run with a socket a request.
fn with_sockets(mut run: Run, socket: impl Fn(u64, &mut Connection)) -> Run {
    let model = story().connections.remove(0);
    for number in 0..15 {
        let mut connection = model.clone();
        connection.id = number + 1;
        socket(number, &mut connection);
        run.report.connections.push(connection);
    }
    run
}

fn plain(label: &str) -> Run {
    requests(label, |number| request(300 + number * 17))
}

#[test]
fn acknowledgements_that_are_kept_back_are_recognised() {
    for (step, wait) in [("40 ms", 40), ("200 ms", 200)] {
        let held = requests("board", |number| request(wait * MS + 300 + number * 37));
        let found = judgement(plain("native"), held);
        assert_eq!(found.verdict, Verdict::Slower);
        assert_eq!(kinds(&found), [Kind::DelayedAcknowledgement]);
        assert!(
            found.shapes[0].words.starts_with(&format!("wait takes {step} in 15 of 15")),
            "{}",
            found.shapes[0].words
        );
    }
}

#[test]
fn waits_of_forty_milliseconds_are_no_acknowledgements_where_no_delay_is_on() {
    let mut held = requests("board", |number| request(40 * MS + number * 37));
    held.report.header.backend.settings.insert("no-delay".to_owned(), "true".to_owned());
    assert_eq!(kinds(&judgement(plain("native"), held)), []);
}

#[test]
fn a_faster_run_is_explained_by_what_the_base_had() {
    let held = requests("before", |number| request(40 * MS + number * 37));
    let found = judgement(held, plain("after"));
    assert_eq!((found.verdict, kinds(&found)), (Verdict::Faster, vec![Kind::DelayedAcknowledgement]));
    assert_eq!(found.shapes[0].label, "before");
}

#[test]
fn connects_that_were_tried_again_are_recognised() {
    let connect = |number: u64| [90, 1000 * MS + 900, 90, 3001 * MS, 7004 * MS][(number % 5) as usize] + number;
    let retried = requests("board", |number| vec![("connect", connect(number)), ("wait", 300 + number * 17)]);
    let base = requests("native", |number| vec![("connect", 90 + number), ("wait", 300 + number * 17)]);
    let found = judgement(base, retried);
    assert!(kinds(&found).contains(&Kind::ConnectRetries), "{found:?}");
    assert_eq!(found.shapes.last().unwrap().evidence[0].matches("s,").count(), 7);
}

#[test]
fn a_send_queue_that_clears_after_a_time_is_recognised() {
    let queue = requests("board", |number| vec![("send", if number % 3 == 2 { 3000 * MS + number * 700 } else { 26 })]);
    let queue = with_sockets(queue, |number, socket| socket.send_would_blocks = u64::from(number % 3 == 2));
    let base = with_sockets(requests("native", |number| vec![("send", 26 + number)]), |_, _| {});
    let found = judgement(base, queue);
    assert!(kinds(&found).contains(&Kind::SendQueue), "{found:?}");
    let words = &found.shapes.iter().find(|shape| shape.kind == Kind::SendQueue).unwrap().words;
    assert!(words.starts_with("5 sends wait, all for about 3.0"), "{words}");
}

#[test]
fn closes_that_linger_are_recognised() {
    let lingering = requests("board", |number| vec![("wait", 300 + number * 17), ("close", 2000 * MS + number * 900)]);
    let base = requests("native", |number| vec![("wait", 300 + number * 17), ("close", 51)]);
    assert_eq!(kinds(&judgement(base, lingering)), [Kind::LingeringClose]);
}

#[test]
fn a_coarse_clock_is_recognised() {
    let ticks = requests("board", |number| vec![("wait", 10 * MS * (1 + number * 5 % 4))]);
    let found = judgement(plain("native"), ticks);
    assert!(kinds(&found).contains(&Kind::CoarseClock), "{found:?}");
}

#[test]
fn a_coarse_clock_that_shows_some_as_zero_is_recognised() {
    let run = |few: u64| {
        let wait = move |number: u64| if number < few { number } else { 10 * MS * (1 + number * 5 % 4) };
        of_samples(
            "board",
            (0..15)
                .map(|at| {
                    let mut one = sample("echo", at, &[], None);
                    one.duration_ns = wait(at) * 1000;
                    one
                })
                .collect(),
        )
    };
    let native = || {
        let mut run = run(0);
        run.report.samples.iter_mut().zip(0..).for_each(|(sample, at)| sample.duration_ns = 300_000 + at * 17_000);
        run
    };
    assert!(kinds(&judgement(native(), run(2))).contains(&Kind::CoarseClock));
    // Zero is a multiple of anything.
    assert!(!kinds(&judgement(native(), run(9))).contains(&Kind::CoarseClock));
}

#[test]
fn slow_name_lookups_are_recognised() {
    let slow = requests("board", |number| vec![("resolve", 410 * MS + number * 3100), ("wait", 300 + number * 17)]);
    let base = requests("native", |number| vec![("resolve", 80 + number), ("wait", 300 + number * 17)]);
    assert_eq!(kinds(&judgement(base, slow)), [Kind::NameLookup]);
}

#[test]
fn lookups_that_fail_are_recognised() {
    let mut failing = plain("board");
    let error = "name unresolvable";
    failing.report.samples[3].error = Some(error.into());
    failing.report.lookups = story().lookups;
    failing.report.lookups[0].error = Some(error.to_owned());
    assert_eq!(kinds(&judgement(plain("native"), failing)), [Kind::NameLookup]);
}

#[test]
fn a_rate_that_all_connections_share_is_recognised() {
    let bytes = |number: u64| 20_000 + number % 4 * 15_000;
    // 100 kB a second, against as fast as it can.
    let slow = requests("board", |number| vec![("receive", bytes(number) * 10 + number * 40)]);
    let transfer = |ns_a_byte: u64| {
        move |number: u64, socket: &mut Connection| {
            socket.received_bytes = bytes(number);
            socket.receives = 20;
            socket.first_received_ns = Some(socket.opened_ns);
            socket.last_received_ns = Some(socket.opened_ns + bytes(number) * ns_a_byte);
        }
    };
    let base = requests("native", |number| vec![("receive", bytes(number) / 100 + number * 40)]);
    let found = judgement(with_sockets(base, transfer(8)), with_sockets(slow, transfer(10_000)));
    assert!(kinds(&found).contains(&Kind::RateLimit), "{found:?}");
    let words = &found.shapes.iter().find(|shape| shape.kind == Kind::RateLimit).unwrap().words;
    assert!(words.contains("800 kbit/s (100 kB/s)"), "{words}");
}

#[test]
fn plain_runs_have_no_shape() {
    // Fifteen and a hundred requests of log-normal, normal and uniform waits around 3, 42 and 300 ms, against others.
    let mut random = Random::new(17);
    let (mut told, mut all) = (Vec::new(), 0);
    for round in 0..180u64 {
        let n = if round % 2 == 0 { 15 } else { 100 };
        let scale = [3.0, 42.0, 300.0][(round / 2 % 3) as usize] * 1e3;
        let kind = round / 6 % 3;
        let wait = |random: &mut Random| {
            let factor = match kind {
                0 => (0.4 * random.normal()).exp(),
                1 => (1.0 + 0.25 * random.normal()).max(0.05),
                _ => 0.3 + 1.4 * random.uniform(),
            };
            (factor * scale) as u64
        };
        let slow: Vec<_> = (0..n)
            .map(|_| {
                let mut phases = request(wait(&mut random));
                phases[0].1 += jitter(&mut random, 60);
                phases[1].1 += jitter(&mut random, 20);
                phases[4].1 += jitter(&mut random, 30);
                phases
            })
            .collect();
        let base = run("native", (0..n).map(|_| request(300 + jitter(&mut random, 90))));
        let found = judgement(base, run("board", slow));
        all += 1;
        told.extend(kinds(&found).into_iter().map(|kind| (round, kind)));
    }
    println!("{} shapes in {all} plain comparisons: {told:?}", told.len());
    // A bimodal phase is found as often as its test allows, on five phases each; nothing else may be.
    assert!(told.iter().all(|(_, kind)| *kind == Kind::BimodalPhase), "{told:?}");
    assert!(told.len() * 100 <= all * 6, "{told:?}");
}

#[test]
fn alike_runs_have_no_shape_to_tell() {
    assert_eq!(kinds(&judgement(emulator(15), emulator(15))), []);
    let held = |label| requests(label, |number| request(40 * MS + number * 37));
    assert_eq!(kinds(&judgement(held("a"), held("b"))), []);
}

#[test]
fn samples_without_phases_are_looked_at_as_a_whole() {
    let of = |label, us: &dyn Fn(u64) -> u64| {
        let echo = |at: u64| {
            let mut one = sample("echo", at, &[], None);
            one.duration_ns = us(at) * 1000 + at * 31_000;
            one
        };
        of_samples(label, (0..15).map(echo).collect())
    };
    let native = || of("native", &|_| 90);
    assert_eq!(kinds(&judgement(native(), of("board", &|_| 40 * MS + 90))), [Kind::DelayedAcknowledgement]);
    let stalls = judgement(native(), of("board", &|at| if at % 2 == 0 { 600 * MS } else { 5900 * MS }));
    assert!(kinds(&stalls).contains(&Kind::BimodalPhase), "{stalls:?}");
    assert!(stalls.shapes[0].words.starts_with("the sample is 600 ms ×8, 5.90 s ×7: two modes"), "{stalls:?}");
}

#[test]
fn an_answer_that_stalls_is_recognised_with_the_samples_that_did() {
    let stalling = requests("board", |number| request(if number % 2 == 0 { 600 } else { 5900 } * MS + number * 700));
    let found = judgement(plain("native"), stalling);
    assert_eq!(kinds(&found), [Kind::BimodalPhase]);
    assert!(found.shapes[0].words.contains("two modes: some answers begin late"), "{found:?}");
    assert!(found.shapes[0].evidence[0].starts_with("wait of 2: 5.90 s, 4: 5.90 s"), "{found:?}");
}

#[test]
fn a_longer_path_is_recognised_where_connecting_and_waiting_grow_alike() {
    let mut random = Random::new(29);
    let mut far = |connect: u64, wait: u64| {
        let samples: Vec<_> = (0..15)
            .map(|_| {
                let mut phases = request(300 + wait * MS + jitter(&mut random, 5 * MS));
                phases[0].1 += connect * MS + jitter(&mut random, 5 * MS);
                phases
            })
            .collect();
        run("far", samples)
    };
    let found = judgement(plain("native"), far(100, 100));
    assert_eq!(kinds(&found), [Kind::LongerPath], "{found:?}");
    let words = &found.shapes[0].words;
    assert!(words.starts_with("each round trip takes about 10") && words.contains("ms longer: connect +10"), "{words}");
    // Who waits longer and connects as before is not far away, and neither is who connects a second later.
    assert_eq!(kinds(&judgement(plain("native"), far(0, 100))), []);
    assert_eq!(kinds(&judgement(plain("native"), far(700, 100))), []);
    assert_eq!(kinds(&judgement(far(100, 100), far(100, 100))), []);
}

#[test]
fn a_longer_path_is_seen_at_the_sockets_where_no_phase_tells() {
    let of = |label, far: u64| {
        let mut run = requests(label, |number| vec![("all", 400 + 2 * far * MS + number * 17)]);
        run.report.samples.iter_mut().for_each(|sample| sample.phases.clear());
        with_sockets(run, move |number, socket| {
            let at = socket.opened_ns + number;
            socket.connect_start_ns = Some(at);
            socket.connect_end_ns = Some(at + 90_000 + far * 1_000_000);
            socket.first_sent_ns = Some(at);
            socket.first_received_ns = Some(at + 200_000 + far * 1_000_000);
        })
    };
    assert_eq!(kinds(&judgement(of("native", 0), of("far", 80))), [Kind::LongerPath]);
}

#[test]
fn options_that_are_refused_are_told_with_those_that_are_lacking() {
    let mut refusing = plain("board");
    refusing.report.samples.iter_mut().for_each(|sample| sample.error = Some("connect: not-supported".into()));
    let mut base = plain("native");
    base.report.header.backend.capabilities.options = vec!["linger".to_owned(), "no-delay".to_owned()];
    refusing.report.header.backend.capabilities.options = vec!["no-delay".to_owned()];
    let found = judgement(base, refusing);
    assert_eq!((found.verdict, kinds(&found)), (Verdict::Failing, vec![Kind::RefusedOptions]));
    let shape = &found.shapes[0];
    assert_eq!(shape.words, "these sockets do not support linger, which those of native do");
    assert_eq!(shape.evidence, ["15 of 15 fail with not-supported"]);
}
