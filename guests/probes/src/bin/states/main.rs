//! Walks the state machines of the standard's sockets: every getter, setter, range and address rule.
//!
//! `states [tcp|udp|options|names|ipv6]...`, all of them by default. Prints a line for each check, `tcp bind twice ->
//! invalid-state`, in which no port and no size of a kernel occurs, and fails when any answer is off the standard. It
//! needs `--allow all`, and for `ipv6` a machine that has it.

mod check;
mod ipv6;
mod names;
mod options;
mod raw;
mod tcp;
mod udp;

use std::process::ExitCode;

use check::Checks;

fn main() -> ExitCode {
    wrun_guest::run(|| {
        let mut parts: Vec<String> = std::env::args().skip(1).collect();
        if parts.is_empty() {
            parts = ["tcp", "udp", "options", "names", "ipv6"].map(str::to_owned).to_vec();
        }
        let mut checks = Checks::default();
        for part in &parts {
            match part.as_str() {
                "tcp" => tcp::walk(&mut checks)?,
                "udp" => udp::walk(&mut checks)?,
                "options" => options::walk(&mut checks)?,
                "names" => names::walk(&mut checks),
                "ipv6" => ipv6::walk(&mut checks)?,
                _ => return Err(format!("{part:?} is no part: give tcp, udp, options, names or ipv6").into()),
            }
        }
        checks.verdict().map_err(Into::into)
    })
}
