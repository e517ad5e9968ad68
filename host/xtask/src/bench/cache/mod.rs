//! What a cache costs, by who serves it, who asks it and in which protocol.
//!
//! Client and server have a core each, where the machine has two. [`servers`] starts the servers, [`clients`] the clients;
//! this file has the lines, and [`table`] the prices of all combinations beside those that were measured in 2009.

mod clients;
mod servers;
pub mod table;

use std::process::Stdio;

use anyhow::{Context as _, Result};

use super::figures::{Figures, Limit, Unit};
use super::lines::Line;
use super::programs::{Programs, figure};
use super::rounds::rounds;
use crate::command::{run as execute, stdout};
use clients::{Load, Mode};
use servers::Kind;

pub const LINES: &[Line] = &[
    Line {
        name: "cache-parallel",
        what: "memcached, 20 connections with one of 20,000 operations in flight each, time",
        unit: Unit::Milliseconds,
        limit: Limit::Ratio(1.25),
        measure: |programs| pair(programs, &Load { connections: 20, pipeline: 1, mode: Mode::Parallel }),
    },
    Line {
        name: "cache-one",
        what: "memcached, the same with one in flight in all",
        unit: Unit::Milliseconds,
        limit: Limit::Ratio(1.15),
        measure: |programs| pair(programs, &Load { connections: 20, pipeline: 1, mode: Mode::OneAtATime }),
    },
    Line {
        name: "cache-pipeline",
        what: "memcached, the same in pipelines of ten",
        unit: Unit::Milliseconds,
        limit: Limit::Ratio(1.5),
        measure: |programs| pair(programs, &Load { connections: 20, pipeline: 10, mode: Mode::Parallel }),
    },
    Line {
        name: "cache-server",
        what: "cache-server against memcached, both asked by the native client, time",
        unit: Unit::Milliseconds,
        limit: Limit::Ratio(1.6),
        measure: server,
    },
    Line {
        name: "cache-idle",
        what: "cache-server with 1000 idle and 50 busy connections, the longest that one waits",
        unit: Unit::Milliseconds,
        limit: Limit::AtMost { most: 100e6, below_stock: false },
        measure: idle,
    },
    Line {
        name: "cache-memory",
        what: "cache-server bound to 64 MiB, a million sets of 1 to 4000 bytes, most memory beyond wrun's own",
        unit: Unit::Megabytes,
        limit: Limit::AtMost { most: 1.25 * MEMORY, below_stock: false },
        measure: memory,
    },
    Line {
        name: "cache-rpc",
        what: "gRPC against text, the same client and the same store, time",
        unit: Unit::Milliseconds,
        limit: Limit::Ratio(3.0),
        measure: rpc,
    },
];

/// What cache-server is bound to, in bytes.
const MEMORY: f64 = 64.0 * 1024.0 * 1024.0;

const ROUNDS: usize = 15;
const LONG_ROUNDS: usize = 3;

/// Twenty connections with one in flight each.
const USUAL: Load = Load { connections: 20, pipeline: 1, mode: Mode::Parallel };

fn pair(programs: &Programs, load: &Load) -> Result<Figures> {
    let server = servers::start(programs, Kind::Memcached)?;
    let mut native = || Ok(clients::native(programs, &server.address, load)?.total);
    let mut guest = || Ok(clients::guest(programs, &server.address, load, &[])?.total);
    let [native, guest] = rounds(ROUNDS, [&mut native, &mut guest])?;
    Ok(Figures { guest, native, stock: Vec::new() })
}

fn server(programs: &Programs) -> Result<Figures> {
    let memcached = servers::start(programs, Kind::Memcached)?;
    let guest = servers::start(programs, Kind::Guest(&[]))?;
    let mut of_memcached = || Ok(clients::native(programs, &memcached.address, &USUAL)?.total);
    let mut of_guest = || Ok(clients::native(programs, &guest.address, &USUAL)?.total);
    let [native, guest] = rounds(ROUNDS, [&mut of_memcached, &mut of_guest])?;
    Ok(Figures { guest, native, stock: Vec::new() })
}

fn idle(programs: &Programs) -> Result<Figures> {
    // More than a memcached takes unless told otherwise.
    let server = servers::start(programs, Kind::Guest(&["--connections", "2000"]))?;
    let arguments = ["cache-idle", &server.address, "1000", "50", "400"];
    let mut run = || figure(&stdout(&mut programs.native(&arguments))?, "max_ns");
    let [guest] = rounds(LONG_ROUNDS, [&mut run])?;
    Ok(Figures { guest, native: Vec::new(), stock: Vec::new() })
}

fn memory(programs: &Programs) -> Result<Figures> {
    let (_, own) = programs.whole(&programs.guest("nothing", &[]))?;
    // What compiles a guest for the first time takes some memory that is no server's.
    drop(servers::start(programs, Kind::Guest(&[]))?);
    let server = servers::start(programs, Kind::Guest(&["--memory", "64M"]))?;
    let fill = ["cache-fill", &server.address, "1000000", "4000"];
    execute(programs.native(&fill).stdout(Stdio::null()))?;
    let peak = server.peak().context("cannot read what memory the server took")?;
    // Once: the same sets come every time.
    Ok(Figures { guest: vec![peak - own], native: Vec::new(), stock: Vec::new() })
}

fn rpc(programs: &Programs) -> Result<Figures> {
    let text = servers::start(programs, Kind::Peer(&["cache"]))?;
    let rpc = servers::start(programs, Kind::Peer(&["cache-rpc"]))?;
    let mut of_text = || Ok(clients::guest(programs, &text.address, &USUAL, &[])?.total);
    let mut of_rpc = || Ok(clients::guest(programs, &rpc.address, &USUAL, &["--protocol", "rpc"])?.total);
    let [native, guest] = rounds(ROUNDS, [&mut of_text, &mut of_rpc])?;
    Ok(Figures { guest, native, stock: Vec::new() })
}
