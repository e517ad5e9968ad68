//! Changing a profile while it is at work.

use std::time::Duration;

use wrun_net::shape::Profile;
use wrun_net::shape::profile::{Delay, Effects, Failure, Opening, Path};
use wrun_net::{Backend, Error};

use super::kit::*;

fn offline() -> Path {
    Path { offline: true, ..Path::default() }
}

#[tokio::test(start_paused = true)]
async fn ending_a_profile_frees_a_blocked_send_at_once() {
    for blocking in [limited(1), offline(), Path { queue: Some(1), ..limited(1) }] {
        let bench = Bench::new(Profile::default());
        let (guest, peer) = bench.pair().await;
        bench.throttled.replace(always(both(blocking)));
        let data = pattern(1_000_000);
        let sending = tokio::spawn({
            let (guest, data) = (guest.clone(), data.clone());
            async move { write_all(&guest, &data).await }
        });
        tokio::time::sleep(ms(10)).await;
        assert!(!sending.is_finished());
        let ((), took) = timed(async { bench.throttled.replace(Profile::default()) }).await;
        assert_eq!(took, Duration::ZERO);
        let (got, took) = timed(read_exactly(&peer, data.len())).await;
        assert!(got == data);
        assert_takes(took, Duration::ZERO, 1);
        sending.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_stood_still_offline_is_delivered_when_the_link_is_back() {
    let bench = Bench::new(Profile::default());
    let (guest, peer) = bench.pair().await;
    bench.throttled.replace(always(both(offline())));
    write_all(&guest, b"there").await.unwrap();
    write_all(&peer, b"back").await.unwrap();
    tokio::time::sleep(ms(100_000)).await;
    assert_eq!(peer.try_read(&mut [0; 8]), Err(Error::WouldBlock));
    assert_eq!(guest.try_read(&mut [0; 8]), Err(Error::WouldBlock));
    bench.throttled.replace(always(both(delayed(ms(20)))));
    let ((there, back), took) = timed(async { tokio::join!(read_exactly(&peer, 5), read_exactly(&guest, 4)) }).await;
    assert_eq!((&there[..], &back[..]), (&b"there"[..], &b"back"[..]));
    assert_takes(took, ms(20), 1);
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_offline_in_turns_lets_a_stream_through_in_between() {
    let bench = Bench::new(turns(&[(ms(1000), both(delayed(ms(1)))), (ms(3000), both(offline()))]));
    let (guest, peer) = bench.pair().await;
    tokio::time::sleep(ms(2000)).await;
    let (_, took) = timed(async {
        write_all(&guest, b"late").await.unwrap();
        read_exactly(&peer, 4).await
    })
    .await;
    assert!(took > ms(1900) && took < ms(2010), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_new_profile_does_not_reorder_a_stream() {
    let bench = Bench::new(always(both(delayed(ms(500)))));
    let (guest, peer) = bench.pair().await;
    let profiles = [
        Profile::default(),
        always(both(delayed(ms(5)))),
        always(both(limited(1000))),
        always(both(offline())),
        always(both(Path { delay: Delay { base: ms(90), jitter: ms(90), ..Delay::default() }, ..limited(50_000) })),
        Profile::default(),
    ];
    let data = pattern(60_000);
    for (some, profile) in data.chunks(10_000).zip(profiles) {
        write_all(&guest, some).await.unwrap();
        write_all(&peer, some).await.unwrap();
        tokio::time::sleep(ms(7)).await;
        bench.throttled.replace(profile);
    }
    let ((there, back), took) =
        timed(async { tokio::join!(read_exactly(&peer, data.len()), read_exactly(&guest, data.len())) }).await;
    assert!(there == data && back == data);
    assert!(took < ms(1000), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connect_that_waits_is_decided_anew() {
    let opening = Opening { failure: 1.0, how: Failure::Timeout(ms(60_000)), ..Opening::default() };
    let bench = Bench::new(always(Effects { connect: opening, ..both(offline()) }));
    let (_listener, there) = listen(&bench.memory).await;
    let connecting = tokio::spawn({
        let throttled = bench.throttled.clone();
        async move { connect(&*throttled, there).await.map(drop) }
    });
    tokio::time::sleep(ms(10)).await;
    bench.throttled.replace(always(both(delayed(ms(20)))));
    let (connected, took) = timed(connecting).await;
    assert_eq!(connected.unwrap(), Ok(()));
    assert_takes(took, ms(40), 2);
}

#[tokio::test(start_paused = true)]
async fn a_lookup_that_waits_is_decided_anew() {
    let resolve = Opening { failure: 1.0, how: Failure::Timeout(ms(60_000)), ..Opening::default() };
    let bench = Bench::new(always(Effects { resolve, ..Effects::default() }));
    let resolving = tokio::spawn(bench.throttled.resolve("localhost"));
    tokio::time::sleep(ms(10)).await;
    bench.throttled.replace(Profile::default());
    let (found, took) = timed(resolving).await;
    assert!(found.unwrap().is_ok());
    assert_eq!(took, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_profile_that_begins_reaches_who_waits_already() {
    let bench = Bench::new(Profile::default());
    let (guest, peer) = bench.pair().await;
    let (one, other) = bench.sockets().await;
    let (listener, there) = listen(&*bench.throttled).await;
    let to = one.at;
    let reading = tokio::spawn(async move { read_exactly(&guest, 4).await });
    let receiving = tokio::spawn(async move { one.receive().await });
    let accepting = tokio::spawn(async move { accept(&listener).await.map(drop) });
    tokio::task::yield_now().await;
    bench.throttled.replace(always(both(delayed(ms(50)))));
    tokio::task::yield_now().await;
    write_all(&peer, b"late").await.unwrap();
    other.socket.try_send(b"late", Some(to)).unwrap();
    let _client = connect(&bench.memory, there).await.unwrap();
    let (came, took) = timed(async { tokio::join!(reading, receiving, accepting) }).await;
    assert_eq!((came.0.unwrap(), came.1.unwrap()), (b"late".to_vec(), Ok(b"late".to_vec())));
    assert_eq!(came.2.unwrap(), Ok(()));
    assert_takes(took, ms(50), 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_on_its_way_to_be_accepted_is_decided_anew() {
    let bench = Bench::new(always(both(delayed(ms(60_000)))));
    let (listener, there) = listen(&*bench.throttled).await;
    let peer = connect(&bench.memory, there).await.unwrap();
    let accepting = tokio::spawn(async move { accept(&listener).await });
    tokio::time::sleep(ms(10)).await;
    bench.throttled.replace(always(both(delayed(ms(20)))));
    let (guest, took) = timed(accepting).await;
    assert_takes(took, ms(20), 1);
    let guest = guest.unwrap().unwrap();
    write_all(&peer, b"hello").await.unwrap();
    assert_eq!(read_exactly(&guest, 5).await, b"hello");
}

#[tokio::test(start_paused = true)]
async fn datagrams_that_wait_for_a_rate_are_let_go_when_it_ends() {
    let bench = Bench::new(always(both(limited(10))));
    let (guest, peer) = bench.sockets().await;
    for at in 0..50u8 {
        guest.try_send(&[at; 100], &peer).unwrap();
        peer.try_send(&[at; 100], &guest).unwrap();
    }
    tokio::time::sleep(ms(5)).await;
    bench.throttled.replace(Profile::default());
    for socket in [&peer, &guest] {
        let received = socket.within(ms(5)).await;
        assert!(received.iter().map(|datagram| datagram[0]).eq(0..50), "{} came", received.len());
    }
}
