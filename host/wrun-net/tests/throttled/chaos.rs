//! Whatever a guest does, in whatever order: nothing panics, nothing hangs, and nothing is left behind.

use std::future::poll_fn;
use std::net::Shutdown;
use std::task::Poll;
use std::time::Duration;

use proptest::prelude::*;
use tokio::runtime::{Builder, Handle};
use tokio::time::timeout;
use wrun_net::shape::Profile;
use wrun_net::shape::profile::{Board, Linger, LingerOption, SendQueue, WithoutLinger};
use wrun_net::{Backend, OptionKind, SocketOption};

use super::any::profile;
use super::kit::*;

#[derive(Debug, Clone)]
enum Step {
    Write(usize),
    Read(usize),
    PollBoth,
    Shutdown(u8),
    NoDelay(bool),
    Linger(Option<u64>),
    Queued,
    Close,
    PeerWrite(usize),
    PeerRead(usize),
    PeerCut,
    Send(usize),
    Receive,
    Connect(bool),
    SendQueue(u32),
    PeerSend(usize),
    Reopen,
    Resolve,
    Open,
    Replace(Box<Profile>),
    Sleep(u64),
}

fn board() -> impl Strategy<Value = Board> {
    let without = prop_oneof![
        Just(WithoutLinger::Background),
        (0..3000u64).prop_map(|time| WithoutLinger::Stall(ms(time))),
        Just(WithoutLinger::Reset)
    ];
    let option =
        prop_oneof![Just(LingerOption::Honoured), Just(LingerOption::Ignored), Just(LingerOption::NotSupported)];
    let queue = (1..5u32, 0..3000u64).prop_map(|(depth, time)| SendQueue {
        depth,
        max_depth: 7,
        clears_after: ms(time),
        kinds: vec![],
    });
    let limits = (prop::option::of(3..6u32), prop::option::of(1..2000usize));
    (without, option, prop::option::of(queue), limits).prop_map(|(without, option, send_queue, (sockets, receive))| {
        Board { sockets, receive, linger: Linger { without, option }, send_queue, ..Board::default() }
    })
}

fn any_profile() -> impl Strategy<Value = Profile> {
    (profile(), board()).prop_map(|(profile, board)| Profile { board, ..profile })
}

fn step() -> impl Strategy<Value = Step> {
    let size = || prop_oneof![4 => 0..3000usize, 1 => 0..100_000usize];
    prop_oneof![
        4 => size().prop_map(Step::Write),
        4 => (1..5000usize).prop_map(Step::Read),
        2 => Just(Step::PollBoth),
        1 => (0..3u8).prop_map(Step::Shutdown),
        1 => any::<bool>().prop_map(Step::NoDelay),
        1 => prop::option::of(prop_oneof![Just(0), Just(u64::MAX), 0..5u64]).prop_map(Step::Linger),
        1 => Just(Step::Queued),
        1 => Just(Step::Close),
        3 => size().prop_map(Step::PeerWrite),
        3 => (1..5000usize).prop_map(Step::PeerRead),
        1 => Just(Step::PeerCut),
        4 => size().prop_map(Step::Send),
        2 => Just(Step::Receive),
        1 => any::<bool>().prop_map(Step::Connect),
        1 => any::<u32>().prop_map(Step::SendQueue),
        2 => size().prop_map(Step::PeerSend),
        1 => Just(Step::Reopen),
        1 => Just(Step::Resolve),
        1 => Just(Step::Open),
        2 => any_profile().prop_map(|profile| Step::Replace(Box::new(profile))),
        6 => (0..400u64).prop_map(Step::Sleep),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_a_guest_does_panics_or_stays(
        first in any_profile(),
        seed: u64,
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(tokio::task::coop::unconstrained(async {
            let bench = Bench::seeded(Profile::default(), seed);
            let (mut guest, mut peer) = bench.pair().await;
            let (mut one, other) = bench.sockets().await;
            let (listener, there) = listen(&bench.memory).await;
            bench.throttled.replace(first);
            let mut buffer = vec![0; 100_000];
            for step in steps {
                // Every answer is as good as any other here.
                match step {
                    Step::Write(size) => drop(guest.try_write(&buffer[..size])),
                    Step::Read(size) => drop(guest.try_read(&mut buffer[..size])),
                    Step::PollBoth => {
                        poll_fn(|cx| {
                            let _ = (guest.poll_read_ready(cx), guest.poll_write_ready(cx));
                            let _ = (one.socket.poll_receive_ready(cx), one.socket.poll_send_ready(cx));
                            Poll::Ready(())
                        })
                        .await;
                    }
                    Step::Shutdown(how) => {
                        let how = [Shutdown::Read, Shutdown::Write, Shutdown::Both][usize::from(how)];
                        drop(guest.shutdown(how));
                    }
                    Step::NoDelay(on) => drop(guest.set_option(SocketOption::NoDelay(on)).await),
                    Step::Linger(time) => {
                        let time = time.map(Duration::from_secs);
                        drop(guest.set_option(SocketOption::Linger(time)).await);
                    }
                    Step::Queued => {
                        drop((guest.queued(), one.socket.queued(), guest.option(OptionKind::NoDelay).await));
                    }
                    Step::Close => drop(guest.close()),
                    Step::PeerWrite(size) => drop(peer.try_write(&buffer[..size])),
                    Step::PeerRead(size) => drop(peer.try_read(&mut buffer[..size])),
                    Step::PeerCut => {
                        drop(peer.set_option(SocketOption::Linger(Some(Duration::ZERO))).await);
                        drop(peer.close().await);
                    }
                    Step::Send(size) => drop(one.try_send(&buffer[..size], &other)),
                    Step::Receive => drop(one.socket.try_receive(&mut buffer)),
                    Step::Connect(connects) => drop(one.socket.connect(connects.then_some(other.at)).await),
                    Step::SendQueue(depth) => drop(one.socket.set_option(SocketOption::SendQueue(depth)).await),
                    Step::PeerSend(size) => drop(other.try_send(&buffer[..size], &one)),
                    Step::Reopen => {
                        bench.throttled.replace(Profile::default());
                        (guest, peer) = bench.pair().await;
                        one = datagrams(&*bench.throttled).await;
                    }
                    Step::Resolve => drop(timeout(ms(500), bench.throttled.resolve("localhost")).await),
                    Step::Open => drop(timeout(ms(500), connect(&*bench.throttled, there)).await),
                    Step::Replace(profile) => bench.throttled.replace(*profile),
                    Step::Sleep(time) => tokio::time::sleep(ms(time)).await,
                }
            }
            drop((guest, peer, one, listener));
            bench.throttled.replace(Profile::default());
            tokio::time::sleep(ms(10_000_000)).await;
            prop_assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
            Ok(())
        }))?;
    }

    /// Whatever the profile: each ends, one way or another, and one that was answered was not counted as failed.
    #[test]
    fn every_connect_and_every_lookup_ends_and_its_failure_is_counted(profile in profile(), seed: u64) {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(tokio::task::coop::unconstrained(async {
            let bench = Bench::seeded(profile, seed);
            let (listener, there) = listen(&bench.memory).await;
            let [mut refused, mut unknown] = [0; 2];
            for _ in 0..5 {
                let connected = timeout(ms(3_600_000), connect(&*bench.throttled, there)).await;
                refused += u64::from(connected.unwrap().is_err());
                let found = timeout(ms(3_600_000), bench.throttled.resolve("localhost")).await;
                unknown += u64::from(found.unwrap().is_err());
            }
            let quirks = bench.throttled.account().quirks;
            prop_assert_eq!((refused, unknown), (quirks.connects_failed, quirks.lookups_failed));
            drop(listener);
            tokio::time::sleep(ms(3_600_000)).await;
            prop_assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
            Ok(())
        }))?;
    }
}
