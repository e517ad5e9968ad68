//! What holds of every stream, whatever the profile.

use std::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use tokio::runtime::{Builder, Handle};
use wrun_net::shape::Profile;
use wrun_net::shape::profile::{Effects, Path, WithoutLinger};
use wrun_net::{Error, SocketOption, TcpStream};

use super::any::profile;
use super::kit::*;

#[derive(Debug, Clone)]
struct Talk {
    writes: Vec<usize>,
    reads: usize,
    no_delay: bool,
    /// How the writer ends: by ending its sending, or by dropping its end.
    drops: bool,
}

fn talk() -> impl Strategy<Value = Talk> {
    let writes = prop::collection::vec(prop_oneof![1..200usize, 1000..20_000usize], 0..12);
    (writes, 1..9000usize, any::<bool>(), any::<bool>()).prop_map(|(writes, reads, no_delay, drops)| Talk {
        writes,
        reads,
        no_delay,
        drops,
    })
}

/// Writes as the talk says, and reads what comes at the other end, to its end.
async fn carry(from: Arc<dyn TcpStream>, to: &Arc<dyn TcpStream>, talk: &Talk) -> Vec<u8> {
    from.set_option(SocketOption::NoDelay(talk.no_delay)).await.unwrap();
    let data = pattern(talk.writes.iter().sum());
    let writing = async {
        let mut rest = &data[..];
        for size in &talk.writes {
            write_all(&from, &rest[..*size]).await.unwrap();
            rest = &rest[*size..];
        }
        if talk.drops { drop(from) } else { from.shutdown(Shutdown::Write).unwrap() }
    };
    let reading = async {
        let mut all = Vec::new();
        let mut buffer = vec![0; talk.reads];
        loop {
            match read(to, &mut buffer).await.unwrap() {
                0 => return all,
                count => all.extend_from_slice(&buffer[..count]),
            }
        }
    };
    tokio::join!(writing, reading).1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the profile, the seed, and how it is written, read and ended: the bytes arrive whole and in order, and
    /// when all is over no task is left.
    #[test]
    fn bytes_arrive_whole_and_in_order(
        profile in profile(),
        later in prop::option::of(profile()),
        seed: u64,
        there in talk(),
        back in talk(),
    ) {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(tokio::task::coop::unconstrained(async {
            let bench = Bench::seeded(Profile::default(), seed);
            for (talk, is_guest) in [(&there, true), (&back, false)] {
                // A link that loses all lets nobody connect.
                bench.throttled.replace(Profile::default());
                let (guest, peer) = bench.pair().await;
                bench.throttled.replace(profile.clone());
                let (from, to) = if is_guest { (guest, peer) } else { (peer, guest) };
                let replacing = async {
                    tokio::time::sleep(ms(300)).await;
                    if let Some(later) = &later {
                        bench.throttled.replace(later.clone());
                    }
                };
                let (got, ()) = tokio::join!(carry(from, &to, talk), replacing);
                prop_assert!(got == pattern(talk.writes.iter().sum()));
            }
            tokio::time::sleep(ms(3_600_000)).await;
            prop_assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
            Ok(())
        }))?;
    }
}

#[tokio::test(start_paused = true)]
async fn one_side_can_end_and_still_hear_the_other() {
    let bench = Bench::new(always(both(delayed(ms(50)))));
    let (guest, peer) = bench.pair().await;
    write_all(&guest, b"last words").await.unwrap();
    guest.shutdown(Shutdown::Write).unwrap();
    let (words, took) = timed(read_all(&peer)).await;
    assert_eq!(words.unwrap(), b"last words");
    assert_takes(took, ms(50), 1);
    write_all(&peer, b"an answer").await.unwrap();
    assert_eq!(read_exactly(&guest, 9).await, b"an answer");
    drop(peer);
    assert_eq!(read(&guest, &mut [0; 1]).await, Ok(0));
}

#[tokio::test(start_paused = true)]
async fn what_is_in_hand_is_delivered_after_the_guest_has_gone() {
    let bench = Bench::new(always(both(Path { delay: delayed(ms(50)).delay, ..limited(10_000) })));
    let (guest, peer) = bench.pair().await;
    let (one, other) = bench.sockets().await;
    let data = pattern(100_000);
    write_all(&guest, &data).await.unwrap();
    one.try_send(b"a datagram", &other).unwrap();
    drop((guest, one, bench.throttled));
    let (got, took) = timed(read_all(&peer)).await;
    assert!(got.unwrap() == data);
    assert_takes(took, ms(10_050), 10);
    assert_eq!(other.receive().await.unwrap(), b"a datagram");
    drop((peer, other));
    tokio::time::sleep(ms(1000)).await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_cut_throws_away_what_is_in_hand() {
    for explicit in [true, false] {
        let bench = Bench::new(always(both(delayed(ms(50)))));
        let (guest, peer) = bench.pair().await;
        write_all(&guest, b"never to arrive").await.unwrap();
        guest.set_option(SocketOption::Linger(Some(Duration::ZERO))).await.unwrap();
        if explicit {
            assert_eq!(guest.close().await.unwrap().ending, wrun_net::Ending::Reset);
        }
        drop(guest);
        assert_eq!(read(&peer, &mut [0; 100]).await, Err(Error::ConnectionReset));
    }
}

#[tokio::test(start_paused = true)]
async fn a_peers_reset_comes_after_what_it_sent_and_is_told_once() {
    let bench = Bench::new(always(both(delayed(ms(50)))));
    let (guest, peer) = bench.pair().await;
    write_all(&peer, b"and now").await.unwrap();
    peer.set_option(SocketOption::Linger(Some(Duration::ZERO))).await.unwrap();
    peer.close().await.unwrap();
    let (got, took) = timed(read_exactly(&guest, 7)).await;
    assert_eq!(got, b"and now");
    assert_takes(took, ms(50), 1);
    assert_eq!(read(&guest, &mut [0; 1]).await, Err(Error::ConnectionReset));
    assert_eq!(read(&guest, &mut [0; 1]).await, Ok(0));
    assert_eq!(write(&guest, b"?").await.and(write_until_refused(&guest).await), Err(Error::ConnectionReset));
}

/// What is written first may still be taken in, as with any peer that is far away.
async fn write_until_refused(stream: &Arc<dyn TcpStream>) -> wrun_net::Result<usize> {
    loop {
        write(stream, b"?").await?;
        tokio::time::sleep(ms(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_guest_that_does_not_read_holds_its_peer_up() {
    let bench = Bench::new(always(both(delayed(ms(5)))));
    let (guest, peer) = bench.pair().await;
    let mut sent = 0;
    while let Ok(Ok(count)) = tokio::time::timeout(ms(1000), write(&peer, &[0; 60_000])).await {
        sent += count;
        assert!(sent < 200 << 20, "all that is sent is taken in");
    }
    let mut buffer = vec![0; 1 << 20];
    let mut got = 0;
    while got < sent {
        got += read(&guest, &mut buffer).await.unwrap();
    }
    assert!(tokio::time::timeout(ms(1000), write(&peer, &[0; 60_000])).await.is_ok(), "it stays held up");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_holds_the_guest_up() {
    let bench = Bench::new(always(both(delayed(ms(5)))));
    let (guest, peer) = bench.pair().await;
    let mut sent = 0;
    while let Ok(Ok(count)) = tokio::time::timeout(ms(1000), write(&guest, &[0; 60_000])).await {
        sent += count;
        assert!(sent < 200 << 20, "all that is sent is taken in");
    }
    assert!(read_exactly(&peer, sent).await.len() == sent);
    assert!(tokio::time::timeout(ms(1000), write(&guest, &[0; 60_000])).await.is_ok(), "it stays held up");
}

#[tokio::test(start_paused = true)]
async fn a_lingering_close_waits_for_the_way_there_and_back() {
    let bench = Bench::new(always(Effects { up: delayed(ms(50)), down: delayed(ms(20)), ..Effects::default() }));
    let (guest, peer) = bench.pair().await;
    guest.set_option(SocketOption::Linger(Some(ms(5000)))).await.unwrap();
    write_all(&guest, b"bye").await.unwrap();
    let (closed, took) = timed(guest.close()).await;
    let closed = closed.unwrap();
    assert_eq!((closed.ending, closed.unsent), (wrun_net::Ending::Acknowledged, Some(3)));
    assert_takes(took, ms(70), 2);
    assert_eq!(read_all(&peer).await.unwrap(), b"bye");
}

#[tokio::test(start_paused = true)]
async fn a_lingering_close_that_times_out_loses_nothing() {
    let bench = Bench::new(always(both(limited(1000))));
    let (guest, peer) = bench.pair().await;
    guest.set_option(SocketOption::Linger(Some(ms(3000)))).await.unwrap();
    write_all(&guest, &pattern(10_000)).await.unwrap();
    let (closed, took) = timed(guest.close()).await;
    assert_eq!(closed.unwrap().ending, wrun_net::Ending::TimedOut);
    assert_takes(took, ms(3000), 1);
    drop(guest);
    assert!(read_all(&peer).await.unwrap() == pattern(10_000));
}

#[tokio::test(start_paused = true)]
async fn a_board_whose_close_cuts_leaves_the_peer_a_reset() {
    let mut profile = always(both(delayed(ms(10))));
    profile.board.linger.without = WithoutLinger::Reset;
    let bench = Bench::new(profile);
    let (guest, peer) = bench.pair().await;
    write_all(&guest, b"lost").await.unwrap();
    drop(guest);
    assert_eq!(read(&peer, &mut [0; 8]).await, Err(Error::ConnectionReset));
    assert_eq!(bench.throttled.account().quirks.closes_reset, 1);
}

#[tokio::test(start_paused = true)]
async fn a_close_after_the_peers_reset_says_so() {
    for profile in [Profile::default(), always(both(delayed(ms(5))))] {
        let bench = Bench::new(profile);
        let (guest, peer) = bench.pair().await;
        write_all(&guest, b"?").await.unwrap();
        read_exactly(&peer, 1).await;
        peer.set_option(SocketOption::Linger(Some(Duration::ZERO))).await.unwrap();
        drop(peer);
        assert_eq!(read(&guest, &mut [0; 1]).await, Err(Error::ConnectionReset));
        assert_eq!(guest.close().await.unwrap().ending, wrun_net::Ending::Reset);
    }
}
