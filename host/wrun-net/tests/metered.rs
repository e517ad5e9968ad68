//! What is measured is what happened, and nobody pays for more than was asked.

use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wrun_net::memory::Memory;
use wrun_net::metered::{Call, End, Log, Lookup, Meter, Metered, Role, Sums, Tape};
use wrun_net::{Backend, Ending, Error, Family, OptionKind, SocketOption, TcpListener, TcpStream};

#[derive(Default)]
struct Kept {
    every_call: bool,
    meters: Mutex<Vec<Arc<Meter>>>,
    lookups: Mutex<Vec<Lookup>>,
    calls: Mutex<Vec<Call>>,
}

impl Log for Kept {
    fn socket(&self, meter: Arc<Meter>) {
        self.meters.lock().unwrap().push(meter);
    }

    fn lookup(&self, lookup: Lookup) {
        self.lookups.lock().unwrap().push(lookup);
    }

    fn wants_calls(&self) -> bool {
        self.every_call
    }

    fn call(&self, call: &Call) {
        self.calls.lock().unwrap().push(call.clone());
    }
}

impl Kept {
    fn sums(&self, role: Role) -> Sums {
        let meters = self.meters.lock().unwrap();
        let mut of_role = meters.iter().map(|meter| meter.sums()).filter(|sums| sums.role == role);
        let sums = of_role.next().expect("there is a socket of that role");
        assert!(of_role.next().is_none(), "there are several");
        sums
    }

    fn names(&self) -> Vec<&'static str> {
        self.calls.lock().unwrap().iter().map(|call| call.name).collect()
    }
}

fn rig(every_call: bool) -> (Arc<dyn Backend>, Arc<Kept>) {
    let log = Arc::new(Kept { every_call, ..Kept::default() });
    let metered = Metered::new(Arc::new(Memory::new()), Tape::new(log.clone()));
    (Arc::new(metered), log)
}

async fn listening(backend: &Arc<dyn Backend>) -> (Arc<dyn TcpListener>, SocketAddr) {
    let socket = backend.tcp(Family::V4).unwrap();
    let address = socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
    (socket.listen(4).await.unwrap(), address)
}

async fn pair(backend: &Arc<dyn Backend>) -> (Arc<dyn TcpStream>, Arc<dyn TcpStream>) {
    let (listener, address) = listening(backend).await;
    let client = backend.tcp(Family::V4).unwrap().connect(address).await.unwrap();
    (client, listener.try_accept().unwrap())
}

#[tokio::test(start_paused = true)]
async fn bytes_calls_and_would_blocks_are_counted_on_both_ends() {
    let (backend, log) = rig(false);
    let (client, server) = pair(&backend).await;
    assert_eq!(client.try_read(&mut [0; 8]), Err(Error::WouldBlock));
    tokio::time::advance(Duration::from_millis(10)).await;
    client.try_write(b"hello").unwrap();
    tokio::time::advance(Duration::from_millis(10)).await;
    client.try_write(b"!").unwrap();
    assert_eq!(server.try_read(&mut [0; 4]), Ok(4));
    assert_eq!(server.try_read(&mut [0; 4]), Ok(2));
    let mut room = 0;
    while let Ok(count) = server.try_write(&[0; 4096]) {
        room += count as u64;
    }
    let (client, server) = (log.sums(Role::Client), log.sums(Role::Accepted));
    assert_eq!((client.bytes_sent, client.sends, client.send_would_blocks), (6, 2, 0));
    assert_eq!((client.bytes_received, client.receives, client.receive_would_blocks), (0, 0, 1));
    assert_eq!((server.bytes_received, server.receives), (6, 2));
    assert_eq!((server.bytes_sent, server.send_would_blocks), (room, 1));
    assert_eq!(
        (client.first_sent, client.last_sent),
        (Some(Duration::from_millis(10)), Some(Duration::from_millis(20)))
    );
    assert_eq!(server.first_received, Some(Duration::from_millis(20)));
    assert_eq!((client.local, client.remote), (server.remote, server.local));
    assert_eq!(log.sums(Role::Listener).accepts, 1);
    assert_eq!(client.end, End::Open);
}

#[tokio::test(start_paused = true)]
async fn a_drop_is_an_end_by_this_side_unless_the_peer_had_ended_first() {
    let (backend, log) = rig(false);
    let (client, server) = pair(&backend).await;
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(server.try_read(&mut [0; 1]), Ok(0));
    assert_eq!(log.sums(Role::Accepted).end, End::PeerClosed);
    tokio::time::advance(Duration::from_secs(1)).await;
    drop((client, server));
    assert_eq!(log.sums(Role::Client).end, End::Closed);
    assert_eq!(log.sums(Role::Accepted).end, End::PeerClosed);
    assert_eq!(log.sums(Role::Accepted).ended, Some(Duration::from_secs(1)));
    // The end of the stream moved no bytes.
    assert_eq!(log.sums(Role::Accepted).receives, 0);
}

#[tokio::test(start_paused = true)]
async fn an_explicit_close_says_how_it_ended_and_how_long_it_took() {
    let (backend, log) = rig(false);
    let (client, _server) = pair(&backend).await;
    client.set_option(SocketOption::Linger(Some(Duration::from_secs(5)))).await.unwrap();
    while client.try_write(&[0; 4096]).is_ok() {}
    client.close().await.unwrap();
    drop(client);
    let sums = log.sums(Role::Client);
    assert_eq!(sums.end, End::Observed(Ending::TimedOut));
    assert_eq!(sums.close_took, Some(Duration::from_secs(5)));
    assert_eq!(sums.ended, sums.close_took);
}

#[tokio::test(start_paused = true)]
async fn an_error_is_the_end_and_stays_it() {
    let (backend, log) = rig(false);
    let (client, server) = pair(&backend).await;
    server.set_option(SocketOption::Linger(Some(Duration::ZERO))).await.unwrap();
    drop(server);
    assert_eq!(client.try_read(&mut [0; 1]), Err(Error::ConnectionReset));
    assert_eq!(client.try_read(&mut [0; 1]), Ok(0));
    client.close().await.unwrap();
    assert_eq!(client.try_read(&mut [0; 1]), Err(Error::InvalidState));
    drop(client);
    assert_eq!(log.sums(Role::Client).end, End::Failed(Error::ConnectionReset));
}

#[tokio::test(start_paused = true)]
async fn a_connect_that_fails_or_is_called_off_has_ended() {
    let (backend, log) = rig(false);
    let (listener, address) = listening(&backend).await;
    drop(listener);
    let refused = backend.tcp(Family::V4).unwrap().connect(address).await;
    assert_eq!(refused.err(), Some(Error::ConnectionRefused));
    let sums = log.sums(Role::Client);
    assert_eq!(sums.end, End::Failed(Error::ConnectionRefused));
    assert!(sums.connect_end.is_some() && sums.ended.is_some());

    let (backend, log) = rig(false);
    let (_listener, address) = listening(&backend).await;
    drop(backend.tcp(Family::V4).unwrap().connect(address));
    let sums = log.sums(Role::Client);
    assert_eq!((sums.end, sums.connect_end), (End::Closed, None));
    assert!(sums.ended.is_some());
}

#[tokio::test(start_paused = true)]
async fn an_error_of_a_datagram_is_not_the_end_of_its_socket() {
    let (backend, log) = rig(false);
    let socket = backend.udp(Family::V4).unwrap();
    let bound = socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
    assert_eq!(socket.try_send(&[0; 70_000], Some(bound)), Err(Error::DatagramTooLarge));
    socket.try_send(b"", Some(bound)).unwrap();
    socket.try_receive(&mut [0; 8]).unwrap();
    let sums = log.sums(Role::Datagram);
    assert_eq!((sums.end, sums.sends, sums.receives, sums.bytes_sent), (End::Open, 1, 1, 0));
    assert_eq!(sums.local, Some(bound));
}

#[tokio::test(start_paused = true)]
async fn calls_are_told_to_a_log_that_wants_them_and_to_no_other() {
    for every_call in [false, true] {
        let (backend, log) = rig(every_call);
        let (client, server) = pair(&backend).await;
        client.try_write(b"hi").unwrap();
        server.try_read(&mut [0; 8]).unwrap();
        server.try_read(&mut [0; 8]).unwrap_err();
        client.shutdown(Shutdown::Write).unwrap();
        client.close().await.unwrap();
        backend.resolve("localhost").await.unwrap();
        let expected: &[&str] = if every_call {
            &["bind", "listen", "connect", "accept", "send", "receive", "receive", "shutdown", "close", "resolve"]
        } else {
            &[]
        };
        assert_eq!(log.names(), expected);
        assert_eq!(log.lookups.lock().unwrap().len(), 1);
        for call in log.calls.lock().unwrap().iter().filter(|call| call.name == "receive") {
            assert_eq!(
                (call.bytes, call.outcome.clone()),
                if call.bytes.is_some() { (Some(2), Some(Ok(()))) } else { (None, Some(Err(Error::WouldBlock))) }
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn sockets_are_numbered_from_one_in_the_order_of_their_making() {
    let (backend, log) = rig(false);
    let _ends = pair(&backend).await;
    let meters = log.meters.lock().unwrap();
    let numbered = meters.iter().map(|meter| (meter.socket, meter.sums().role)).collect::<Vec<_>>();
    assert_eq!(numbered, [(1, Role::Listener), (2, Role::Client), (3, Role::Accepted)]);
}

#[tokio::test(start_paused = true)]
async fn what_is_given_up_is_told_with_the_time_it_took() {
    let log = Arc::new(Kept { every_call: true, ..Kept::default() });
    // With room for one connection that nobody has accepted, the next connect waits.
    let backend: Arc<dyn Backend> = Arc::new(Metered::new(Arc::new(Memory::new()), Tape::new(log.clone())));
    let socket = backend.tcp(Family::V4).unwrap();
    let address = socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
    let listener = socket.listen(1).await.unwrap();
    let client = backend.tcp(Family::V4).unwrap().connect(address).await.unwrap();
    let connect = backend.tcp(Family::V4).unwrap().connect(address);
    assert!(tokio::time::timeout(Duration::from_secs(30), connect).await.is_err());
    client.set_option(SocketOption::Linger(Some(Duration::from_secs(5)))).await.unwrap();
    while client.try_write(&[0; 4096]).is_ok() {}
    log.calls.lock().unwrap().retain(|call| call.outcome.is_none());
    assert!(tokio::time::timeout(Duration::from_secs(2), client.close()).await.is_err());
    let lookup = backend.resolve("localhost");
    tokio::time::advance(Duration::from_secs(7)).await;
    drop(lookup);
    drop(listener);

    let calls = log.calls.lock().unwrap();
    let told = calls.iter().map(|call| (call.name, call.took.as_secs(), call.outcome.clone())).collect::<Vec<_>>();
    assert_eq!(told, [("connect", 30, None), ("close", 2, None), ("resolve", 7, None)]);
    assert_eq!((calls[0].detail.clone(), calls[2].detail.as_str()), (address.to_string(), "localhost"));
    let lookups = log.lookups.lock().unwrap();
    assert_eq!((lookups[0].name.as_str(), lookups[0].took.as_secs()), ("localhost", 7));
    assert_eq!(lookups[0].outcome, None);
}

#[tokio::test(start_paused = true)]
async fn options_are_told_by_their_names_and_values() {
    let (backend, log) = rig(true);
    let socket = backend.tcp(Family::V4).unwrap();
    for option in [SocketOption::NoDelay(true), SocketOption::Linger(Some(Duration::from_secs(10)))] {
        socket.set_option(option).await.unwrap();
    }
    socket.option(OptionKind::HopLimit).await.unwrap();
    let calls = log.calls.lock().unwrap();
    let told = calls.iter().map(|call| format!("{} {}", call.name, call.detail)).collect::<Vec<_>>();
    assert_eq!(told, ["set-option no-delay true", "set-option linger 10s", "get-option hop-limit"]);
}
