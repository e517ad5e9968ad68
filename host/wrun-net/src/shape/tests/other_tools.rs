//! Bugs that the best tools of this kind have had, each as a claim that this one has not.

use std::time::Duration;

use super::kit::{SEED, delay, departed, lane, line, ms, passes, rate, rule, stream};
use crate::shape::handshake::{Leg, Segments, connect};
use crate::shape::line::{Line, Verdict};
use crate::shape::opening::OpeningDice;
use crate::shape::profile::{Delay, Distribution, Failure, Loss, Opening, Path, Way};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_limit_of_the_link_is_not_one_for_each_connection() {
    let mut line = line(rate(10_000));
    let mut lanes = [0, 1].map(lane);
    let departs = [0, 1].map(|user: usize| line.piece(ms(0), 10_000, ms(0), &mut lanes[user]).unwrap().departs);
    assert_eq!(departs, [SECOND, 2 * SECOND]);
}

#[test]
fn a_probability_of_zero_never_acts() {
    let bursts = Loss::Bursts { good_to_bad: 0.0, bad_to_good: 0.0, loss_in_good: 0.0, loss_in_bad: 1.0 };
    for loss in [Loss::None, Loss::Independent(0.0), bursts] {
        let mut line = line(Path { loss, ..Path::default() });
        let mut lane = lane(0);
        for at in (0..100_000).map(ms) {
            let passage = passes(line.datagram(at, 100, &mut lane));
            assert!(passage.due == at && passage.duplicate.is_none() && !passage.reordered);
        }
    }
}

#[test]
fn the_first_connection_and_its_handshake_do_not_escape() {
    let rule = rule([(SECOND, delay(ms(50), ms(0), Distribution::Uniform))]);
    let [mut up, mut down] = [Way::Up, Way::Down].map(|way| Line::new(&rule, way));
    let (mut up_lane, mut down_lane) = (lane(0), lane(0));
    let mut dice = OpeningDice::connect(SEED, 0, 0);
    let up = Leg { line: &mut up, lane: &mut up_lane, segments: &mut Segments::default() };
    let down = Leg { line: &mut down, lane: &mut down_lane, segments: &mut Segments::default() };
    assert_eq!(connect(ms(0), up, down, &Opening::default(), &mut dice).after, ms(100));
}

#[test]
fn a_name_lookup_and_a_connect_that_are_to_fail_do_so_the_first_time() {
    let opening = Opening { failure: 1.0, how: Failure::Refused, ..Opening::default() };
    let failed = opening.draw(ms(7), &mut OpeningDice::resolve(SEED, 0, 0));
    assert_eq!((failed.after, failed.failure), (ms(7), Some(Failure::Refused)));
}

#[test]
fn jitter_as_large_as_the_delay_never_makes_it_negative() {
    let tables = Distribution::Table(vec![-1.0, 0.5]);
    for distribution in [Distribution::Uniform, Distribution::Normal, Distribution::Pareto, tables] {
        let mut line = line(delay(ms(10), ms(10), distribution));
        for (socket, at) in (0..10_000).map(|at| (at, ms(at))) {
            assert!(passes(line.datagram(at, 1, &mut lane(socket))).due >= at);
        }
    }
}

#[test]
fn two_delays_of_50_ms_add_up_to_100() {
    let half = || line(delay(ms(50), ms(0), Distribution::Uniform));
    let (mut first, mut second) = (half(), half());
    let between = first.piece(ms(0), 1, ms(0), &mut lane(0)).unwrap().due;
    assert_eq!(second.piece(between, 1, ms(0), &mut lane(0)).unwrap().due, ms(100));
}

#[test]
fn a_delay_does_not_limit_what_passes() {
    let quick = stream(&mut line(rate(10_000_000)), &mut lane(0), 2 * SECOND, || 10_000);
    let slow_path = Path { delay: Delay { base: SECOND, ..Delay::default() }, ..rate(10_000_000) };
    assert_eq!(stream(&mut line(slow_path), &mut lane(0), 2 * SECOND, || 10_000), quick);

    // Of ten thousand that are sent at once, the last arrives when the first does.
    let mut line = line(delay(ms(100), ms(0), Distribution::Uniform));
    let mut lane = lane(0);
    let last = (0..10_000).map(|_| passes(line.datagram(ms(5), 1000, &mut lane)).due).last();
    assert_eq!(last, Some(ms(105)));
}

#[test]
fn a_delay_of_0_ms_adds_nothing() {
    let mut line = line(delay(ms(0), ms(0), Distribution::Normal));
    assert!(line.is_clear());
    assert_eq!(passes(line.datagram(ms(3), 1, &mut lane(0))).due, ms(3));
}

#[test]
fn a_queue_that_is_too_small_says_what_it_drops_and_passes_at_its_rate() {
    let mut line = line(Path { queue: Some(1000), ..rate(100_000) });
    let mut lane = lane(0);
    let verdicts: Vec<_> = (0..2000).map(|at| line.datagram(ms(at), 500, &mut lane)).collect();
    let overflowed = verdicts.iter().filter(|&&verdict| verdict == Verdict::Overflowed).count();
    let passed = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Passes(_))).count();
    assert_eq!(overflowed + passed, 2000);
    // Five times as much as the rate is offered for two seconds: a fifth passes, and what the queue still holds.
    assert!((400..=402).contains(&passed), "{passed}");
}

#[test]
fn a_datagram_larger_than_the_whole_queue_still_passes_an_empty_one() {
    let mut line = line(Path { queue: Some(100), ..rate(1000) });
    let mut lane = lane(0);
    assert_eq!(passes(line.datagram(ms(0), 1000, &mut lane)).departs, SECOND);
    assert_eq!(line.datagram(ms(999), 1, &mut lane), Verdict::Overflowed);
    assert_eq!(passes(line.datagram(SECOND, 1000, &mut lane)).departs, 2 * SECOND);
}

#[test]
fn jitter_reorders_nothing() {
    let mut line = line(delay(ms(50), ms(50), Distribution::Uniform));
    let mut lane = lane(0);
    let due: Vec<_> = (0..1000).map(|at| passes(line.datagram(ms(at), 1, &mut lane)).due).collect();
    assert!(due.is_sorted());
    assert!(due.windows(2).any(|pair| pair[1] - pair[0] != ms(1)), "there is no jitter at all");
}

/// A checked profile has no rate of zero; who makes one all the same gets a line that carries nothing.
#[test]
fn a_rate_of_zero_is_not_unlimited() {
    assert_eq!(line(rate(0)).piece(ms(0), 1, ms(0), &mut lane(0)), None);
}

#[test]
fn no_second_carries_more_than_the_rate_and_one_piece_the_first_least_of_all() {
    const RATE: u64 = 100_000;
    const PIECE: u64 = 1448;
    // After a minute in which nothing was sent, too.
    let mut line = line(rate(RATE));
    let mut lane = lane(0);
    let departures: Vec<_> = [SECOND; 200]
        .map(|at| at * 60)
        .into_iter()
        .map(|at| (line.piece(at, PIECE, ms(0), &mut lane).unwrap().departs, PIECE))
        .collect();
    assert!(departures[0].0 > SECOND * 60);
    for from in (60_000..62_000).step_by(7).map(ms) {
        assert!(departed(&departures, from, from + SECOND) <= RATE + PIECE);
    }
    assert!(departed(&departures, SECOND * 60, SECOND * 61) <= RATE);
}
