//! What the tests are written with: profiles of one effect, a guest behind one, and peers that are not.

use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use wrun_net::memory::Memory;
use wrun_net::shape::Profile;
use wrun_net::shape::profile::{Delay, Effects, Match, Mixture, Mode, Path, Rate, Regime, Rule};
use wrun_net::throttled::{Precision, Throttled};
use wrun_net::{Backend, Error, Family, Result, TcpListener, TcpStream, UdpSocket};

pub const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
pub const SEED: u64 = 42;

/// What tokio's clock may be late by.
pub const TICK: Duration = Duration::from_millis(1);

pub const fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// Effects of these regimes, on everything.
pub fn turns(turns: &[(Duration, Effects)]) -> Profile {
    let regimes = turns.iter().map(|(lasts, effects)| Regime { lasts: *lasts, effects: effects.clone() }).collect();
    let rule = Rule { name: "all".to_owned(), matches: Match::default(), regimes };
    Profile { name: "test".to_owned(), rules: vec![rule], ..Profile::default() }
}

/// Effects on everything, for ever.
pub fn always(effects: Effects) -> Profile {
    turns(&[(Duration::from_secs(1), effects)])
}

/// The same path both ways.
pub fn both(path: Path) -> Effects {
    Effects { up: path.clone(), down: path, ..Effects::default() }
}

pub fn delayed(base: Duration) -> Path {
    Path { delay: Delay { base, ..Delay::default() }, ..Path::default() }
}

pub fn limited(bytes_a_second: u64) -> Path {
    Path { rate: Some(Rate::Constant(bytes_a_second)), ..Path::default() }
}

/// Always the same wait.
pub fn wait(time: Duration) -> Mixture {
    Mixture(vec![Mode { weight: 1.0, from: time, to: time }])
}

/// A guest behind a profile, and the machine that its peers are on too.
pub struct Bench {
    pub memory: Memory,
    pub throttled: Arc<Throttled>,
}

impl Bench {
    pub fn new(profile: Profile) -> Self {
        Self::seeded(profile, SEED)
    }

    pub fn seeded(profile: Profile, seed: u64) -> Self {
        let memory = Memory::new();
        let throttled = Throttled::new(Arc::new(memory.clone()), profile, seed, Precision::Coarse);
        Self { memory, throttled }
    }

    /// The guest's end of a new connection, and the peer's.
    pub async fn pair(&self) -> (Arc<dyn TcpStream>, Arc<dyn TcpStream>) {
        let (listener, there) = listen(&self.memory).await;
        let guest = connect(&*self.throttled, there).await.unwrap();
        (guest, accept(&listener).await.unwrap())
    }

    /// The guest's socket, and its peer's, with their addresses.
    pub async fn sockets(&self) -> (Datagrams, Datagrams) {
        (datagrams(&*self.throttled).await, datagrams(&self.memory).await)
    }
}

pub struct Datagrams {
    pub socket: Arc<dyn UdpSocket>,
    pub at: SocketAddr,
}

pub async fn datagrams(backend: &dyn Backend) -> Datagrams {
    let socket = backend.udp(Family::V4).unwrap();
    let at = socket.bind(SocketAddr::new(HERE, 0)).await.unwrap();
    Datagrams { socket, at }
}

impl Datagrams {
    pub fn try_send(&self, data: &[u8], to: &Self) -> Result<()> {
        self.socket.try_send(data, Some(to.at))
    }

    pub async fn send(&self, data: &[u8], to: &Self) -> Result<()> {
        loop {
            match self.try_send(data, to) {
                Err(Error::WouldBlock) => poll_fn(|cx| self.socket.poll_send_ready(cx)).await,
                answer => return answer,
            }
        }
    }

    pub async fn receive(&self) -> Result<Vec<u8>> {
        let mut buffer = vec![0; 65_535];
        loop {
            match self.socket.try_receive(&mut buffer) {
                Err(Error::WouldBlock) => poll_fn(|cx| self.socket.poll_receive_ready(cx)).await,
                answer => return answer.map(|(count, _)| buffer[..count].to_vec()),
            }
        }
    }

    /// All that comes within a time.
    pub async fn within(&self, time: Duration) -> Vec<Vec<u8>> {
        let end = Instant::now() + time;
        let mut received = Vec::new();
        while let Ok(datagram) = tokio::time::timeout_at(end, self.receive()).await {
            received.push(datagram.unwrap());
        }
        received
    }
}

pub async fn listen(backend: &dyn Backend) -> (Arc<dyn TcpListener>, SocketAddr) {
    let listener = backend.tcp(Family::V4).unwrap().listen(64).await.unwrap();
    let port = listener.local_address().unwrap().port();
    (listener, SocketAddr::new(HERE, port))
}

pub async fn connect(backend: &dyn Backend, to: SocketAddr) -> Result<Arc<dyn TcpStream>> {
    backend.tcp(Family::V4)?.connect(to).await
}

pub async fn accept(listener: &Arc<dyn TcpListener>) -> Result<Arc<dyn TcpStream>> {
    loop {
        match listener.try_accept() {
            Err(Error::WouldBlock) => poll_fn(|cx| listener.poll_accept_ready(cx)).await,
            answer => return answer,
        }
    }
}

pub async fn read(stream: &Arc<dyn TcpStream>, buffer: &mut [u8]) -> Result<usize> {
    loop {
        match stream.try_read(buffer) {
            Err(Error::WouldBlock) => poll_fn(|cx| stream.poll_read_ready(cx)).await,
            answer => return answer,
        }
    }
}

pub async fn write(stream: &Arc<dyn TcpStream>, data: &[u8]) -> Result<usize> {
    loop {
        match stream.try_write(data) {
            Err(Error::WouldBlock) => poll_fn(|cx| stream.poll_write_ready(cx)).await,
            answer => return answer,
        }
    }
}

pub async fn write_all(stream: &Arc<dyn TcpStream>, mut data: &[u8]) -> Result<()> {
    while !data.is_empty() {
        data = &data[write(stream, data).await?..];
    }
    Ok(())
}

pub async fn read_exactly(stream: &Arc<dyn TcpStream>, count: usize) -> Vec<u8> {
    let mut data = vec![0; count];
    let mut have = 0;
    while have < count {
        match read(stream, &mut data[have..]).await.unwrap() {
            0 => panic!("it ended after {have} of {count} bytes"),
            more => have += more,
        }
    }
    data
}

pub async fn read_all(stream: &Arc<dyn TcpStream>) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    let mut buffer = vec![0; 10_000];
    loop {
        match read(stream, &mut buffer).await? {
            0 => return Ok(all),
            count => all.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Bytes that show when one is missing or out of place.
pub fn pattern(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at % 251) as u8 ^ (at / 251 % 256) as u8).collect()
}

/// How long something takes.
pub async fn timed<T>(what: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    let result = what.await;
    (result, start.elapsed())
}

/// Holds a time against what it is to be: not less, and no more than the ticks of so many timers.
#[track_caller]
pub fn assert_takes(took: Duration, expected: Duration, timers: u32) {
    assert!(took >= expected && took <= expected + TICK * timers, "it took {took:?} instead of {expected:?}");
}
