//! The price of each protocol and each server, as a table for the README.

use anyhow::Result;

use super::super::programs::Programs;
use super::clients::{self, Took};
use super::servers::{self, Kind};
use super::{LONG_ROUNDS, USUAL};

/// A row: who serves, and how the guest asks it.
struct Row {
    what: &'static str,
    server: Kind<'static>,
    /// Arguments of the guest; `None` for the native client.
    guest: Option<&'static [&'static str]>,
    /// Milliseconds that the like of it took in 2009.
    original: Option<f64>,
}

const ROWS: &[Row] = &[
    Row { what: "memcached, text, native client", server: Kind::Memcached, guest: None, original: Some(1709.6) },
    Row { what: "memcached, text", server: Kind::Memcached, guest: Some(&[]), original: None },
    Row { what: "memcached, meta", server: Kind::Memcached, guest: Some(&["--protocol", "meta"]), original: None },
    Row { what: "memcached, binary", server: Kind::Memcached, guest: Some(&["--protocol", "binary"]), original: None },
    Row {
        what: "cache-server, text",
        server: Kind::Guest(&["--read", "buffered"]),
        guest: Some(&[]),
        original: Some(3144.5),
    },
    Row {
        what: "cache-server, text, a byte at a time",
        server: Kind::Guest(&["--read", "byte"]),
        guest: Some(&[]),
        original: Some(5768.5),
    },
    Row { what: "the store of cache-server in a native peer, text", server: PEER, guest: Some(&[]), original: None },
    Row {
        what: "the same, gRPC, TLS and reliable",
        server: Kind::Peer(&["cache-rpc", "--tls"]),
        guest: Some(&["--protocol", "rpc", "--tls", "--reliable"]),
        original: Some(7853.3),
    },
    Row {
        what: "the same, gRPC, reliable",
        server: RPC,
        guest: Some(&["--protocol", "rpc", "--reliable"]),
        original: Some(6454.0),
    },
    Row { what: "the same, gRPC", server: RPC, guest: Some(&["--protocol", "rpc"]), original: Some(6100.0) },
];

const PEER: Kind<'static> = Kind::Peer(&["cache"]);
const RPC: Kind<'static> = Kind::Peer(&["cache-rpc"]);

/// Twenty connections with one operation in flight each: medians of a few runs.
pub fn measure(programs: &Programs) -> Result<String> {
    let mut table = String::from(
        "| server and protocol | 20,000 operations | a second | p50 | p95 | ratio | ratio in 2009 |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let mut base = None;
    for row in ROWS {
        let took = median(programs, row)?;
        let base = *base.get_or_insert(took.total);
        let original = row.original.map(|time| format!("{:.2}", time / 1709.6)).unwrap_or_default();
        table += &format!(
            "| {} | {:.0} ms | {:.0} | {:.0} us | {:.0} us | {:.2} | {original} |\n",
            row.what,
            took.total / 1e6,
            20_000.0 / took.total * 1e9,
            took.p50 / 1e3,
            took.p95 / 1e3,
            took.total / base
        );
    }
    Ok(table)
}

fn median(programs: &Programs, row: &Row) -> Result<Took> {
    let server = servers::start(programs, row.server)?;
    let run = || match row.guest {
        None => clients::native(programs, &server.address, &USUAL),
        Some(arguments) => clients::guest(programs, &server.address, &USUAL, arguments),
    };
    run()?;
    let mut runs = (0..LONG_ROUNDS).map(|_| run()).collect::<Result<Vec<_>>>()?;
    runs.sort_by(|a, b| a.total.total_cmp(&b.total));
    Ok(runs.swap_remove(LONG_ROUNDS / 2))
}
