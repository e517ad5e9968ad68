//! cache-client: reads and writes a cache over many connections, and says where the time of each operation went.

mod rpc;

use std::process::ExitCode;

fn main() -> ExitCode {
    wrun_guest::run(|| Err("not yet".into()))
}
