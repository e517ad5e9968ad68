//! cache-server: a server that speaks memcached's protocols, as a workload.

use std::process::ExitCode;

fn main() -> ExitCode {
    wrun_guest::run(|| Err("not yet".into()))
}
