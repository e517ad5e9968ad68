//! How much passes in how long.

use std::time::Duration;

use proptest::prelude::*;

use super::kit::{departed, lane, line, ms, passes, rate, rule, stream};
use crate::shape::line::{Line, MAX_PIECE};
use crate::shape::profile::{Path, Rate, Trace, Way};

const SECOND: Duration = Duration::from_secs(1);

/// More writes than about this many are not made in one case: in two seconds of the fastest rate the smallest would be
/// too many. Those are held to the exact time of each of a few instead.
const MOST_WRITES: u64 = 50_000;

fn within(achieved: f64, wanted: f64, share: f64) -> Result<(), TestCaseError> {
    let error = (achieved / wanted - 1.0).abs();
    prop_assert!(error <= share, "{achieved} where {wanted} was wanted: {error} away");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_has_its_rate_and_never_more_in_the_first_second(
        exponent in 3.9..8.0_f64,
        sizes in prop::collection::vec(prop_oneof![1..64_u64, 1000..1500_u64, 1..=MAX_PIECE], 1..8),
    ) {
        let bytes_a_second = 10_f64.powf(exponent).max(8000.0) as u64;
        let least = 2 * bytes_a_second / MOST_WRITES;
        let mut sizes = sizes.iter().map(|&size| size.max(least)).cycle();
        let largest = sizes.clone().take(8).max().unwrap();
        let lasts = 2 * SECOND;
        let departures = stream(&mut line(rate(bytes_a_second)), &mut lane(0), lasts, || sizes.next().unwrap());
        let last = departures.last().unwrap().0;
        prop_assert!(last >= lasts);
        let bytes: u64 = departures.iter().map(|(_, bytes)| bytes).sum();
        within(bytes as f64 / last.as_secs_f64(), bytes_a_second as f64, 0.02)?;
        prop_assert!(departed(&departures, Duration::ZERO, SECOND) <= bytes_a_second + largest);
    }

    #[test]
    fn no_write_is_so_small_that_its_time_is_rounded_away(
        bytes_a_second in 8_000..=100_000_000_u64,
        sizes in prop::collection::vec(1..32_u64, 1..8),
        seconds in 0..1_000_000_u64,
    ) {
        let start = Duration::from_secs(seconds);
        let mut line = line(Path { queue: Some(u64::MAX), ..rate(bytes_a_second) });
        let mut lane = lane(0);
        let mut total = 0_u64;
        for &size in sizes.iter().cycle().take(10_000) {
            let piece = line.piece(start, size, Duration::ZERO, &mut lane).unwrap();
            total += size;
            let exact = (u128::from(total) * 1_000_000_000).div_ceil(bytes_a_second.into());
            prop_assert_eq!((piece.departs - start).as_nanos(), exact);
        }
    }

    /// A regime's rate is that of its time, also for what began before it or ends after it.
    #[test]
    fn rates_that_take_turns_carry_their_mean(
        rates in prop::collection::vec((1..200_u64, 8_000..=10_000_000_u64), 1..5),
        size in 1..=MAX_PIECE,
    ) {
        let regimes = rates.iter().map(|&(lasts, bytes_a_second)| (ms(lasts), rate(bytes_a_second)));
        let mut line = Line::new(&rule(regimes), Way::Down);
        let cycle: u64 = rates.iter().map(|(lasts, _)| lasts).sum();
        // Exact, in thousandths of a byte.
        let carried: u64 = rates.iter().map(|(lasts, rate)| lasts * rate).sum();
        let (mut lane, mut last) = (lane(0), Duration::ZERO);
        for number in 1..200_u64 {
            last = line.piece(Duration::ZERO, size, Duration::ZERO, &mut lane).unwrap().departs;
            let whole_cycles = number * size * 1000 / carried;
            prop_assert!(last >= ms(cycle * whole_cycles) && last <= ms(cycle * (whole_cycles + 1)), "{:?}", last);
        }
        prop_assert!(last > Duration::ZERO);
    }

    #[test]
    fn room_is_there_when_it_was_said_and_not_before(
        bytes_a_second in 8_000..=1_000_000_u64,
        queue in 1..100_000_u64,
        sizes in prop::collection::vec(1..20_000_u64, 1..40),
    ) {
        let mut line = line(Path { queue: Some(queue), ..rate(bytes_a_second) });
        let (mut lane, mut now) = (lane(0), Duration::ZERO);
        for size in sizes {
            let when = line.room_at(now, size).unwrap();
            if when > now {
                let before = line.backlog(when - Duration::from_nanos(1));
                prop_assert!(before > 0 && before + size > queue, "{} and {} fit {} earlier", before, size, queue);
            }
            let backlog = line.backlog(when);
            prop_assert!(backlog == 0 || backlog + size <= queue);
            line.piece(when, size, Duration::ZERO, &mut lane).unwrap();
            now = when;
        }
    }
}

#[test]
fn six_who_share_a_line_share_its_rate_alike() {
    const RATE: u64 = 1_000_000;
    let mut line = line(rate(RATE));
    let mut users: Vec<_> = (0..6).map(|socket| (lane(socket), 0_u64)).collect();
    let (mut now, mut last) = (Duration::ZERO, Duration::ZERO);
    while now < 2 * SECOND {
        for (lane, sent) in &mut users {
            now = line.room_at(now, 1000).unwrap();
            last = line.piece(now, 1000, Duration::ZERO, lane).unwrap().departs;
            *sent += 1000;
        }
    }
    let total: u64 = users.iter().map(|(_, sent)| sent).sum();
    within(total as f64 / last.as_secs_f64(), RATE as f64, 0.02).unwrap();
    assert!(users.iter().all(|&(_, sent)| sent == total / 6));
}

#[test]
fn a_trace_carries_what_its_opportunities_are_for_and_what_nobody_takes_is_lost() {
    // Three opportunities in 10 ms: 450,000 bytes a second.
    let trace = Trace { milliseconds: vec![0, 4, 10] };
    let path = Path { rate: Some(Rate::Trace(trace)), ..Path::default() };
    let departures = stream(&mut line(path.clone()), &mut lane(0), 3 * SECOND, || 700);
    let bytes: u64 = departures.iter().map(|(_, bytes)| bytes).sum();
    within(bytes as f64 / departures.last().unwrap().0.as_secs_f64(), 450_000.0, 0.02).unwrap();

    let mut line = line(path);
    let mut lane = lane(0);
    let mut departs = |now, bytes| passes(line.datagram(now, bytes, &mut lane)).departs;
    assert_eq!(departs(ms(0), 1500), ms(0));
    assert_eq!(departs(ms(0), 1000), ms(4));
    // The rest of an opportunity is for who waited for it already,
    assert_eq!(departs(ms(1), 500), ms(4));
    assert_eq!(departs(ms(4), 1), ms(10));
    // the second one at 10 ms belongs to the repetition,
    assert_eq!(departs(ms(10), 1500), ms(10));
    // and what passed unused does not help later.
    assert_eq!(departs(ms(1001), 3000), ms(1010));
}

#[test]
fn a_cycle_that_carries_nothing_carries_nothing_for_ever_and_says_so() {
    let late = Path { rate: Some(Rate::Trace(Trace { milliseconds: vec![20] })), ..Path::default() };
    let offline = Path { offline: true, ..Path::default() };
    let mut line = Line::new(&rule([(ms(10), late), (ms(10), offline)]), Way::Up);
    assert_eq!(line.piece(ms(3), 1, Duration::ZERO, &mut lane(0)), None);
    assert_eq!(line.backlog(ms(1_000_000)), 1);
    assert_eq!(line.room_at(ms(3), u64::MAX), None);
}

#[test]
fn a_transfer_of_a_million_cycles_is_not_walked_through_cycle_by_cycle() {
    let regimes = [(Duration::from_nanos(10), rate(1)), (Duration::from_nanos(10), rate(3))];
    let mut line = Line::new(&rule(regimes), Way::Up);
    // Two bytes a second on average.
    let piece = line.piece(Duration::ZERO, 1_000_000, Duration::ZERO, &mut lane(0)).unwrap();
    assert_eq!(piece.departs, Duration::from_secs(500_000));
}

#[test]
fn the_most_absurd_numbers_end_at_the_end_of_time() {
    for bytes_a_second in [1, u64::MAX] {
        let regimes = [(Duration::MAX, rate(bytes_a_second)), (Duration::MAX, rate(1))];
        let mut line = Line::new(&rule(regimes), Way::Up);
        let mut lane = lane(0);
        for now in [Duration::ZERO, Duration::MAX] {
            let departs = line.datagram(now, u64::MAX, &mut lane);
            assert!(passes(departs).departs <= Duration::from_nanos(u64::MAX));
        }
    }
}
