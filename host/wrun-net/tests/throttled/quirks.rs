//! What boards do.

use std::time::Duration;

use wrun_net::shape::Profile;
use wrun_net::shape::profile::{
    Board, Effects, Linger, LingerOption, Mixture, Mode, Network, SendQueue, Stalls, WithoutLinger,
};
use wrun_net::throttled::{Occurrences, Precision, Throttled};
use wrun_net::{Backend, Ending, Error, Family, OptionKind, SocketOption};

use super::kit::*;

fn board(board: Board) -> Profile {
    Profile { board, ..Profile::default() }
}

fn stalls(stalls: Stalls) -> Profile {
    always(Effects { stalls, ..Effects::default() })
}

fn once(total: Duration) -> Occurrences {
    Occurrences { count: 1, total }
}

#[tokio::test(start_paused = true)]
async fn a_connect_stalls() {
    let bench = Bench::new(stalls(Stalls { connect: wait(ms(700)), ..Stalls::default() }));
    let (_listener, there) = listen(&bench.memory).await;
    let (connected, took) = timed(connect(&*bench.throttled, there)).await;
    connected.unwrap();
    assert_takes(took, ms(700), 1);
    assert_eq!(bench.throttled.account().quirks.connect_stalls, once(ms(700)));
}

#[tokio::test(start_paused = true)]
async fn the_first_of_an_answer_stalls_and_the_rest_does_not() {
    let bench = Bench::new(stalls(Stalls { answer: wait(ms(700)), ..Stalls::default() }));
    let (guest, peer) = bench.pair().await;
    let greeting = async {
        write_all(&peer, b"hello").await.unwrap();
        read_exactly(&guest, 5).await
    };
    assert_eq!(timed(greeting).await.1, Duration::ZERO);
    for _ in 0..2 {
        write_all(&guest, b"?").await.unwrap();
        read_exactly(&peer, 1).await;
        for expected in [ms(700), Duration::ZERO] {
            let answer = async {
                write_all(&peer, b"!").await.unwrap();
                read_exactly(&guest, 1).await
            };
            assert_takes(timed(answer).await.1, expected, 1);
        }
    }
    assert_eq!(bench.throttled.account().quirks.answer_stalls, Occurrences { count: 2, total: ms(1400) });
    let (one, other) = bench.sockets().await;
    one.send(b"?", &other).await.unwrap();
    other.try_send(b"!", &one).unwrap();
    assert_takes(timed(one.receive()).await.1, ms(700), 1);
}

#[tokio::test(start_paused = true)]
async fn the_first_send_of_a_turn_stalls_and_each_datagram_does() {
    let bench = Bench::new(stalls(Stalls { send: wait(ms(700)), ..Stalls::default() }));
    let (guest, peer) = bench.pair().await;
    for _ in 0..2 {
        for expected in [ms(700), Duration::ZERO] {
            assert_takes(timed(write(&guest, b"?")).await.1, expected, 1);
        }
        read_exactly(&peer, 2).await;
        write_all(&peer, b"!").await.unwrap();
        read_exactly(&guest, 1).await;
    }
    let (one, other) = bench.sockets().await;
    for _ in 0..3 {
        assert_eq!(one.try_send(b"?", &other), Err(Error::WouldBlock));
        assert_takes(timed(one.send(b"?", &other)).await.1, ms(700), 1);
    }
    assert_eq!(bench.throttled.account().quirks.send_stalls, Occurrences { count: 5, total: ms(3500) });
}

#[tokio::test(start_paused = true)]
async fn half_of_the_answers_of_a_bimodal_board_come_within_a_second() {
    let modes = [(200, 900), (1000, 8000)].map(|(from, to)| Mode { weight: 1.0, from: ms(from), to: ms(to) });
    let bench = Bench::new(stalls(Stalls { answer: Mixture(modes.to_vec()), ..Stalls::default() }));
    let mut quick = 0;
    for _ in 0..100 {
        let (guest, peer) = bench.pair().await;
        write_all(&guest, b"GET").await.unwrap();
        write_all(&peer, b"OK").await.unwrap();
        let took = timed(read_exactly(&guest, 2)).await.1;
        assert!(took >= ms(200) && took <= ms(8001), "{took:?}");
        quick += u32::from(took < ms(950));
    }
    assert!((30..=70).contains(&quick), "{quick} of 100");
}

fn two_deep() -> SendQueue {
    let kind = |address: [u8; 4]| vec![Network { address: address.into(), prefix: 32 }];
    let kinds = vec![kind([127, 0, 0, 1]), kind([127, 0, 0, 2])];
    SendQueue { depth: 2, max_depth: 7, clears_after: ms(3000), kinds }
}

#[tokio::test(start_paused = true)]
async fn a_send_queue_fills_only_between_kinds_of_destinations_and_clears() {
    let bench = Bench::new(board(Board { send_queue: Some(two_deep()), ..Board::default() }));
    assert!(bench.throttled.capabilities().options.contains(&OptionKind::SendQueue));
    let (guest, one) = bench.sockets().await;
    for _ in 0..20 {
        guest.try_send(b"to one kind", &one).unwrap();
    }
    let other = Datagrams { socket: one.socket.clone(), at: ([127, 0, 0, 2], 9).into() };
    assert_eq!(guest.try_send(b"first", &other), Ok(()));
    assert_eq!(guest.try_send(b"second", &one), Ok(()));
    assert_eq!(guest.try_send(b"third", &one), Err(Error::WouldBlock));
    assert_eq!(guest.socket.queued(), Ok(11));
    assert_takes(timed(guest.send(b"third", &one)).await.1, ms(3000), 1);
    assert_eq!(bench.throttled.account().quirks.full_queues, once(ms(3000)));
}

#[tokio::test(start_paused = true)]
async fn a_new_socket_has_an_empty_queue_and_an_option_makes_it_deeper() {
    let bench = Bench::new(board(Board { send_queue: Some(two_deep()), ..Board::default() }));
    let sent = async |depth: Option<u32>| {
        let (guest, one) = bench.sockets().await;
        if let Some(depth) = depth {
            guest.socket.set_option(SocketOption::SendQueue(depth)).await.unwrap();
        }
        let got = guest.socket.option(OptionKind::SendQueue).await.unwrap();
        guest.try_send(b"meets the kind", &one).unwrap();
        let other = Datagrams { socket: one.socket.clone(), at: ([127, 0, 0, 2], 9).into() };
        let mut count = 0;
        while guest.try_send(b"more", &other).is_ok() {
            count += 1;
        }
        (got, count)
    };
    for _ in 0..2 {
        assert_eq!(sent(None).await, (SocketOption::SendQueue(2), 2));
    }
    assert_eq!(sent(Some(5)).await, (SocketOption::SendQueue(5), 5));
    assert_eq!(sent(Some(100)).await, (SocketOption::SendQueue(7), 7));
    assert_eq!(sent(Some(0)).await, (SocketOption::SendQueue(1), 1));
}

#[tokio::test(start_paused = true)]
async fn a_deeper_queue_lets_a_blocked_send_go_at_once() {
    let bench =
        Bench::new(board(Board { send_queue: Some(SendQueue { kinds: vec![], ..two_deep() }), ..Board::default() }));
    let (guest, one) = bench.sockets().await;
    guest.try_send(b"1", &one).unwrap();
    guest.try_send(b"2", &one).unwrap();
    let deepening = async {
        tokio::time::sleep(ms(10)).await;
        guest.socket.set_option(SocketOption::SendQueue(3)).await.unwrap();
    };
    let ((sent, ()), took) = timed(async { tokio::join!(guest.send(b"3", &one), deepening) }).await;
    assert_eq!(sent, Ok(()));
    assert_takes(took, ms(10), 1);
}

#[tokio::test(start_paused = true)]
async fn a_close_without_a_linger_time_stalls_and_with_one_does_not() {
    let linger = Linger { without: WithoutLinger::Stall(ms(2000)), ..Linger::default() };
    let bench = Bench::new(board(Board { linger, ..Board::default() }));
    let (guest, peer) = bench.pair().await;
    write_all(&guest, b"bye").await.unwrap();
    let (closed, took) = timed(guest.close()).await;
    assert_eq!(closed.unwrap().ending, Ending::Background);
    assert_takes(took, ms(2000), 1);
    assert_eq!(read_all(&peer).await.unwrap(), b"bye");
    let (guest, _peer) = bench.pair().await;
    guest.set_option(SocketOption::Linger(Some(ms(1000)))).await.unwrap();
    let (closed, took) = timed(guest.close()).await;
    assert_eq!((closed.unwrap().ending, took), (Ending::Acknowledged, Duration::ZERO));
    // A drop holds nobody up, but its peer sees the end as late.
    let (guest, peer) = bench.pair().await;
    assert_eq!(timed(async { drop(guest) }).await.1, Duration::ZERO);
    let (end, took) = timed(read(&peer, &mut [0; 1])).await;
    assert_eq!(end, Ok(0));
    assert_takes(took, ms(2000), 1);
    assert_eq!(bench.throttled.account().quirks.closes_stalled, Occurrences { count: 2, total: ms(4000) });
}

#[tokio::test(start_paused = true)]
async fn a_linger_option_is_ignored_or_refused_as_the_board_has_it() {
    let stalls = |option| {
        board(Board { linger: Linger { without: WithoutLinger::Stall(ms(2000)), option }, ..Board::default() })
    };
    let set = SocketOption::Linger(Some(ms(1000)));
    let bench = Bench::new(stalls(LingerOption::Ignored));
    let (guest, _peer) = bench.pair().await;
    guest.set_option(set).await.unwrap();
    assert_eq!(guest.option(OptionKind::Linger).await, Ok(set));
    assert_takes(timed(guest.close()).await.1, ms(2000), 1);

    let bench = Bench::new(stalls(LingerOption::NotSupported));
    assert!(!bench.throttled.capabilities().options.contains(&OptionKind::Linger));
    let (guest, _peer) = bench.pair().await;
    assert_eq!(guest.set_option(set).await, Err(Error::NotSupported));
    assert_eq!(guest.option(OptionKind::Linger).await, Err(Error::NotSupported));
    assert_eq!(bench.throttled.account().quirks.options_refused, 2);
}

#[tokio::test(start_paused = true)]
async fn a_board_has_so_many_sockets_and_a_dropped_one_is_free_again() {
    let bench = Bench::new(board(Board { sockets: Some(3), ..Board::default() }));
    let (listener, there) = listen(&*bench.throttled).await;
    let one = bench.throttled.udp(Family::V4).unwrap();
    let peer = connect(&bench.memory, there).await.unwrap();
    let accepted = accept(&listener).await.unwrap();
    assert_eq!(bench.throttled.tcp(Family::V4).err(), Some(Error::NewSocketLimit));
    assert_eq!(bench.throttled.udp(Family::V4).err(), Some(Error::NewSocketLimit));
    let _other = connect(&bench.memory, there).await.unwrap();
    assert_eq!(accept(&listener).await.err(), Some(Error::NewSocketLimit));
    drop(one);
    let again = bench.throttled.tcp(Family::V4).unwrap();
    assert_eq!(bench.throttled.udp(Family::V4).err(), Some(Error::NewSocketLimit));
    drop((again, accepted, peer));
    let _two = (bench.throttled.udp(Family::V4).unwrap(), bench.throttled.udp(Family::V4).unwrap());
    assert_eq!(bench.throttled.account().quirks.sockets_refused, 4);
}

#[tokio::test(start_paused = true)]
async fn a_socket_whose_close_stalls_takes_its_place_that_long() {
    for (without, takes) in [(WithoutLinger::Background, 0), (WithoutLinger::Stall(ms(2000)), 2000)] {
        let linger = Linger { without, ..Linger::default() };
        let board = Board { sockets: Some(1), linger, ..Board::default() };
        let bench = Bench::new(Profile { board, ..always(both(delayed(ms(50)))) });
        let (guest, peer) = bench.pair().await;
        write_all(&guest, b"bye").await.unwrap();
        drop(guest);
        let (_, took) = timed(async {
            while bench.throttled.tcp(Family::V4).is_err() {
                tokio::time::sleep(ms(1)).await;
            }
        })
        .await;
        assert_takes(took, ms(takes), 2);
        assert_eq!(read_all(&peer).await.unwrap(), b"bye");
    }
}

#[tokio::test(start_paused = true)]
async fn a_receive_answers_with_so_many_bytes_at_most() {
    for rest in [Effects::default(), both(delayed(ms(5)))] {
        let bench = Bench::new(Profile { board: Board { receive: Some(10), ..Board::default() }, ..always(rest) });
        let (guest, peer) = bench.pair().await;
        write_all(&peer, &pattern(25)).await.unwrap();
        let mut buffer = [0; 100];
        let counts =
            [read(&guest, &mut buffer).await, read(&guest, &mut buffer).await, read(&guest, &mut buffer).await];
        assert_eq!(counts, [Ok(10), Ok(10), Ok(5)]);
        let (one, other) = bench.sockets().await;
        other.try_send(&pattern(25), &one).unwrap();
        other.try_send(b"next", &one).unwrap();
        assert_eq!(one.receive().await.unwrap(), pattern(10));
        assert_eq!(one.receive().await.unwrap(), b"next");
    }
}

#[tokio::test(start_paused = true)]
async fn an_option_that_a_board_lacks_is_refused_everywhere() {
    let unsupported = vec![OptionKind::NoDelay, OptionKind::Broadcast];
    let bench = Bench::new(board(Board { unsupported, ..Board::default() }));
    let known = bench.throttled.capabilities().options;
    assert!(!known.contains(&OptionKind::NoDelay) && known.contains(&OptionKind::Linger));
    let (guest, _peer) = bench.pair().await;
    let (one, _other) = bench.sockets().await;
    assert_eq!(guest.set_option(SocketOption::NoDelay(true)).await, Err(Error::NotSupported));
    assert_eq!(one.socket.option(OptionKind::Broadcast).await, Err(Error::NotSupported));
    assert_eq!(one.socket.set_option(SocketOption::Broadcast(true)).await, Err(Error::NotSupported));
    assert_eq!(bench.throttled.account().quirks.options_refused, 3);
}

#[tokio::test(start_paused = true)]
async fn an_address_can_be_bound_again_as_soon_as_what_is_in_hand_has_gone() {
    let bench = Bench::new(always(both(delayed(ms(50)))));
    let (guest, peer) = bench.sockets().await;
    guest.try_send(b"from before", &peer).unwrap();
    let at = guest.at;
    drop(guest);
    let again = bench.throttled.udp(Family::V4).unwrap();
    let (bound, took) = timed(again.bind(at)).await;
    assert_eq!(bound, Ok(at));
    assert_takes(took, ms(50), 1);
    assert_eq!(peer.receive().await.unwrap(), b"from before");
    // Nothing in hand is nothing to wait for, and somebody else's address is in use.
    drop(again);
    let again = bench.throttled.udp(Family::V4).unwrap();
    assert_eq!(timed(again.bind(at)).await, (Ok(at), Duration::ZERO));
    let other = bench.throttled.udp(Family::V4).unwrap();
    assert_eq!(other.bind(at).await, Err(Error::AddressInUse));
}

#[tokio::test(start_paused = true)]
async fn a_datagram_that_the_socket_inside_had_no_room_for_stalls_once_and_takes_one_place() {
    let inner = Bench::new(stalls(Stalls { send: wait(ms(10)), ..Stalls::default() }));
    let queue = SendQueue { kinds: vec![], ..two_deep() };
    let profile = Profile {
        board: Board { send_queue: Some(queue), ..Board::default() },
        ..stalls(Stalls { send: wait(ms(100)), ..Stalls::default() })
    };
    let outer = Throttled::new(inner.throttled.clone(), profile, SEED, Precision::Coarse);
    let (guest, peer) = (datagrams(&*outer).await, datagrams(&inner.memory).await);
    for data in [b"one", b"two"] {
        assert_takes(timed(guest.send(data, &peer)).await.1, ms(110), 2);
    }
    assert_eq!(outer.account().quirks.send_stalls.count, 2);
    assert_eq!(outer.account().quirks.full_queues.count, 0);
    assert_eq!(guest.socket.queued(), Ok(6));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_given_up_counts_for_as_long_as_it_was_waited() {
    let some = wait(ms(5000));
    let bench = Bench::new(Profile {
        board: Board { send_queue: Some(SendQueue { kinds: vec![], ..two_deep() }), ..Board::default() },
        ..stalls(Stalls { answer: some.clone(), ..Stalls::default() })
    });
    let gives_up = ms(400);
    // A full queue, which the guest ends by making its socket anew.
    let (guest, peer) = bench.sockets().await;
    for _ in 0..2 {
        guest.try_send(b"?", &peer).unwrap();
    }
    assert!(tokio::time::timeout(gives_up, guest.send(b"?", &peer)).await.is_err());
    assert_eq!(bench.throttled.account().quirks.full_queues, once(gives_up));
    drop(guest);
    tokio::time::sleep(ms(5000)).await;
    assert_eq!(bench.throttled.account().quirks.full_queues, once(gives_up));
    // An answer that the guest does not wait for.
    let (guest, peer) = bench.pair().await;
    write_all(&guest, b"?").await.unwrap();
    write_all(&peer, b"!").await.unwrap();
    assert!(tokio::time::timeout(gives_up, read_exactly(&guest, 1)).await.is_err());
    drop(guest);
    assert_eq!(bench.throttled.account().quirks.answer_stalls, once(gives_up));

    bench.throttled.replace(stalls(Stalls { connect: some.clone(), send: some, ..Stalls::default() }));
    let (_listener, there) = listen(&bench.memory).await;
    assert!(tokio::time::timeout(gives_up, connect(&*bench.throttled, there)).await.is_err());
    assert_eq!(bench.throttled.account().quirks.connect_stalls, once(gives_up));
    // One that is never begun does not show.
    drop(connect(&*bench.throttled, there));
    assert_eq!(bench.throttled.account().quirks.connect_stalls, once(gives_up));
    let (guest, peer) = bench.sockets().await;
    assert!(tokio::time::timeout(gives_up, guest.send(b"?", &peer)).await.is_err());
    drop(guest);
    assert_eq!(bench.throttled.account().quirks.send_stalls, once(gives_up));
}
