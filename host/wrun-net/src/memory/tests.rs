//! What the conformance body cannot see: the machine's own numbers, and what no kernel does on its loopback.

use std::collections::VecDeque;
use std::future::Future;
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use proptest::prelude::*;

use super::*;
use crate::backend::{Interface, SocketOption, TcpStream};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Most of what is in memory is answered at once.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("it waits"),
    }
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn pair(memory: &Memory) -> (Arc<dyn TcpStream>, Arc<dyn TcpStream>) {
    let listener = at_once(memory.tcp(Family::V4).unwrap().listen(1)).unwrap();
    let there = SocketAddr::new(HERE, listener.local_address().unwrap().port());
    let client = at_once(memory.tcp(Family::V4).unwrap().connect(there)).unwrap();
    (client, listener.try_accept().unwrap())
}

#[test]
fn ports_begin_at_49152_and_are_the_same_every_time() {
    for _ in 0..2 {
        let memory = Memory::new();
        let socket = memory.tcp(Family::V4).unwrap();
        let bound = at_once(socket.bind(SocketAddr::new(HERE, 0))).unwrap();
        assert_eq!(bound.port(), 49_152);
    }
}

#[test]
fn all_ports_of_an_address_can_be_had_and_no_more() {
    let memory = Memory::new();
    let bind = || {
        let socket = memory.udp(Family::V4).unwrap();
        at_once(socket.bind(SocketAddr::new(HERE, 0))).map(|_| socket)
    };
    let mut sockets = (49_152..=u16::MAX).map(|_| bind().unwrap()).collect::<VecDeque<_>>();
    assert_eq!(bind().err(), Some(Error::AddressInUse));
    sockets.pop_front();
    bind().unwrap();
}

#[test]
fn two_machines_do_not_know_each_other() {
    let (one, other) = (Memory::new(), Memory::new());
    let listener = at_once(one.tcp(Family::V4).unwrap().listen(1)).unwrap();
    let there = SocketAddr::new(HERE, listener.local_address().unwrap().port());
    assert_eq!(at_once(other.tcp(Family::V4).unwrap().connect(there)).err(), Some(Error::ConnectionRefused));
    assert!(at_once(one.clone().tcp(Family::V4).unwrap().connect(there)).is_ok());
}

#[test]
fn a_connect_beyond_the_backlog_waits_until_one_is_accepted() {
    let memory = Memory::new();
    let listener = at_once(memory.tcp(Family::V4).unwrap().listen(1)).unwrap();
    let there = SocketAddr::new(HERE, listener.local_address().unwrap().port());
    let _first = at_once(memory.tcp(Family::V4).unwrap().connect(there)).unwrap();
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let mut second = memory.tcp(Family::V4).unwrap().connect(there);
    assert!(second.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    listener.try_accept().unwrap();
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    assert!(second.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
}

#[test]
fn a_connect_that_waits_is_refused_when_the_listener_goes() {
    let memory = Memory::new();
    let listener = at_once(memory.tcp(Family::V4).unwrap().listen(1)).unwrap();
    let there = SocketAddr::new(HERE, listener.local_address().unwrap().port());
    let first = at_once(memory.tcp(Family::V4).unwrap().connect(there)).unwrap();
    let mut second = memory.tcp(Family::V4).unwrap().connect(there);
    assert!(second.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(listener);
    assert_eq!(at_once(second).err(), Some(Error::ConnectionRefused));
    assert_eq!(first.try_read(&mut [0; 1]), Err(Error::ConnectionReset));
}

#[test]
fn buffers_hold_as_much_as_was_set() {
    let memory = Memory::new();
    let (client, server) = pair(&memory);
    at_once(client.set_option(SocketOption::SendBuffer(2000))).unwrap();
    at_once(server.set_option(SocketOption::ReceiveBuffer(3000))).unwrap();
    assert_eq!(client.try_write(&[0; 10_000]), Ok(5000));
    assert_eq!(client.try_write(&[0; 1]), Err(Error::WouldBlock));
    assert_eq!(client.queued(), Ok(2000));
    assert_eq!(server.try_read(&mut [0; 500]), Ok(500));
    assert_eq!(client.queued(), Ok(1500));
    assert_eq!(client.try_write(&[0; 10_000]), Ok(500));
}

#[test]
fn no_buffer_is_larger_than_four_megabytes() {
    let (client, server) = pair(&Memory::new());
    at_once(client.set_option(SocketOption::SendBuffer(u64::MAX))).unwrap();
    at_once(server.set_option(SocketOption::ReceiveBuffer(u64::MAX))).unwrap();
    let most = 2 * 4 * 1024 * 1024;
    assert_eq!(client.try_write(&vec![0; most + 1]), Ok(most));
}

#[test]
fn a_cut_drops_what_had_not_arrived() {
    let (client, server) = pair(&Memory::new());
    at_once(server.set_option(SocketOption::ReceiveBuffer(1024))).unwrap();
    assert_eq!(client.try_write(&[7; 5000]), Ok(5000));
    at_once(client.set_option(SocketOption::Linger(Some(std::time::Duration::ZERO)))).unwrap();
    drop(client);
    assert_eq!(server.try_read(&mut [0; 5000]), Ok(1024));
    assert_eq!(server.try_read(&mut [0; 5000]), Err(Error::ConnectionReset));
    assert_eq!(server.try_read(&mut [0; 5000]), Ok(0));
}

#[test]
fn a_full_receiver_drops_datagrams_the_empty_ones_too() {
    let memory = Memory::new();
    let (one, other) = (memory.udp(Family::V4).unwrap(), memory.udp(Family::V4).unwrap());
    let there = at_once(other.bind(SocketAddr::new(HERE, 0))).unwrap();
    for _ in 0..1000 {
        one.try_send(&[], Some(there)).unwrap();
    }
    let mut buffer = vec![0; 65_535];
    let received = std::iter::from_fn(|| other.try_receive(&mut buffer).ok()).count();
    assert_eq!(received, 64 * 1024 / 256);
    one.try_send(&[1; 65_507], Some(there)).unwrap();
    assert_eq!(other.try_receive(&mut buffer).map(|(count, _)| count), Ok(65_507));
}

#[test]
fn a_group_is_not_heard_on_the_sending_machine_without_loopback() {
    for (family, group) in [(Family::V4, "239.1.2.3"), (Family::V6, "ff02::123")] {
        let memory = Memory::new();
        let group = group.parse::<IpAddr>().unwrap();
        let (one, other) = (memory.udp(family).unwrap(), memory.udp(family).unwrap());
        let bound = at_once(other.bind(SocketAddr::new(network::unspecified(family), 0))).unwrap();
        at_once(other.join(group, Interface::Default)).unwrap();
        let to = Some(SocketAddr::new(group, bound.port()));
        at_once(one.set_option(SocketOption::MulticastLoopback(false))).unwrap();
        one.try_send(b"away", to).unwrap();
        assert_eq!(other.try_receive(&mut [0; 16]), Err(Error::WouldBlock));
        at_once(one.set_option(SocketOption::MulticastLoopback(true))).unwrap();
        one.try_send(b"here", to).unwrap();
        assert_eq!(other.try_receive(&mut [0; 16]).map(|(count, _)| count), Ok(4));
    }
}

#[test]
fn names_are_known_in_upper_case_and_with_a_final_dot() {
    let address = IpAddr::from([127, 0, 0, 9]);
    let memory = Memory::with_names([("Board.Test".to_owned(), vec![address]), ("none.test".to_owned(), vec![])]);
    assert_eq!(at_once(memory.resolve("BOARD.test.")), Ok(vec![address]));
    assert_eq!(at_once(memory.resolve("none.test")), Err(Error::NameUnresolvable));
    assert_eq!(at_once(memory.resolve("localhost")).map(|found| found.len()), Ok(2));
}

#[tokio::test(start_paused = true)]
async fn a_lingering_close_takes_no_real_time() {
    let (client, _server) = pair(&Memory::new());
    let hour = std::time::Duration::from_secs(3600);
    client.set_option(SocketOption::Linger(Some(hour))).await.unwrap();
    while client.try_write(&[0; 4096]).is_ok() {}
    let start = tokio::time::Instant::now();
    assert_eq!(client.close().await.unwrap().ending, crate::Ending::TimedOut);
    assert!(start.elapsed() >= hour);
}

/// One step of one end.
#[derive(Debug, Clone)]
enum Step {
    Write(usize),
    Read(usize),
    Resize { send: u64, receive: u64 },
}

fn steps() -> impl Strategy<Value = Vec<(bool, Step)>> {
    let step = prop_oneof![
        4 => (0..9000usize).prop_map(Step::Write),
        4 => (1..9000usize).prop_map(Step::Read),
        1 => (0..9000u64, 0..9000u64).prop_map(|(send, receive)| Step::Resize { send, receive }),
    ];
    prop::collection::vec((any::<bool>(), step), 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever two ends do in whatever order: each reads exactly what the other wrote; who was not ready and is now has
    /// been woken; and readiness says what the next call does.
    #[test]
    fn bytes_arrive_whole_in_order_and_wake(steps in steps()) {
        let (client, server) = pair(&Memory::new());
        let ends = [client, server];
        let mut written = [0u64; 2];
        let mut read = [0u64; 2];
        let byte = |at: u64| (at % 251) as u8;
        for (second, step) in steps {
            let us = usize::from(second);
            let peer = 1 - us;
            // Whoever is not ready waits through this step.
            let counts = [0, 1].map(|end| [true, false].map(|reads| (waiting(&ends[end], reads), reads, end)));
            match step {
                Step::Write(size) => {
                    let data = (written[us]..).take(size).map(byte).collect::<Vec<_>>();
                    match ends[us].try_write(&data) {
                        Ok(count) => written[us] += count as u64,
                        Err(error) => prop_assert_eq!(error, Error::WouldBlock),
                    }
                }
                Step::Read(size) => {
                    let mut buffer = vec![0; size];
                    match ends[us].try_read(&mut buffer) {
                        Ok(count) => {
                            let expected = (read[us]..).take(count).map(byte).collect::<Vec<_>>();
                            prop_assert_eq!(&buffer[..count], &expected[..]);
                            read[us] += count as u64;
                        }
                        Err(error) => {
                            prop_assert_eq!(error, Error::WouldBlock);
                            prop_assert_eq!(read[us], written[peer]);
                        }
                    }
                }
                Step::Resize { send, receive } => {
                    at_once(ends[us].set_option(SocketOption::SendBuffer(send))).unwrap();
                    at_once(ends[us].set_option(SocketOption::ReceiveBuffer(receive))).unwrap();
                }
            }
            for (count, reads, end) in counts.into_iter().flatten() {
                let Some(count) = count else { continue };
                if waiting(&ends[end], reads).is_none() {
                    prop_assert!(count.0.load(Ordering::Relaxed) > 0, "ready and not woken");
                }
            }
        }
        for us in [0, 1] {
            ends[us].shutdown(Shutdown::Write).unwrap();
        }
        for us in [0, 1] {
            let mut buffer = vec![0; 5000];
            while let count @ 1.. = ends[us].try_read(&mut buffer).unwrap() {
                read[us] += count as u64;
            }
            prop_assert_eq!(read[us], written[1 - us]);
        }
    }
}

/// Waits for readiness, unless it is there: with the count of wake-ups from now on.
fn waiting(stream: &Arc<dyn TcpStream>, reads: bool) -> Option<Arc<Count>> {
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let cx = &mut Context::from_waker(&waker);
    let ready = if reads { stream.poll_read_ready(cx) } else { stream.poll_write_ready(cx) };
    ready.is_pending().then_some(count)
}
