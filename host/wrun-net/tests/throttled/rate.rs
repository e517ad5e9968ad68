//! Rates, and the queue before them.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use wrun_net::TcpStream;
use wrun_net::shape::profile::{Delay, Effects, Loss, Path, Scope};
use wrun_net::throttled::Way;

use super::kit::*;

#[tokio::test(start_paused = true)]
async fn a_stream_passes_at_its_rate_both_ways() {
    for rate in [8_000u64, 1_000_000, 20_000_000] {
        let bench = Bench::new(always(both(limited(rate))));
        let (guest, peer) = bench.pair().await;
        let data = pattern(2 * rate as usize);
        for (from, to) in [(&guest, &peer), (&peer, &guest)] {
            let ((sent, got), took) =
                timed(async { tokio::join!(write_all(from, &data), read_exactly(to, data.len())) }).await;
            sent.unwrap();
            assert!(got == data);
            let error = took.as_secs_f64() / 2.0 - 1.0;
            assert!((0.0..0.02).contains(&error), "{rate} B/s took {took:?}");
        }
        for path in bench.throttled.account().paths {
            let achieved = path.busy_bytes as f64 / path.busy.as_secs_f64();
            assert!((achieved / rate as f64 - 1.0).abs() < 0.02, "{achieved} B/s of {rate}: {path:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn small_writes_and_large_ones_pass_at_the_same_rate() {
    for size in [10, 1000, 100_000] {
        let bench = Bench::new(always(both(limited(100_000))));
        let (guest, peer) = bench.pair().await;
        let data = pattern(200_000);
        let writing = async {
            for some in data.chunks(size) {
                write_all(&guest, some).await.unwrap();
            }
        };
        let (((), got), took) = timed(async { tokio::join!(writing, read_exactly(&peer, data.len())) }).await;
        assert!(got == data);
        assert_takes(took, ms(2000), 40);
    }
}

#[tokio::test(start_paused = true)]
async fn no_second_passes_more_than_the_rate_and_a_piece() {
    let rate = 1_000_000;
    let bench = Bench::new(always(both(limited(rate))));
    let (guest, peer) = bench.pair().await;
    tokio::spawn(async move { write_all(&guest, &pattern(10 * rate as usize)).await });
    let start = Instant::now();
    let mut buffer = vec![0; 1 << 20];
    for second in 1..=5 {
        let mut passed = 0;
        let end = start + Duration::from_secs(second);
        while let Ok(count) = tokio::time::timeout_at(end, read(&peer, &mut buffer)).await {
            passed += count.unwrap() as u64;
        }
        assert!(passed <= rate + rate / 500, "in second {second} {passed} bytes passed");
        assert!(passed >= rate - rate / 50, "in second {second} {passed} bytes passed");
    }
}

/// Six guests send, or are sent to, for a while: how much of each has come.
async fn six(scope: Scope, seconds: u64, way: Way) -> Vec<u64> {
    let bench = Bench::new(wrun_net::shape::Profile { scope, ..always(both(limited(600_000))) });
    let mut ends: Vec<(Arc<dyn TcpStream>, Arc<dyn TcpStream>)> = Vec::new();
    for _ in 0..6 {
        ends.push(bench.pair().await);
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut receivers = Vec::new();
    for (guest, peer) in ends {
        let (from, to) = if way == Way::Up { (guest, peer) } else { (peer, guest) };
        tokio::spawn(async move { write_all(&from, &pattern(10_000_000)).await });
        receivers.push(tokio::spawn(async move {
            let mut buffer = vec![0; 1 << 16];
            let mut passed = 0;
            while let Ok(count) = tokio::time::timeout_at(end, read(&to, &mut buffer)).await {
                passed += count.unwrap() as u64;
            }
            passed
        }));
    }
    let mut passed = Vec::new();
    for receiver in receivers {
        passed.push(receiver.await.unwrap());
    }
    passed
}

#[tokio::test(start_paused = true)]
async fn six_sockets_share_one_link_fairly() {
    for way in [Way::Up, Way::Down] {
        let passed = six(Scope::Link, 5, way).await;
        let all = passed.iter().sum::<u64>() as f64 / 3_000_000.0;
        assert!((0.98..=1.001).contains(&all), "together {all} of the rate: {passed:?}");
        let (least, most) = (passed.iter().min().unwrap(), passed.iter().max().unwrap());
        assert!(2 * least > *most, "one has far more than another: {passed:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn six_sockets_with_links_of_their_own_have_the_rate_each() {
    for way in [Way::Up, Way::Down] {
        for passed in six(Scope::Socket, 2, way).await {
            let share = passed as f64 / 1_200_000.0;
            assert!((0.98..=1.001).contains(&share), "{share} of the rate");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_comes_late_to_a_full_link_gets_a_share() {
    let bench = Bench::new(always(both(limited(100_000))));
    let (early, early_peer) = bench.pair().await;
    tokio::spawn(async move { write_all(&early, &pattern(10_000_000)).await });
    tokio::spawn(async move { read_all(&early_peer).await });
    tokio::time::sleep(ms(5000)).await;
    let (late, late_peer) = bench.pair().await;
    let (got, took) = timed(async {
        tokio::spawn(async move { write_all(&late, &pattern(50_000)).await.map(|()| late) });
        read_exactly(&late_peer, 50_000).await
    })
    .await;
    assert!(got == pattern(50_000));
    // Behind the full queue, and then half of the rate.
    assert!(took < ms(8000), "it took {took:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_full_queue_drops_is_counted() {
    let path = Path { queue: Some(10_000), ..limited(1000) };
    let bench = Bench::new(always(Effects { up: path, ..Effects::default() }));
    let (guest, peer) = bench.sockets().await;
    for at in 0..100u8 {
        guest.try_send(&[at; 1000], &peer).unwrap();
    }
    let received = peer.within(Duration::from_secs(60)).await;
    let path = bench.throttled.account().paths[0].clone();
    assert_eq!((path.count, path.overflowed, path.lost), (100, 90, 0));
    assert_eq!(received.len(), 10);
    assert!(received.iter().zip(0..).all(|(datagram, at)| datagram[0] == at));
}

#[tokio::test(start_paused = true)]
async fn a_sender_waits_for_room_in_the_queue_and_is_woken() {
    let path = Path { queue: Some(4000), ..limited(1000) };
    let bench = Bench::new(always(Effects { up: path, ..Effects::default() }));
    let (guest, peer) = bench.pair().await;
    let (taken, took) = timed(write(&guest, &[1; 100_000])).await;
    assert_eq!((taken, took), (Ok(4000), Duration::ZERO));
    assert_eq!(guest.try_write(&[1]), Err(wrun_net::Error::WouldBlock));
    assert_eq!(guest.queued(), Ok(4000));
    let (more, took) = timed(write(&guest, &[2; 100_000])).await;
    // A piece is a segment here, and leaves whole.
    assert_eq!(more, Ok(1448));
    assert_takes(took, ms(1448), 1);
    read_exactly(&peer, 5448).await;
}

/// The rate that a path has achieved, in bytes a second.
fn achieved(bench: &Bench) -> f64 {
    let path = bench.throttled.account().paths[0].clone();
    path.busy_bytes as f64 / path.busy.as_secs_f64()
}

#[tokio::test(start_paused = true)]
async fn bursts_achieve_their_rate_whatever_is_lost_jittered_or_reordered() {
    let rate = 1_000_000;
    let delay = Delay { base: ms(40), jitter: ms(40), ..Delay::default() };
    for path in [
        limited(rate),
        Path { loss: Loss::Independent(0.3), ..limited(rate) },
        Path {
            loss: Loss::Bursts { good_to_bad: 0.1, bad_to_good: 0.2, loss_in_good: 0.0, loss_in_bad: 1.0 },
            ..limited(rate)
        },
        Path { delay: delay.clone(), ..limited(rate) },
        Path { delay: delay.clone(), reorder: 0.3, ..limited(rate) },
        Path { delay, reorder: 0.2, loss: Loss::Independent(0.2), duplicate: 0.2, ..limited(rate) },
    ] {
        let bench = Bench::new(always(Effects { up: path.clone(), ..Effects::default() }));
        let (guest, peer) = bench.sockets().await;
        // 100 ms of work in each second, of which each burst's first is lost as often as any.
        for _ in 0..20 {
            for _ in 0..100 {
                guest.try_send(&[0; 1000], &peer).unwrap();
            }
            peer.within(ms(1000)).await;
        }
        let achieved = achieved(&bench);
        assert!((achieved / rate as f64 - 1.0).abs() < 0.05, "{achieved} B/s of {rate} with {path:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_in_bursts_achieves_its_rate_whatever_is_sent_again() {
    let rate = 1_000_000;
    let delay = Delay { base: ms(40), jitter: ms(40), ..Delay::default() };
    let path = Path { delay, loss: Loss::Independent(0.05), ..limited(rate) };
    let bench = Bench::new(always(Effects { up: path, ..Effects::default() }));
    let (guest, peer) = bench.pair().await;
    for _ in 0..20 {
        let data = pattern(100_000);
        let (sent, got) = tokio::join!(write_all(&guest, &data), read_exactly(&peer, data.len()));
        sent.unwrap();
        assert!(got == data);
        tokio::time::sleep(ms(1000)).await;
    }
    let achieved = achieved(&bench);
    assert!((achieved / rate as f64 - 1.0).abs() < 0.05, "{achieved} B/s of {rate}");
}
