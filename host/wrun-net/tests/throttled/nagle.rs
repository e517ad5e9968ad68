//! Small sends that wait for acknowledgements.

use std::time::Duration;

use wrun_net::shape::profile::Effects;
use wrun_net::{OptionKind, SocketOption};

use super::kit::*;

#[tokio::test(start_paused = true)]
async fn two_small_sends_without_no_delay_are_an_acknowledgement_apart() {
    let bench = Bench::new(always(Effects { acknowledgement: Some(ms(200)), ..Effects::default() }));
    let (guest, peer) = bench.pair().await;
    let request = async || {
        write_all(&guest, b"head").await.unwrap();
        write_all(&guest, b"body").await.unwrap();
        read_exactly(&peer, 8).await
    };
    let (got, took) = timed(request()).await;
    assert_eq!(got, b"headbody");
    assert_takes(took, ms(200), 1);
    assert_eq!(guest.option(OptionKind::NoDelay).await, Ok(SocketOption::NoDelay(false)));
    // An answer carries the acknowledgement.
    write_all(&peer, b"answer").await.unwrap();
    read_exactly(&guest, 6).await;
    guest.set_option(SocketOption::NoDelay(true)).await.unwrap();
    assert_eq!(guest.option(OptionKind::NoDelay).await, Ok(SocketOption::NoDelay(true)));
    assert_eq!(timed(request()).await.1, Duration::ZERO);
    let held = bench.throttled.account().quirks.held_sends;
    assert_eq!(held.count, 1);
    assert_takes(held.total, ms(200), 1);
}

#[tokio::test(start_paused = true)]
async fn no_delay_lets_go_what_is_held_back_and_an_end_does() {
    for ends in [true, false] {
        let bench = Bench::new(always(Effects { acknowledgement: Some(ms(200)), ..Effects::default() }));
        let (guest, peer) = bench.pair().await;
        write_all(&guest, b"head").await.unwrap();
        write_all(&guest, b"body").await.unwrap();
        if ends {
            guest.shutdown(std::net::Shutdown::Write).unwrap();
        } else {
            guest.set_option(SocketOption::NoDelay(true)).await.unwrap();
        }
        let (got, took) = timed(read_exactly(&peer, 8)).await;
        assert_eq!(got, b"headbody");
        assert_eq!(took, Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn a_delayed_stream_has_the_nagle_of_its_round_trip() {
    let bench = Bench::new(always(both(delayed(ms(50)))));
    let (guest, peer) = bench.pair().await;
    let (_, took) = timed(async {
        write_all(&guest, b"head").await.unwrap();
        write_all(&guest, b"body").await.unwrap();
        read_exactly(&peer, 8).await
    })
    .await;
    // There and back, with the 40 ms that an acknowledgement is kept back, and there again.
    assert_takes(took, ms(100 + 40 + 50), 2);
}

#[tokio::test(start_paused = true)]
async fn an_acknowledgement_waits_for_what_stands_in_the_queue_before_it() {
    let bench = Bench::new(always(Effects { up: limited(10_000), ..Effects::default() }));
    let (guest, peer) = bench.pair().await;
    let (got, took) = timed(async {
        // Two full segments and a small one, which leaves after 300 ms.
        write_all(&guest, &pattern(3000)).await.unwrap();
        write_all(&guest, b"body").await.unwrap();
        read_exactly(&peer, 3004).await
    })
    .await;
    assert_eq!(got[3000..], *b"body");
    // What is held back leaves 40 ms after that.
    assert_takes(took, ms(340), 2);
}
