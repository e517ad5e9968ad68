//! Delays.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use wrun_net::memory::Memory;
use wrun_net::shape::profile::{Delay, Distribution, Effects, Failure, Opening, Path, Stalls};
use wrun_net::throttled::{Precision, Throttled, Way};
use wrun_net::{Backend, Error};

use super::kit::*;

#[tokio::test(start_paused = true)]
async fn a_round_trip_is_both_ways_and_each_counts_alone() {
    for (up, down) in [(50, 50), (50, 0), (0, 50), (7, 3)] {
        let effects = Effects { up: delayed(ms(up)), down: delayed(ms(down)), ..Effects::default() };
        let bench = Bench::new(always(effects));
        let (guest, peer) = bench.pair().await;
        let (_, there) = timed(async {
            write_all(&guest, b"ping").await.unwrap();
            read_exactly(&peer, 4).await
        })
        .await;
        assert_takes(there, ms(up), 1);
        let (_, back) = timed(async {
            write_all(&peer, b"pong").await.unwrap();
            read_exactly(&guest, 4).await
        })
        .await;
        assert_takes(back, ms(down), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn two_throttles_add_up() {
    let memory = Memory::new();
    let stage = |inner| Throttled::new(inner, always(both(delayed(ms(50)))), SEED, Precision::Coarse);
    let both = stage(stage(Arc::new(memory.clone())));
    assert_eq!(both.capabilities().name, "memory+throttled+throttled");
    let (listener, there) = listen(&memory).await;
    let (guest, took) = timed(connect(&*both, there)).await;
    assert_takes(took, ms(200), 4);
    let (guest, peer) = (guest.unwrap(), accept(&listener).await.unwrap());
    let (_, took) = timed(async {
        write_all(&guest, b"ping").await.unwrap();
        read_exactly(&peer, 4).await
    })
    .await;
    assert_takes(took, ms(100), 2);
}

#[tokio::test(start_paused = true)]
async fn a_delay_counts_from_arrival_however_many_are_on_their_way() {
    let bench = Bench::new(always(both(delayed(ms(100)))));
    let (guest, peer) = bench.sockets().await;
    // The receiver's buffer is not what this is about, so it is emptied as they come.
    let (_, took) = timed(async {
        for at in 0..10_000u32 {
            guest.try_send(&at.to_be_bytes(), &peer).unwrap();
        }
        let mut received = 0;
        while received < 200 {
            peer.receive().await.unwrap();
            received += 1;
        }
    })
    .await;
    assert_takes(took, ms(100), 1);
    let path = bench.throttled.account().paths[0].clone();
    assert_eq!((path.way, path.count, path.lost, path.overflowed), (Way::Up, 10_000, 0, 0));
    assert!(path.p99_delay.unwrap() <= ms(101), "{path:?}");
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_datagrams_come_to_the_guest_after_one_delay() {
    let bench = Bench::new(always(both(delayed(ms(100)))));
    let (guest, peer) = bench.sockets().await;
    let start = Instant::now();
    for at in 0..10_000u32 {
        peer.try_send(&at.to_be_bytes(), &guest).unwrap();
        // So that the socket inside does not overflow before they are on their way.
        if at % 50 == 0 {
            tokio::task::yield_now().await;
        }
    }
    for at in 0..10_000u32 {
        assert_eq!(guest.receive().await.unwrap(), at.to_be_bytes());
    }
    assert_takes(start.elapsed(), ms(100), 1);
}

#[tokio::test(start_paused = true)]
async fn a_delay_does_not_limit_what_passes() {
    let bench = Bench::new(always(both(delayed(ms(200)))));
    let (guest, peer) = bench.pair().await;
    let data = pattern(20_000_000);
    for (from, to) in [(&guest, &peer), (&peer, &guest)] {
        let ((sent, got), took) =
            timed(async { tokio::join!(write_all(from, &data), read_exactly(to, data.len())) }).await;
        sent.unwrap();
        assert!(got == data);
        assert_takes(took, ms(200), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn jitter_changes_no_order_and_is_never_less_than_nothing() {
    for distribution in [
        Distribution::Uniform,
        Distribution::Normal,
        Distribution::Pareto,
        Distribution::Table(vec![-1.0, 0.0, 0.5, 1.0]),
    ] {
        let delay = Delay { base: ms(20), jitter: ms(20), distribution: distribution.clone() };
        let bench = Bench::new(always(both(Path { delay, ..Path::default() })));
        let (guest, peer) = bench.sockets().await;
        for at in 0..200u8 {
            guest.try_send(&[at], &peer).unwrap();
        }
        // All at once, and then far enough apart for each to have a delay of its own.
        let received = peer.within(Duration::from_secs(60)).await.concat();
        assert_eq!(received, (0..200).collect::<Vec<u8>>());
        let mut delays = Vec::new();
        for at in 0..200u8 {
            guest.try_send(&[at], &peer).unwrap();
            let (came, took) = timed(peer.receive()).await;
            assert_eq!(came.unwrap(), [at]);
            delays.push(took);
        }
        assert_ne!(delays.iter().min(), delays.iter().max());
        // A jitter of all of the delay takes some of them to nothing, which is where they end.
        let least = if distribution == Distribution::Pareto { ms(20) } else { ms(0) };
        let quickest = *delays.iter().min().unwrap();
        assert!(quickest >= least && quickest <= least + ms(4), "{quickest:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_connection_and_its_handshake_do_not_escape() {
    let bench = Bench::new(always(both(delayed(ms(50)))));
    let (listener, there) = listen(&bench.memory).await;
    for _ in 0..2 {
        let (connected, took) = timed(connect(&*bench.throttled, there)).await;
        connected.unwrap();
        assert_takes(took, ms(100), 2);
        accept(&listener).await.unwrap();
    }
    let nobody = SocketAddr::new(HERE, 1);
    let (refused, took) = timed(connect(&*bench.throttled, nobody)).await;
    assert_eq!(refused.err(), Some(Error::ConnectionRefused));
    assert_takes(took, ms(100), 2);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_connects_is_accepted_after_its_way_here() {
    let bench = Bench::new(always(Effects { down: delayed(ms(30)), ..Effects::default() }));
    let (listener, there) = listen(&*bench.throttled).await;
    let peer = connect(&bench.memory, there).await.unwrap();
    write_all(&peer, b"hello").await.unwrap();
    assert_eq!(listener.try_accept().err(), Some(Error::WouldBlock));
    let (guest, took) = timed(accept(&listener)).await;
    assert_takes(took, ms(30), 1);
    let guest = guest.unwrap();
    assert_eq!(guest.peer_address(), peer.local_address());
    // What was sent with it comes with it.
    let (hello, took) = timed(read_exactly(&guest, 5)).await;
    assert_eq!(hello, b"hello");
    assert_takes(took, Duration::ZERO, 1);
}

#[tokio::test(start_paused = true)]
async fn an_opening_adds_its_delay_and_fails_as_often_as_it_says() {
    let opening = |failure, how| Opening { delay: Delay { base: ms(300), ..Delay::default() }, failure, how };
    for (failure, how, answer, takes) in [
        (0.0, Failure::Refused, None, 300),
        (1.0, Failure::Refused, Some(Error::ConnectionRefused), 300),
        (1.0, Failure::Unreachable, Some(Error::RemoteUnreachable), 300),
        (1.0, Failure::Timeout(ms(5000)), Some(Error::Timeout), 5000),
    ] {
        let bench = Bench::new(always(Effects { connect: opening(failure, how), ..Effects::default() }));
        let (_listener, there) = listen(&bench.memory).await;
        let (connected, took) = timed(connect(&*bench.throttled, there)).await;
        assert_eq!(connected.err(), answer);
        assert_takes(took, ms(takes), 1);
        assert_eq!(bench.throttled.account().quirks.connects_failed, failure as u64);
    }
    for (failure, how, answer, takes) in [
        (0.0, Failure::Refused, None, 300),
        (1.0, Failure::Refused, Some(Error::NameUnresolvable), 300),
        (1.0, Failure::Unreachable, Some(Error::TemporaryResolverFailure), 300),
        (1.0, Failure::Timeout(ms(5000)), Some(Error::TemporaryResolverFailure), 5000),
    ] {
        let bench = Bench::new(always(Effects { resolve: opening(failure, how), ..Effects::default() }));
        let (found, took) = timed(bench.throttled.resolve("localhost")).await;
        assert_eq!(found.err(), answer);
        assert_takes(took, ms(takes), 1);
        assert_eq!(bench.throttled.account().quirks.lookups_failed, failure as u64);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_to_do_takes_no_time() {
    let bench = Bench::new(always(Effects::default()));
    let ((), took) = timed(async {
        let (guest, peer) = bench.pair().await;
        write_all(&guest, b"there").await.unwrap();
        read_exactly(&peer, 5).await;
        write_all(&peer, b"back").await.unwrap();
        read_exactly(&guest, 4).await;
        bench.throttled.resolve("localhost").await.unwrap();
    })
    .await;
    assert_eq!(took, Duration::ZERO);
    assert!(bench.throttled.account().paths.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_datagram_is_late_until_the_socket_inside_has_taken_it() {
    let stalls = Stalls { send: wait(ms(50)), ..Stalls::default() };
    let inner = Bench::new(always(Effects { stalls, ..Effects::default() }));
    let profile = always(Effects { up: delayed(ms(10)), ..Effects::default() });
    let outer = Throttled::new(inner.throttled.clone(), profile, SEED, Precision::Coarse);
    let (guest, peer) = (datagrams(&*outer).await, datagrams(&inner.memory).await);
    guest.try_send(b"late", &peer).unwrap();
    assert_takes(timed(peer.receive()).await.1, ms(60), 2);
    let late = outer.account().paths[0].median_late.unwrap();
    assert!(late >= ms(50) && late <= ms(53), "{late:?}");
}
