//! Chance: as often as it was set, and the same again with the same seed.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use tokio::runtime::{Builder, Handle};
use wrun_net::shape::Profile;
use wrun_net::shape::profile::{Delay, Effects, Loss, Match, Network, Operation, Path, Regime, Rule};
use wrun_net::throttled::{Account, Precision, Throttled, Way};
use wrun_net::{Error, SocketOption};

use super::any::profile;
use super::kit::*;

/// Sends numbered datagrams there and back, a few at a time: which came, in order, and the account.
async fn exchange(profile: Profile, seed: u64, count: u32) -> (Vec<u32>, Vec<u32>, Account) {
    let bench = Bench::seeded(profile, seed);
    let (guest, peer) = bench.sockets().await;
    let mut came = [Vec::new(), Vec::new()];
    for at in 0..count {
        guest.try_send(&at.to_be_bytes(), &peer).unwrap();
        peer.try_send(&at.to_be_bytes(), &guest).unwrap();
        if at % 10 == 9 || at == count - 1 {
            for (socket, came) in [&peer, &guest].into_iter().zip(&mut came) {
                let received = socket.within(ms(5)).await;
                came.extend(received.into_iter().map(|datagram| u32::from_be_bytes(datagram.try_into().unwrap())));
            }
        }
    }
    for (socket, came) in [&peer, &guest].into_iter().zip(&mut came) {
        let received = socket.within(Duration::from_secs(10)).await;
        came.extend(received.into_iter().map(|datagram| u32::from_be_bytes(datagram.try_into().unwrap())));
    }
    let [there, back] = came;
    (there, back, bench.throttled.account())
}

fn chancy() -> Path {
    let delay = Delay { base: ms(20), jitter: ms(15), ..Delay::default() };
    Path { delay, loss: Loss::Independent(0.1), duplicate: 0.1, reorder: 0.1, ..Path::default() }
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_decides_the_same_and_another_does_not() {
    let one = exchange(always(both(chancy())), 7, 500).await;
    assert_eq!(one, exchange(always(both(chancy())), 7, 500).await);
    let other = exchange(always(both(chancy())), 8, 500).await;
    assert_ne!((one.0, one.1), (other.0, other.1));
}

#[tokio::test(start_paused = true)]
async fn what_happens_is_what_is_counted() {
    let (there, back, account) = exchange(always(both(chancy())), SEED, 5000).await;
    for (came, path) in [there, back].into_iter().zip(account.paths) {
        assert_eq!((path.count, path.bytes, path.overflowed), (5000, 20_000, 0));
        assert_eq!(came.len() as u64, path.count - path.lost + path.duplicated);
        let overtaken = came.windows(2).filter(|pair| pair[0] > pair[1]).count();
        assert!(overtaken > 0 && path.reordered > 0);
        // Four deviations of 5000 at a tenth.
        for happened in [path.lost, path.reordered] {
            assert!((415..585).contains(&happened), "{happened} of 5000 at a tenth");
        }
        // From 5 to 35 ms, and mostly late among those, since who would overtake waits for the one before.
        let median = path.median_delay.unwrap();
        assert!(median >= ms(20) && median <= ms(36), "{median:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_probability_of_zero_never_acts_and_of_one_always_does() {
    let none = Path { loss: Loss::Independent(0.0), ..delayed(ms(1)) };
    let (there, back, account) = exchange(always(both(none)), SEED, 2000).await;
    assert!(there.iter().copied().eq(0..2000) && back.iter().copied().eq(0..2000));
    for path in account.paths {
        assert_eq!((path.lost, path.duplicated, path.reordered, path.overflowed), (0, 0, 0, 0));
    }
    let all = Path { loss: Loss::Independent(1.0), ..delayed(ms(1)) };
    let (there, back, account) = exchange(always(both(all)), SEED, 100).await;
    assert!(there.is_empty() && back.is_empty());
    assert!(account.paths.iter().all(|path| path.lost == 100 && path.median_delay.is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_rule_is_for_what_it_matches_and_nothing_else() {
    let all = |name: &str, matches, effects| Rule {
        name: name.to_owned(),
        matches,
        regimes: vec![Regime { lasts: ms(1000), effects }],
    };
    let far = Match { port: Some(1..=1), ..Match::default() };
    let there = Match {
        addresses: vec![Network { address: HERE, prefix: 8 }],
        operations: vec![Operation::Send],
        ..Match::default()
    };
    let rules = vec![
        all("far", far, both(delayed(ms(5000)))),
        all("there", there, both(delayed(ms(30)))),
        all("rest", Match { operations: vec![Operation::Receive], ..Match::default() }, both(delayed(ms(10)))),
    ];
    let bench = Bench::new(Profile { rules, ..Profile::default() });
    let (connected, took) = timed(bench.pair()).await;
    let (guest, peer) = connected;
    assert_eq!(took, Duration::ZERO);
    for (from, to, takes) in [(&guest, &peer, 30), (&peer, &guest, 10)] {
        let carry = async {
            write_all(from, b"x").await.unwrap();
            read_exactly(to, 1).await
        };
        assert_takes(timed(carry).await.1, ms(takes), 1);
    }
    let names = bench.throttled.account().paths.into_iter().map(|path| path.rule).collect::<Vec<_>>();
    assert_eq!(names, ["there", "rest"]);
}

#[tokio::test(start_paused = true)]
async fn that_nobody_is_there_is_told_once_and_late() {
    let bench = Bench::new(always(both(delayed(ms(25)))));
    let (guest, peer) = bench.sockets().await;
    guest.socket.connect(Some(peer.at)).await.unwrap();
    drop(peer);
    let (answer, took) = timed(async {
        guest.socket.try_send(b"anybody?", None).unwrap();
        guest.receive().await
    })
    .await;
    assert_eq!(answer, Err(Error::ConnectionRefused));
    assert_takes(took, ms(50), 2);
    assert!(guest.within(ms(1000)).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_new_peer_hears_nothing_of_what_strangers_have_on_their_way() {
    let bench = Bench::new(always(Effects { down: delayed(ms(25)), ..Effects::default() }));
    let (guest, peer) = bench.sockets().await;
    let stranger = datagrams(&bench.memory).await;
    stranger.try_send(b"not for you", &guest).unwrap();
    peer.try_send(b"for you", &guest).unwrap();
    tokio::time::sleep(ms(5)).await;
    guest.socket.connect(Some(peer.at)).await.unwrap();
    assert_eq!(guest.within(ms(1000)).await, [b"for you"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_late_send_was_answered_is_told_once() {
    let bench = Bench::new(always(both(delayed(ms(25)))));
    let (guest, peer) = bench.sockets().await;
    let all = Datagrams { socket: peer.socket.clone(), at: ([127, 255, 255, 255], peer.at.port()).into() };
    guest.try_send(b"to all, without the option", &all).unwrap();
    tokio::time::sleep(ms(50)).await;
    assert_eq!(guest.try_send(b"next", &peer), Err(Error::AccessDenied));
    guest.try_send(b"next", &peer).unwrap();
    assert_eq!(peer.within(ms(1000)).await, [b"next"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_due_at_once_has_come_when_the_send_returns_and_its_error_is_the_answer() {
    let twice = Path { duplicate: 1.0, ..Path::default() };
    let bench = Bench::new(always(Effects { up: twice, ..Effects::default() }));
    let (guest, peer) = bench.sockets().await;
    // Nobody else has a turn in here: whatever came late would pile up.
    for at in 0..10_000u32 {
        guest.try_send(&at.to_be_bytes(), &peer).unwrap();
        for _ in 0..2 {
            let mut buffer = [0; 8];
            assert_eq!(peer.socket.try_receive(&mut buffer), Ok((4, guest.at)));
            assert_eq!(buffer[..4], at.to_be_bytes());
        }
    }
    let all = Datagrams { socket: peer.socket.clone(), at: ([127, 255, 255, 255], peer.at.port()).into() };
    assert_eq!(guest.try_send(b"to all, without the option", &all), Err(Error::AccessDenied));
    assert_eq!(guest.socket.queued(), Ok(0));
    assert_eq!(guest.try_send(b"next", &peer), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn what_is_due_at_once_overtakes_what_is_on_its_way_and_nothing_that_is_there() {
    let rule = |name: &str, matches, up| Rule {
        name: name.to_owned(),
        matches,
        regimes: vec![Regime { lasts: ms(1000), effects: Effects { up, ..Effects::default() } }],
    };
    let memory = Bench::new(Profile::default()).memory;
    let (far, near) = (datagrams(&memory).await, datagrams(&memory).await);
    let to_far = Match { port: Some(far.at.port()..=far.at.port()), ..Match::default() };
    let rules = vec![
        rule("far", to_far, delayed(ms(10))),
        rule("near", Match::default(), Path { duplicate: 1.0, ..Path::default() }),
    ];
    let profile = Profile { rules, ..Profile::default() };
    let throttled = Throttled::new(Arc::new(memory.clone()), profile, SEED, Precision::Coarse);
    let guest = datagrams(&*throttled).await;
    guest.try_send(b"far", &far).unwrap();
    // The task waits for that one.
    tokio::time::sleep(ms(1)).await;
    guest.try_send(b"near", &near).unwrap();
    assert_eq!(near.socket.try_receive(&mut [0; 8]), Ok((4, guest.at)));
    let (came, took) = timed(far.receive()).await;
    assert_eq!(came.unwrap(), b"far");
    assert_takes(took, ms(9), 1);
}

#[derive(Debug, Clone)]
struct Volley {
    /// The size of each datagram, and how long after it the next one follows, in milliseconds.
    sent: Vec<(usize, u64)>,
}

fn volley() -> impl Strategy<Value = Volley> {
    let size = prop_oneof![4 => 2..3000usize, 1 => 60_000..65_508usize];
    prop::collection::vec((size, prop_oneof![Just(0), 0..50u64]), 0..40).prop_map(|sent| Volley { sent })
}

/// The datagram of a number.
fn numbered(number: usize, size: usize) -> Vec<u8> {
    let mut data = pattern(size);
    data[..2].copy_from_slice(&(number as u16).to_be_bytes());
    data
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the profile and the seed: what comes is what was sent, whole; as many come as are counted; and when all
    /// is over no task is left.
    #[test]
    fn datagrams_come_whole_and_are_counted(profile in profile(), seed: u64, there in volley(), back in volley()) {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(tokio::task::coop::unconstrained(async {
            let bench = Bench::seeded(profile, seed);
            let (guest, peer) = bench.sockets().await;
            for socket in [&guest, &peer] {
                // What a receiver has no room for is not what this is about.
                socket.socket.set_option(SocketOption::ReceiveBuffer(4 << 20)).await.unwrap();
            }
            let send = async |from: &Datagrams, to: &Datagrams, volley: &Volley| {
                for (number, (size, gap)) in volley.sent.iter().enumerate() {
                    from.send(&numbered(number, *size), to).await.unwrap();
                    tokio::time::sleep(ms(*gap)).await;
                }
            };
            let hour = ms(3_600_000);
            let ((), (), at_peer, at_guest) = tokio::join!(
                send(&guest, &peer, &there),
                send(&peer, &guest, &back),
                peer.within(hour),
                guest.within(hour),
            );
            let paths = bench.throttled.account().paths;
            for (came, volley, way) in [(at_peer, &there, Way::Up), (at_guest, &back, Way::Down)] {
                for data in &came {
                    let number = usize::from(u16::from_be_bytes([data[0], data[1]]));
                    prop_assert!(*data == numbered(number, volley.sent[number].0));
                }
                // What no rule matches passes uncounted.
                let counted = || paths.iter().filter(|path| path.way == way);
                let more: u64 = counted().map(|path| path.duplicated).sum();
                let fewer: u64 = counted().map(|path| path.lost + path.overflowed).sum();
                prop_assert_eq!(came.len() as u64 + fewer, volley.sent.len() as u64 + more);
            }
            drop((guest, peer));
            tokio::time::sleep(ms(1)).await;
            prop_assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
            Ok(())
        }))?;
    }
}

#[tokio::test(start_paused = true)]
async fn the_segments_of_handshakes_are_counted_and_so_is_what_is_lost_of_them() {
    let lossy = Path { loss: Loss::Independent(0.5), ..Path::default() };
    let bench = Bench::new(always(both(lossy)));
    let (listener, there) = listen(&bench.memory).await;
    for _ in 0..100 {
        // Whichever way it ends.
        if connect(&*bench.throttled, there).await.is_ok() {
            accept(&listener).await.unwrap();
        }
    }
    let paths = bench.throttled.account().paths;
    assert_eq!(paths.iter().map(|path| path.way).collect::<Vec<_>>(), [Way::Up, Way::Down]);
    for path in paths {
        // Each time one is lost it is sent again, and half of all are.
        assert!(path.count - path.lost > 80 && path.bytes == 0, "{path:?}");
        assert!((0.4..0.6).contains(&(path.lost as f64 / path.count as f64)), "{path:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_is_lost_than_was_sent_where_nothing_passes() {
    let bench = Bench::new(always(both(Path { offline: true, ..Path::default() })));
    let (listener, there) = listen(&bench.memory).await;
    assert!(connect(&*bench.throttled, there).await.is_err());
    drop(listener);
    let path = bench.throttled.account().paths[0].clone();
    // The first, and the six times it is sent again.
    assert_eq!((path.way, path.count, path.lost), (Way::Up, 7, 7));
}

#[tokio::test(start_paused = true)]
async fn who_connects_to_the_guest_changes_nothing_for_its_other_sockets() {
    let mut all = Vec::new();
    for peers in [0, 1, 3] {
        let bench = Bench::new(always(both(chancy())));
        let (listener, there) = listen(&*bench.throttled).await;
        for _ in 0..peers {
            let _peer = connect(&bench.memory, there).await.unwrap();
            accept(&listener).await.unwrap();
        }
        let (guest, peer) = bench.sockets().await;
        for at in 0..200u8 {
            guest.try_send(&[at], &peer).unwrap();
        }
        all.push(peer.within(ms(1000)).await);
    }
    assert!(all[0].len() < 220 && all[0] != (0..200).map(|at| vec![at]).collect::<Vec<_>>());
    assert!(all.iter().all(|one| *one == all[0]));
}

#[tokio::test(start_paused = true)]
async fn a_received_stream_loses_the_same_segments_however_it_comes_in() {
    let data = pattern(200_000);
    let mut all = Vec::new();
    for (size, pause) in [(200_000, 0), (1448, 0), (1000, 0), (10_000, 1), (5000, 5), (77, 0)] {
        let path = Path { loss: Loss::Independent(0.1), ..delayed(ms(20)) };
        let bench = Bench::new(always(Effects { down: path, ..Effects::default() }));
        let (guest, peer) = bench.pair().await;
        for _ in 0..2 {
            // An answer each, however the one before it ended.
            write_all(&guest, b"?").await.unwrap();
            let writing = async {
                for some in data.chunks(size) {
                    write_all(&peer, some).await.unwrap();
                    tokio::time::sleep(ms(pause)).await;
                    tokio::task::yield_now().await;
                }
            };
            let ((), got) = tokio::join!(writing, read_exactly(&guest, data.len()));
            assert!(got == data);
        }
        let path = bench.throttled.account().paths[0].clone();
        all.push((path.way, path.count - path.lost, path.lost));
    }
    // The segment of the handshake, and those of both answers, each of which arrives once.
    assert_eq!((all[0].0, all[0].1), (Way::Down, 1 + 2 * 200_000_u64.div_ceil(1448)));
    assert!(all[0].2 > 10 && all.iter().all(|one| *one == all[0]), "{all:?}");
}

#[tokio::test(start_paused = true)]
async fn small_messages_with_pauses_are_lost_as_often_as_large_ones() {
    let path = Path { loss: Loss::Independent(0.3), ..Path::default() };
    let bench = Bench::new(always(both(path)));
    let (guest, peer) = bench.pair().await;
    guest.set_option(SocketOption::NoDelay(true)).await.unwrap();
    for _ in 0..200 {
        for (from, to) in [(&guest, &peer), (&peer, &guest)] {
            write_all(from, b"!").await.unwrap();
            read_exactly(to, 1).await;
        }
    }
    for path in bench.throttled.account().paths {
        // With each that is sent again: 201 / 0.7, of which the share that was set is lost, and four deviations of that.
        assert_eq!(path.count - path.lost, 201);
        let lost = path.lost as f64 / path.count as f64;
        assert!((lost - 0.3).abs() < 0.11, "{lost}");
    }
}
