//! Who arrives before whom.

use std::time::Duration;

use proptest::prelude::*;

use super::kit::{SEED, ms, passes, rule};
use crate::shape::dice::Seed;
use crate::shape::lane::Lane;
use crate::shape::line::{Line, SEGMENT, Verdict};
use crate::shape::profile::{Delay, Distribution, Loss, Path, Rate, Trace, Way};

fn distributions() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        Just(Distribution::Uniform),
        Just(Distribution::Normal),
        Just(Distribution::Pareto),
        prop::collection::vec(-1.0..100.0_f64, 1..10).prop_map(Distribution::Table),
    ]
}

fn delays() -> impl Strategy<Value = Delay> {
    (0..200_000_u64, 0.0..=1.0_f64, distributions()).prop_map(|(base, share, distribution)| {
        let base = Duration::from_micros(base);
        Delay { base, jitter: base.mul_f64(share), distribution }
    })
}

fn rates() -> impl Strategy<Value = Option<Rate>> {
    let trace = prop::collection::btree_set(0..500_u64, 1..20).prop_map(|times| {
        let milliseconds = times.into_iter().chain([500]).collect();
        Rate::Trace(Trace { milliseconds })
    });
    prop_oneof![Just(None), (1000..10_000_000_u64).prop_map(|rate| Some(Rate::Constant(rate))), trace.prop_map(Some)]
}

fn losses() -> impl Strategy<Value = Loss> {
    let chance = || 0.0..=1.0_f64;
    prop_oneof![
        Just(Loss::None),
        chance().prop_map(Loss::Independent),
        (chance(), chance(), chance(), chance()).prop_map(|(good_to_bad, bad_to_good, loss_in_good, loss_in_bad)| {
            Loss::Bursts { good_to_bad, bad_to_good, loss_in_good, loss_in_bad }
        }),
    ]
}

prop_compose! {
    fn paths()(
        delay in delays(),
        rate in rates(),
        queue in prop::option::of(1..100_000_u64),
        loss in losses(),
        duplicate in 0.0..=1.0_f64,
        reorder in 0.0..=1.0_f64,
        offline in prop::bool::weighted(0.1),
    ) -> Path {
        Path { delay, rate, queue, loss, duplicate, reorder, offline }
    }
}

/// Regimes of any kind.
fn lines() -> impl Strategy<Value = Line> {
    let regime = (1..5000_u64, paths()).prop_map(|(lasts, path)| (ms(lasts), path));
    prop::collection::vec(regime, 1..4).prop_map(|regimes| Line::new(&rule(regimes), Way::Up))
}

/// When something is handed over after the last, in microseconds, and its bytes.
fn traffic() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0..50_000_u64, 0..3000_u64), 1..100)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_a_datagram_chosen_for_it_overtakes_and_none_arrives_before_it_departs(
        mut line in lines(),
        traffic in traffic(),
        seed: u64,
    ) {
        let mut lane = Lane::new(Seed(seed), 0, 0, Way::Up);
        let (mut now, mut departed, mut arrived) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        for (after, bytes) in traffic {
            now += Duration::from_micros(after);
            let Verdict::Passes(passage) = line.datagram(now, bytes, &mut lane) else { continue };
            prop_assert!(passage.departs >= now.max(departed) && passage.due >= passage.departs);
            prop_assert!(passage.reordered || passage.due >= arrived);
            prop_assert!(passage.duplicate.is_none_or(|again| again >= passage.due));
            departed = passage.departs;
            arrived = arrived.max(passage.due);
        }
    }

    #[test]
    fn a_stream_arrives_in_order_whatever_the_line(mut line in lines(), traffic in traffic(), seed: u64) {
        let mut lane = Lane::new(Seed(seed), 0, 0, Way::Up);
        let (mut now, mut arrived) = (Duration::ZERO, Duration::ZERO);
        let mut never = false;
        for (after, bytes) in traffic {
            now += Duration::from_micros(after);
            let piece = line.piece(now, bytes, ms(10), &mut lane);
            // Once one never arrives, none that has bytes does.
            never |= piece.is_none();
            prop_assert!(!never || bytes == 0 || piece.is_none());
            let Some(piece) = piece else { continue };
            prop_assert!(piece.departs >= now && piece.due >= piece.departs && piece.due >= arrived);
            arrived = piece.due;
        }
    }

    #[test]
    fn the_same_bytes_meet_the_same_in_whatever_pieces_they_come(
        delay in delays(),
        loss in losses(),
        seed: u64,
        parts in prop::collection::vec(1..20_000_u64, 1..30),
    ) {
        let path = Path { delay, loss, ..Path::default() };
        let bytes: u64 = parts.iter().sum();
        // When each byte arrives, by runs; and how many segments were lost until then.
        let whole_line = Line::new(&rule([(ms(1), path)]), Way::Down);
        let arrivals = |parts: &[u64]| {
            let (mut line, mut lane) = (whole_line.clone(), Lane::new(Seed(seed), 0, 0, Way::Down));
            let (mut arrivals, mut lost, mut segments) = (Vec::new(), 0, 0);
            for &part in parts {
                let mut rest = part;
                while rest > 0 {
                    let some = rest.min(lane.left().unwrap_or(SEGMENT));
                    let piece = line.piece(ms(0), some, ms(10), &mut lane).unwrap();
                    arrivals.resize(arrivals.len() + some as usize, piece.due);
                    (lost, segments) = (lost + piece.lost, segments + piece.segments);
                    rest -= some;
                }
            }
            (arrivals, lost, segments)
        };
        let (whole, in_parts) = (arrivals(&[bytes]), arrivals(&parts));
        prop_assert_eq!(whole.2, bytes.div_ceil(SEGMENT));
        prop_assert!(whole == in_parts);
    }

    #[test]
    fn a_queue_never_holds_more_than_its_limit_or_one_datagram(
        queue in 1..10_000_u64,
        bytes_a_second in 1000..1_000_000_u64,
        traffic in traffic(),
    ) {
        let path = Path { rate: Some(Rate::Constant(bytes_a_second)), queue: Some(queue), ..Path::default() };
        let mut line = Line::new(&rule([(ms(1), path)]), Way::Up);
        let mut lane = Lane::new(SEED, 0, 0, Way::Up);
        let mut now = Duration::ZERO;
        for (after, bytes) in traffic {
            now += Duration::from_micros(after);
            let before = line.backlog(now);
            let verdict = line.datagram(now, bytes, &mut lane);
            let fits = before == 0 || before + bytes <= queue;
            prop_assert_eq!(verdict == Verdict::Overflowed, !fits);
            prop_assert_eq!(line.backlog(now), if fits { before + bytes } else { before });
        }
    }

    #[test]
    fn the_same_seed_and_calls_decide_the_same(line in lines(), traffic in traffic(), seed: u64) {
        let run = || {
            let (mut line, mut lane, mut now) = (line.clone(), Lane::new(Seed(seed), 3, 1, Way::Down), Duration::ZERO);
            let verdict = |&(after, bytes): &(u64, u64)| {
                now += Duration::from_micros(after);
                line.datagram(now, bytes, &mut lane)
            };
            traffic.iter().map(verdict).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn a_lost_piece_holds_up_its_own_stream_and_no_other() {
    let path = Path { loss: Loss::Independent(0.2), ..Path::default() };
    let mut line = Line::new(&rule([(ms(1), path)]), Way::Up);
    let [mut held, mut other] = [0, 1].map(|socket| Lane::new(SEED, socket, 0, Way::Up));
    let lost = (0..100).find(|&at| line.piece(ms(at), SEGMENT, ms(0), &mut held).unwrap().lost > 0).unwrap();
    let behind = line.piece(ms(lost + 1), 1, ms(0), &mut held).unwrap();
    assert!(behind.due >= ms(lost + 200), "{behind:?}");
    let on_time = (0..5).any(|_| line.piece(ms(lost + 1), SEGMENT, ms(0), &mut other).unwrap().due == ms(lost + 1));
    assert!(on_time);
}

#[test]
fn a_datagram_overtakes_by_skipping_the_delay_and_delays_nobody() {
    let path = Path { reorder: 0.3, delay: Delay { base: ms(50), ..Delay::default() }, ..Path::default() };
    let mut line = Line::new(&rule([(ms(1), path)]), Way::Up);
    let mut lane = Lane::new(SEED, 0, 0, Way::Up);
    let passages: Vec<_> = (0..50).map(|at| passes(line.datagram(ms(at), 10, &mut lane))).collect();
    for (at, passage) in (0..).zip(&passages) {
        assert_eq!(passage.due, if passage.reordered { ms(at) } else { ms(at + 50) });
    }
    assert!(passages.iter().any(|passage| passage.reordered));
}
