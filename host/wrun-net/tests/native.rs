//! What is this machine's own: the names of its interfaces, and its resolver's.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

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
        eprintln!("skipped: this machine has no IPv6");
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
        let linger = Some(std::time::Duration::from_secs(30));
        stream.set_option(SocketOption::Linger(linger)).await.unwrap();
        stream
    });
    let (mut accepted, _) = peer.accept().unwrap();
    drop(stream);
    assert_eq!(std::io::Read::read(&mut accepted, &mut [0; 1]).unwrap(), 0);
}
