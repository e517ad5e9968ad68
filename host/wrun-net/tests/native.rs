//! What is this machine's own: the names of its interfaces, its resolver's, and what only shows to a guest that polls
//! without waiting.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use wrun_net::native::Native;
use wrun_net::{Backend, Error, Family, Interface, SocketOption, UdpSocket};

/// The loopback interface of every Linux.
fn loopback() -> Interface {
    Interface::Name("lo".to_owned())
}

async fn bound(ip: IpAddr) -> (Arc<dyn UdpSocket>, SocketAddr) {
    let socket = Native::new().udp(Family::of(ip)).unwrap();
    let address = socket.bind(SocketAddr::new(ip, 0)).await.unwrap();
    (socket, address)
}

#[tokio::test]
async fn an_interface_is_the_same_by_name_as_by_address() {
    let group = IpAddr::from([239, 255, 77, 2]);
    let (member, everywhere) = bound(Ipv4Addr::UNSPECIFIED.into()).await;
    let (sender, from) = bound(Ipv4Addr::LOCALHOST.into()).await;
    member.join(group, loopback()).await.unwrap();
    let again = member.join(group, Interface::Address(Ipv4Addr::LOCALHOST.into())).await;
    assert_eq!(again, Err(Error::AddressInUse));
    sender.set_multicast_interface(loopback()).await.unwrap();
    sender.try_send(b"by name", Some(SocketAddr::new(group, everywhere.port()))).unwrap();
    std::future::poll_fn(|cx| member.poll_receive_ready(cx)).await;
    assert_eq!(member.try_receive(&mut [0; 65_535]), Ok((7, from)));
}

#[tokio::test]
async fn an_ipv4_address_names_no_interface_of_ipv6() {
    if !Native::new().capabilities().ipv6 {
        // Not by `eprintln!`, which the test harness keeps to itself when all is well.
        let _ = writeln!(io::stderr(), "skipped \"an IPv4 address names no interface of IPv6\": no IPv6");
        return;
    }
    let (socket, _) = bound("::1".parse().unwrap()).await;
    let by_ipv4 = Interface::Address(Ipv4Addr::LOCALHOST.into());
    assert_eq!(socket.set_multicast_interface(by_ipv4).await, Err(Error::InvalidArgument));
    assert_eq!(socket.set_multicast_interface(loopback()).await, Ok(()));
}

#[tokio::test]
async fn a_name_with_a_zero_byte_never_reaches_the_resolver() {
    assert_eq!(Native::new().resolve("local\0host").await, Err(Error::InvalidArgument));
}

#[test]
fn a_stream_that_lingers_can_be_dropped_outside_a_runtime() {
    let peer = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = peer.local_addr().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let stream = Native::new().tcp(Family::V4).unwrap().connect(address).await.unwrap();
        let linger = Some(Duration::from_secs(30));
        stream.set_option(SocketOption::Linger(linger)).await.unwrap();
        stream
    });
    let (mut accepted, _) = peer.accept().unwrap();
    drop(stream);
    assert_eq!(accepted.read(&mut [0; 1]).unwrap(), 0);
}

/// Asks again and again without ever waiting, as a guest that polls by itself does. The time only ends what hangs.
fn spin<T>(what: &str, mut attempt: impl FnMut() -> wrun_net::Result<T>) -> T {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) {
        match attempt() {
            Err(Error::WouldBlock) => thread::yield_now(),
            answer => return answer.unwrap(),
        }
    }
    panic!("{what}: nothing came to somebody who never waits");
}

#[tokio::test]
async fn who_never_waits_sees_what_a_stream_got_and_has_room_for() {
    let peer = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let stream = Native::new().tcp(Family::V4).unwrap().connect(peer.local_addr().unwrap()).await.unwrap();
    let (mut accepted, _) = peer.accept().unwrap();
    assert_eq!(stream.try_read(&mut [0; 8]), Err(Error::WouldBlock));
    let mut written = 0;
    while let Ok(count) = stream.try_write(&[0; 64 * 1024]) {
        written += count;
    }
    let other = thread::spawn(move || {
        accepted.write_all(b"one").unwrap();
        accepted.read_exact(&mut vec![0; written]).unwrap();
        accepted
    });
    assert_eq!(spin("reading", || stream.try_read(&mut [0; 8])), 3);
    assert_eq!(spin("writing", || stream.try_write(&[0; 1])), 1);
    let mut accepted = other.join().unwrap();
    // After a short read too, which tells tokio that there is no more.
    accepted.write_all(b"more").unwrap();
    assert_eq!(spin("reading again", || stream.try_read(&mut [0; 8])), 4);
    // And somebody who waits then is woken.
    assert_eq!(stream.try_read(&mut [0; 8]), Err(Error::WouldBlock));
    let other = thread::spawn(move || accepted.write_all(b"last").map(|()| accepted));
    loop {
        std::future::poll_fn(|cx| stream.poll_read_ready(cx)).await;
        match stream.try_read(&mut [0; 8]) {
            Err(Error::WouldBlock) => {}
            answer => break assert_eq!(answer, Ok(4)),
        }
    }
    other.join().unwrap().unwrap();
}

#[tokio::test]
async fn who_never_waits_sees_who_connects() {
    let socket = Native::new().tcp(Family::V4).unwrap();
    let address = socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
    let listener = socket.listen(4).await.unwrap();
    for _ in 0..2 {
        assert_eq!(listener.try_accept().err(), Some(Error::WouldBlock));
        let other = thread::spawn(move || std::net::TcpStream::connect(address).unwrap());
        let accepted = spin("accepting", || listener.try_accept());
        // A new stream has room, though nobody has waited to hear that.
        assert_eq!(accepted.try_write(b"hi"), Ok(2));
        assert_eq!(other.join().unwrap().read(&mut [0; 8]).unwrap(), 2);
    }
}

#[tokio::test]
async fn who_never_waits_sees_what_datagrams_come() {
    let (socket, address) = bound(Ipv4Addr::LOCALHOST.into()).await;
    assert_eq!(socket.try_receive(&mut [0; 8]), Err(Error::WouldBlock));
    // Never bound, so nobody has waited until it can send.
    let other = Native::new().udp(Family::V4).unwrap();
    other.try_send(b"hello", Some(address)).unwrap();
    assert_eq!(spin("receiving", || socket.try_receive(&mut [0; 65_535])).0, 5);
}
