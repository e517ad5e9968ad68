//! The bench's many datagrams: `datagrams COUNT` sends COUNT of them to a socket of its own, as fast as it can, receives
//! them, and prints how long they were on their way: the median, the 99th percentile and the longest.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use wasip2::clocks::monotonic_clock;
use wrun_guest::{UdpSocket, wait};

/// One that never comes ends the run.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [count] = &words[..] else { return Err("usage: datagrams COUNT".into()) };
        let count: usize = count.parse()?;
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let receiver = UdpSocket::bind(loopback)?;
        let mut sender = UdpSocket::bind(loopback)?;
        sender.connect(receiver.local_addr()?)?;
        let mut times = Vec::with_capacity(count);
        let mut take = |receiver: &UdpSocket| {
            let mut bytes = [0; 8];
            let (length, _) = receiver.try_recv_from(&mut bytes)?;
            if length == bytes.len() {
                times.push(monotonic_clock::now().saturating_sub(u64::from_le_bytes(bytes)));
            }
            Ok::<usize, std::io::Error>(times.len())
        };
        let mut received = 0;
        for _ in 0..count {
            sender.send(&monotonic_clock::now().to_le_bytes())?;
        }
        while received < count {
            match take(&receiver) {
                Ok(so_far) => received = so_far,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    if wait(&[receiver.readable()?], Some(PATIENCE))?.is_empty() {
                        return Err(format!("{received} of {count} datagrams came").into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        times.sort_unstable();
        println!("p50_ns={} p99_ns={} max_ns={}", times[count / 2], times[count * 99 / 100], times[count - 1]);
        Ok(())
    })
}
