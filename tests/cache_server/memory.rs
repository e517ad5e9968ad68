//! The bound of memory holds, in what is resident.

use std::io::Write;

use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use rustix::process::Pid;

use super::{CacheServer, rest, text};

/// The most memory that a process has had resident, in bytes.
pub fn most(pid: Pid) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

/// Bytes.
const BOUND: u64 = 16 << 20;

#[test]
fn what_is_resident_stays_within_the_bound_and_a_quarter_while_five_times_as_much_is_stored() {
    let server = CacheServer::start(&["--memory", "16M"]);
    // What wrun and the guest need before anything is kept.
    let before = most(server.pid());
    let seed = [7; 32];
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut stream = server.connect();
    let value = vec![b'v'; 4000];
    let mut batch = Vec::new();
    let mut stored = 0;
    for key in 0.. {
        let length = 1 + random.next_u32() as usize % value.len();
        write!(batch, "set key{key} 0 0 {length} noreply\r\n").unwrap();
        batch.extend_from_slice(&value[..length]);
        batch.extend_from_slice(b"\r\n");
        stored += length as u64;
        if batch.len() > 1 << 20 || stored > 5 * BOUND {
            stream.write_all(&batch).unwrap();
            batch.clear();
        }
        if stored > 5 * BOUND {
            break;
        }
    }
    stream.write_all(b"stats\r\n").unwrap();
    let stats = text(&rest(stream));
    assert!(stats.ends_with("END\r\n"), "{stats}");
    let kept: u64 = stats.lines().find_map(|line| line.strip_prefix("STAT bytes ")).unwrap().parse().unwrap();
    let grown = most(server.pid()) - before;
    assert!(kept > BOUND * 9 / 10, "{kept} bytes of {BOUND} are used");
    assert!(grown <= BOUND + BOUND / 4, "{grown} bytes more are resident, with a bound of {BOUND}");
}
