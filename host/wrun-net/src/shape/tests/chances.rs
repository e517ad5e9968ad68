//! How often something happens: within the 99 % interval of what was set, over 100,000 datagrams.

use std::time::Duration;

use super::kit::{SEED, lane, line, ms, passes};
use crate::shape::dice::{Effect, Owner, Seed};
use crate::shape::line::Verdict;
use crate::shape::loss::{Attempt, Weather};
use crate::shape::profile::{Delay, Distribution, Loss, Path, Way};

const COUNT: usize = 100_000;

/// The normal distribution's, of both sides together.
const Z_99: f64 = 2.576;

fn verdicts(path: Path, count: usize) -> Vec<Verdict> {
    verdicts_of(0, path, count)
}

fn verdicts_of(socket: u64, path: Path, count: usize) -> Vec<Verdict> {
    let (mut line, mut lane) = (line(path), lane(socket));
    (0..count as u64).map(|at| line.datagram(ms(at), 100, &mut lane)).collect()
}

/// Counts what happens to each of ten sockets. One of a hundred is outside of its 99 % interval, so that one of these
/// ten may be; of two the chance is below a two-hundredth.
#[track_caller]
fn assert_share(path: &Path, probability: f64, happens: impl Fn(&Verdict) -> bool) {
    let expected = probability * COUNT as f64;
    let reach = Z_99 * (expected * (1.0 - probability)).sqrt();
    let counts = (0..10).map(|socket| verdicts_of(socket, path.clone(), COUNT).iter().filter(|v| happens(v)).count());
    let outside: Vec<usize> = counts.filter(|&count| (count as f64 - expected).abs() > reach).collect();
    assert!(outside.len() <= 1, "{outside:?} where {expected} ± {reach} was expected");
}

#[test]
fn independent_losses_are_as_many_as_set() {
    for probability in [0.001, 0.01, 0.3, 0.97] {
        let path = Path { loss: Loss::Independent(probability), ..Path::default() };
        assert_share(&path, probability, |&verdict| verdict == Verdict::Lost);
    }
}

#[test]
fn duplicates_and_reordered_are_as_many_as_set() {
    let delay = Delay { base: ms(5), ..Delay::default() };
    let path = Path { duplicate: 0.02, reorder: 0.1, delay, ..Path::default() };
    assert_share(&path, 0.02, |&verdict| passes(verdict).duplicate.is_some());
    assert_share(&path, 0.1, |&verdict| passes(verdict).reordered);
}

#[test]
fn a_burst_is_as_long_as_its_end_is_unlikely_and_the_losses_are_as_many_as_both_states_say() {
    let (good_to_bad, bad_to_good) = (0.01, 0.25);
    let loss = Loss::Bursts { good_to_bad, bad_to_good, loss_in_good: 0.0, loss_in_bad: 1.0 };
    let verdicts = verdicts(Path { loss, ..Path::default() }, COUNT);
    let bursts: Vec<usize> = verdicts
        .chunk_by(|one, other| one == other)
        .filter(|run| run[0] == Verdict::Lost)
        .map(<[Verdict]>::len)
        .collect();
    let lost: usize = bursts.iter().sum();

    // Lengths are geometric.
    let (mean, wanted) = (lost as f64 / bursts.len() as f64, 1.0 / bad_to_good);
    let deviation = (1.0 - bad_to_good).sqrt() / bad_to_good;
    let reach = Z_99 * deviation / (bursts.len() as f64).sqrt();
    assert!((mean - wanted).abs() <= reach, "bursts of {mean}, and {wanted} ± {reach} was expected");

    // Neighbours are alike, which widens the interval of their sum.
    let share = good_to_bad / (good_to_bad + bad_to_good);
    let alike = 1.0 - good_to_bad - bad_to_good;
    let spread = share * (1.0 - share) * (1.0 + alike) / (1.0 - alike);
    let reach = Z_99 * (COUNT as f64 * spread).sqrt();
    let expected = share * COUNT as f64;
    assert!((lost as f64 - expected).abs() <= reach, "{lost} lost, and {expected} ± {reach} was expected");
}

#[test]
fn bursts_begin_in_the_good_state_and_each_state_loses_its_own_share() {
    let mut dice = SEED.dice(Owner { socket: 0, rule: 0, way: Way::Up, effect: Effect::Loss });
    let turned = Loss::Bursts { good_to_bad: 1.0, bad_to_good: 1.0, loss_in_good: 1.0, loss_in_bad: 0.0 };
    let mut weather = Weather::default();
    let lost: Vec<bool> = (0..6).map(|_| weather.loses(&turned, Attempt::First, &mut dice)).collect();
    assert_eq!(lost, [true, false, true, false, true, false]);
}

/// A segment that was lost is not sent into the rest of the burst, which would be a timeout of minutes for a burst of
/// milliseconds.
#[test]
fn what_is_sent_again_is_lost_as_often_as_anything_is() {
    // Rare bursts of a hundred: one of a hundred is lost.
    let loss = Loss::Bursts { good_to_bad: 0.0001, bad_to_good: 0.0099, loss_in_good: 0.0, loss_in_bad: 1.0 };
    let (mut line, mut lane) = (line(Path { loss, ..Path::default() }), lane(0));
    let pieces = (0..COUNT).map(|_| line.piece(ms(0), 1000, ms(0), &mut lane).unwrap().lost);
    let lost: Vec<u64> = pieces.filter(|&lost| lost > 0).collect();
    let twice = lost.iter().filter(|&&lost| lost > 1).count();
    assert!(lost.len() > 300 && twice * 20 < lost.len(), "{twice} of {} were lost twice", lost.len());
}

#[test]
fn the_mean_loss_is_that_of_both_states_by_their_share() {
    let bursts =
        |good_to_bad, bad_to_good| Loss::Bursts { good_to_bad, bad_to_good, loss_in_good: 0.1, loss_in_bad: 0.5 };
    let means =
        [bursts(0.1, 0.3), bursts(0.0, 0.0), bursts(0.2, 0.0), Loss::Independent(0.3), Loss::None].map(|l| l.mean());
    for (mean, wanted) in means.into_iter().zip([0.2, 0.1, 0.5, 0.3, 0.0]) {
        assert!((mean - wanted).abs() < 1e-9, "{mean} where {wanted} was expected");
    }
}

#[test]
fn a_burst_that_one_socket_meets_is_met_by_another() {
    let loss = Loss::Bursts { good_to_bad: 1.0, bad_to_good: 0.0, loss_in_good: 0.0, loss_in_bad: 1.0 };
    let mut line = line(Path { loss, ..Path::default() });
    assert_ne!(line.datagram(ms(0), 1, &mut lane(0)), Verdict::Lost);
    assert_eq!(line.datagram(ms(0), 1, &mut lane(1)), Verdict::Lost);
}

#[test]
fn what_is_certain_always_happens() {
    let path = Path { duplicate: 1.0, reorder: 1.0, ..Path::default() };
    let all = verdicts(path, 10_000).into_iter().map(passes).collect::<Vec<_>>();
    assert!(all.iter().all(|passage| passage.duplicate.is_some() && passage.reordered));
    let lost = verdicts(Path { loss: Loss::Independent(1.0), ..Path::default() }, 10_000);
    assert!(lost.iter().all(|&verdict| verdict == Verdict::Lost));
}

#[test]
fn what_one_socket_does_leaves_the_decisions_of_another_as_they_were() {
    let path = Path {
        loss: Loss::Independent(0.2),
        delay: Delay { base: ms(50), jitter: ms(20), distribution: Distribution::Normal },
        duplicate: 0.2,
        ..Path::default()
    };
    let alone = verdicts(path.clone(), 1000);
    let (mut line, mut first, mut second) = (line(path), lane(0), lane(1));
    let mut shared = Vec::new();
    for at in 0..1000 {
        shared.push(line.datagram(ms(at), 100, &mut first));
        for _ in 0..at % 3 {
            line.datagram(ms(at), 100, &mut second);
        }
    }
    assert_eq!(alone, shared);
}

#[test]
fn one_changed_effect_leaves_the_decisions_of_the_others_as_they_were() {
    let path = |duplicate, reorder| Path {
        loss: Loss::Independent(0.2),
        delay: Delay { base: ms(50), ..Delay::default() },
        duplicate,
        reorder,
        ..Path::default()
    };
    let lost = |path| verdicts(path, 1000).into_iter().map(|verdict| verdict == Verdict::Lost).collect::<Vec<_>>();
    assert_eq!(lost(path(0.0, 0.0)), lost(path(0.5, 0.9)));
}

#[test]
fn no_two_owners_and_no_two_seeds_throw_alike() {
    let owner = Owner { socket: 1, rule: 1, way: Way::Up, effect: Effect::Delay };
    let others = [
        owner,
        Owner { socket: 2, ..owner },
        Owner { rule: 2, ..owner },
        Owner { way: Way::Down, ..owner },
        Owner { effect: Effect::Loss, ..owner },
    ];
    let seeds = [Seed(1), Seed(2)];
    let mut thrown: Vec<u64> =
        seeds.iter().flat_map(|seed| others.map(|owner| seed.dice(owner).up_to(u64::MAX))).collect();
    thrown.sort_unstable();
    thrown.dedup();
    assert_eq!(thrown.len(), 10);
}

/// A seed in an old report must still mean what it meant.
#[test]
fn a_seed_means_the_same_in_every_version() {
    let mut dice = Seed(7).dice(Owner { socket: 3, rule: 2, way: Way::Down, effect: Effect::StallAnswer });
    let delay = Delay { base: Duration::from_secs(1), jitter: ms(100), distribution: Distribution::Normal };
    let thrown = (dice.up_to(1_000_000), dice.up_to(5), dice.chance(0.5), delay.draw(&mut dice).as_micros());
    insta::assert_snapshot!(format!("{thrown:?}"), @"(42491, 3, true, 940162)");
}
