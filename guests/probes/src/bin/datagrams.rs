//! Many datagrams to itself: `datagrams COUNT RATE` sends COUNT of them to a socket of its own, RATE in each millisecond,
//! receives them meanwhile, and prints how long they were on their way: the shortest, the median, the 99th percentile and
//! the longest; and how many never came, since a busy machine's buffers may have had no room for them.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use wasip2::clocks::monotonic_clock;
use wrun_guest::{UdpSocket, wait};

/// What has not come after this long never will.
const PATIENCE: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [count, rate] = &words[..] else { return Err("usage: datagrams COUNT RATE".into()) };
        let (count, rate): (usize, u64) = (count.parse()?, rate.parse()?);
        if count == 0 || rate == 0 {
            return Err("COUNT and RATE are at least 1".into());
        }
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let receiver = UdpSocket::bind(loopback)?;
        let mut sender = UdpSocket::bind(loopback)?;
        sender.connect(receiver.local_addr()?)?;
        let mut times = Vec::with_capacity(count);
        let start = monotonic_clock::now();
        for number in 0..count as u64 {
            let due = start + number / rate * 1_000_000;
            loop {
                let now = monotonic_clock::now();
                if now >= due {
                    break;
                }
                if !take(&receiver, &mut times)? {
                    wait(&[receiver.readable()?], Some(Duration::from_nanos(due - now)))?;
                }
            }
            sender.send(&monotonic_clock::now().to_le_bytes())?;
        }
        while times.len() < count {
            if !take(&receiver, &mut times)? && wait(&[receiver.readable()?], Some(PATIENCE))?.is_empty() {
                break;
            }
        }
        let lost = count - times.len();
        let count = times.len();
        if count == 0 {
            return Err("no datagram came".into());
        }
        times.sort_unstable();
        let [min, p50, p99, max] = [0, count / 2, count * 99 / 100, count - 1].map(|place| times[place]);
        println!("min_ns={min} p50_ns={p50} p99_ns={p99} max_ns={max} lost={lost}");
        Ok(())
    })
}

/// Receives one, if one is there.
fn take(receiver: &UdpSocket, times: &mut Vec<u64>) -> io::Result<bool> {
    let mut bytes = [0; 8];
    match receiver.try_recv_from(&mut bytes) {
        Ok(_) => {
            times.push(monotonic_clock::now().saturating_sub(u64::from_le_bytes(bytes)));
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}
