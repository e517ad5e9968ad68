//! What was typed, checked: after this nobody looks at arguments.

mod values;

use std::ops::RangeInclusive;
use std::time::Duration;

use cache::client::Circle;
use cache_rpc::reliable::IDLE;
use wrun_guest::lexopt::{self, Arg, ValueExt};

use crate::history::MOST_KEYS;
use crate::keys::Distribution;
use crate::protocol::Protocol;
use crate::values::SHORTEST_CHECKED;

pub const HELP: &str = "\
Reads and writes a cache over many connections, and says where the time of each operation went.

Usage: cache-client [OPTIONS] --servers HOST:PORT[,HOST:PORT...]

  --protocol text|meta|binary|rpc
                                 memcached's three, or the service over gRPC of `wrun peer cache-rpc` [text]
  --reliable                     with rpc: number the calls in a session for each connection, and ask again when it is
                                 lost what it did not answer, to be executed once
  --tls                          over TLS; the certificate has to be for HOST
  --ca FILE                      with --tls: trust the authorities in this PEM file, in place of the public ones
  --connections N                to each server [20]
  --reads N, --writes N          in random order [10000 each]
  --value-size SIZE|MIN-MAX      of each value that is written [100]
  --keys N                       how many different keys there are [10000]
  --distribution uniform|zipf    how often each is asked for [uniform]
  --circle ketama|ketama-weighted
                                 which of several servers holds a key, as libmemcached's option of that name [ketama]
  --pipeline N                   requests in flight on each connection [1]
  --mode parallel|one-at-a-time  in flight on each connection, or one in all [parallel]
  --rate N                       so many operations a second, whatever the answers take; else as fast as they come.
                                 An operation's time is then from when it was due: queue, then service.
  --preload                      first write every key once; not counted among the writes
  --verify                       a read that gives what this run did not write is an error, and one that gives what was
                                 there before a write that was acknowledged when the read began
  --expiry SECONDS               of what is written, as memcached reads it: 0 never, negative at once [0]
  --no-delay                     send small writes at once
  --timeout TIME                 limit for each operation from when it is asked, and for opening a connection [5s]
  --reconnect N                  how often in a row a connection that was lost is opened again, after 50 ms, 100 ms, 200 ms
                                 and so on, at most 1 s [5]; then it is given up
  --seed N                       for the order, the keys and the values [random; a note in the report]
  --help                         this text

TIME has a unit (200ms, 5s); SIZE is in bytes, or with K or M in powers of 1024.
Exits 1 when any operation failed or a connection was given up. A read of a key that is not there is a miss, and no failure.
";

/// The most operations in flight at once. Each is an open sample, of which wrun allows somewhat more.
const MOST_IN_FLIGHT: u64 = 16_000;

#[derive(Debug)]
pub enum Command {
    Help,
    Run(Settings),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// At least one.
    pub servers: Vec<Server>,
    pub protocol: Protocol,
    pub reliable: bool,
    pub tls: bool,
    /// The file with the authorities to trust; `None` for the public ones.
    pub ca: Option<String>,
    /// To each server, at least 1.
    pub connections: usize,
    pub reads: u64,
    pub writes: u64,
    /// Bytes of a value.
    pub sizes: RangeInclusive<usize>,
    /// At least 1.
    pub keys: u32,
    pub distribution: Distribution,
    pub circle: Circle,
    /// In flight on each connection, at least 1.
    pub pipeline: usize,
    pub mode: Mode,
    /// Between two operations' due times; `None` for as fast as answers come.
    pub pace: Option<Duration>,
    pub verify: bool,
    pub preload: bool,
    /// As memcached reads it.
    pub expiry: i32,
    pub no_delay: bool,
    /// Not zero.
    pub timeout: Duration,
    /// Attempts in a row to open a connection again.
    pub reconnect: u32,
    pub seed: Option<u64>,
}

/// A server as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Without the brackets of an IPv6 address.
    pub host: String,
    pub port: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Every connection has its operations in flight.
    Parallel,
    /// One operation is in flight in all; the connections take turns.
    OneAtATime,
}

pub fn parse(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut settings = Settings {
        servers: Vec::new(),
        protocol: Protocol::Text,
        reliable: false,
        tls: false,
        ca: None,
        connections: 20,
        reads: 10_000,
        writes: 10_000,
        sizes: 100..=100,
        keys: 10_000,
        distribution: Distribution::Uniform,
        circle: Circle::Plain,
        pipeline: 1,
        mode: Mode::Parallel,
        pace: None,
        verify: false,
        preload: false,
        expiry: 0,
        no_delay: false,
        timeout: Duration::from_secs(5),
        reconnect: 5,
        seed: None,
    };
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::Help),
            Arg::Long("servers") => settings.servers = parser.value()?.parse_with(values::servers)?,
            Arg::Long("protocol") => settings.protocol = parser.value()?.parse_with(values::protocol)?,
            Arg::Long("reliable") => settings.reliable = true,
            Arg::Long("tls") => settings.tls = true,
            Arg::Long("ca") => settings.ca = Some(parser.value()?.string()?),
            Arg::Long("connections") => settings.connections = parser.value()?.parse_with(values::connections)?,
            Arg::Long("reads") => settings.reads = parser.value()?.parse_with(values::operations)?,
            Arg::Long("writes") => settings.writes = parser.value()?.parse_with(values::operations)?,
            Arg::Long("value-size") => settings.sizes = parser.value()?.parse_with(values::sizes)?,
            Arg::Long("keys") => settings.keys = parser.value()?.parse_with(values::keys)?,
            Arg::Long("distribution") => settings.distribution = parser.value()?.parse_with(values::distribution)?,
            Arg::Long("circle") => settings.circle = parser.value()?.parse_with(values::circle)?,
            Arg::Long("pipeline") => settings.pipeline = parser.value()?.parse_with(values::pipeline)?,
            Arg::Long("mode") => settings.mode = parser.value()?.parse_with(values::mode)?,
            Arg::Long("rate") => settings.pace = Some(parser.value()?.parse_with(values::pace)?),
            Arg::Long("verify") => settings.verify = true,
            Arg::Long("preload") => settings.preload = true,
            Arg::Long("expiry") => settings.expiry = parser.value()?.parse_with(values::expiry)?,
            Arg::Long("no-delay") => settings.no_delay = true,
            Arg::Long("timeout") => settings.timeout = parser.value()?.parse_with(values::timeout)?,
            Arg::Long("reconnect") => settings.reconnect = parser.value()?.parse_with(values::reconnect)?,
            Arg::Long("seed") => settings.seed = Some(parser.value()?.parse_with(values::seed)?),
            _ => return Err(arg.unexpected()),
        }
    }
    rules(&settings)?;
    Ok(Command::Run(settings))
}

/// The rules between two arguments.
fn rules(settings: &Settings) -> Result<(), String> {
    let Settings { servers, connections, pipeline, sizes, .. } = settings;
    if servers.is_empty() {
        return Err("--servers is missing: give HOST:PORT; see --help".to_owned());
    }
    if settings.reads == 0 && settings.writes == 0 && !settings.preload {
        return Err("--reads 0 and --writes 0 leave nothing to do: give more of one, or --preload".to_owned());
    }
    if settings.verify && *sizes.start() < SHORTEST_CHECKED {
        let least = sizes.start();
        return Err(format!(
            "--verify checks values of {SHORTEST_CHECKED} bytes and more: give a --value-size from there, instead of {least}"
        ));
    }
    if settings.verify && settings.keys > MOST_KEYS {
        let keys = settings.keys;
        return Err(format!(
            "--verify remembers the writes of each key: give at most {MOST_KEYS} --keys, instead of {keys}"
        ));
    }
    if settings.mode == Mode::OneAtATime && *pipeline > 1 {
        return Err("--mode one-at-a-time has one request in flight: leave out --pipeline".to_owned());
    }
    if settings.reliable && settings.protocol != Protocol::Rpc {
        return Err("--reliable is for calls: give --protocol rpc with it".to_owned());
    }
    if settings.reliable && settings.timeout >= IDLE {
        let timeout = settings.timeout;
        return Err(format!(
            "--timeout {timeout:?} outlives a session, which the server forgets after {IDLE:?} of silence: give --reliable a \
             shorter one"
        ));
    }
    if settings.ca.is_some() && !settings.tls {
        return Err("--ca says whom TLS trusts: give --tls with it".to_owned());
    }
    let in_flight = in_flight(servers.len(), *connections, *pipeline);
    if in_flight > MOST_IN_FLIGHT {
        return Err(format!(
            "{} servers with {connections} --connections each and --pipeline {pipeline} are {in_flight} requests in flight; \
             at most {MOST_IN_FLIGHT} are possible: lower one of them",
            servers.len()
        ));
    }
    Ok(())
}

/// Requests in flight at once, at most. A guest's `usize` is too small for the product.
fn in_flight(servers: usize, connections: usize, pipeline: usize) -> u64 {
    [servers, connections, pipeline].map(|factor| factor as u64).into_iter().fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(args: &[&str]) -> Result<Settings, String> {
        match parse(lexopt::Parser::from_args(args)).map_err(|error| error.to_string())? {
            Command::Run(settings) => Ok(settings),
            Command::Help => Err("help".to_owned()),
        }
    }

    #[test]
    fn a_server_alone_means_the_original_test() {
        let settings = settings(&["--servers", "127.0.0.1:11211"]).expect("a server is enough");
        assert_eq!((settings.connections, settings.reads, settings.writes), (20, 10_000, 10_000));
        assert_eq!((settings.protocol, settings.mode, settings.pipeline), (Protocol::Text, Mode::Parallel, 1));
    }

    #[test]
    fn servers_are_hosts_and_ports_and_a_host_keeps_its_spelling() {
        let server = |host: &str, port| Server { host: host.to_owned(), port };
        let read = |text| settings(&["--servers", text]).expect("servers").servers;
        let expected = [server("Cache-A", 11211), server("::1", 7), server("127.0.0.1", 80)];
        assert_eq!(read("Cache-A:11211,[::1]:7,127.0.0.1:80"), expected);
        let as_peers_print_them = "tcp://a:1,http://b:2/,https://[::1]:3/";
        assert_eq!(read(as_peers_print_them), [server("a", 1), server("b", 2), server("::1", 3)]);
    }

    #[test]
    fn a_rate_is_a_pace_and_a_size_may_be_a_range() {
        let with = |args: &[&str]| settings(&[&["--servers", "h:1"], args].concat());
        assert_eq!(with(&["--rate", "1000"]).map(|settings| settings.pace), Ok(Some(Duration::from_millis(1))));
        assert_eq!(with(&["--rate", "0.5"]).map(|settings| settings.pace), Ok(Some(Duration::from_secs(2))));
        assert_eq!(with(&["--value-size", "1K-2K"]).map(|settings| settings.sizes), Ok(1024..=2048));
        assert_eq!(with(&["--value-size", "7"]).map(|settings| settings.sizes), Ok(7..=7));
        assert_eq!(with(&["--expiry=-1"]).map(|settings| settings.expiry), Ok(-1));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would() {
        let server = ["--servers", "h:1"];
        for (args, word) in [
            (&["--reads", "5"][..], "--servers is missing"),
            (&["--servers", "h"], "HOST:PORT"),
            (&["--servers", "h:99999"], "HOST:PORT"),
            (&["--servers", "h:1,,i:1"], "HOST:PORT"),
            (&["--servers", "::1:7"], "[::1]:11211"),
            (&["--servers", ":7"], "HOST:PORT"),
            (&["--servers", "h:1,h:1"], "twice"),
            (&[&server[..], &["--protocol", "udp"]].concat(), "text, meta, binary or rpc"),
            (&[&server[..], &["--reliable"]].concat(), "--protocol rpc"),
            (
                &[&server[..], &["--reliable", "--protocol", "rpc", "--timeout", "120s"]].concat(),
                "after 120s of silence",
            ),
            (&[&server[..], &["--ca", "ca.pem"]].concat(), "--tls"),
            (&[&server[..], &["--connections", "0"]].concat(), "from 1"),
            (&[&server[..], &["--connections", "1001"]].concat(), "1000"),
            (&[&server[..], &["--keys", "0"]].concat(), "from 1"),
            (&[&server[..], &["--reads", "-1"]].concat(), "--reads"),
            (&[&server[..], &["--reads", "0", "--writes", "0"]].concat(), "nothing to do"),
            (&[&server[..], &["--value-size", "9-3"]].concat(), "larger"),
            (&[&server[..], &["--value-size", "1G"]].concat(), "128M"),
            (&[&server[..], &["--value-size", "8", "--verify"]].concat(), "16 bytes"),
            (&[&server[..], &["--keys", "16777217", "--verify"]].concat(), "at most 16777216 --keys"),
            (&[&server[..], &["--pipeline", "0"]].concat(), "from 1"),
            (&[&server[..], &["--pipeline", "2", "--mode", "one-at-a-time"]].concat(), "leave out --pipeline"),
            (&[&server[..], &["--pipeline", "1000"]].concat(), "lower one"),
            (&[&server[..], &["--rate", "0"]].concat(), "above 0"),
            (&[&server[..], &["--rate", "NaN"]].concat(), "above 0"),
            (&[&server[..], &["--rate", "1e-300"]].concat(), "above 0"),
            (&[&server[..], &["--timeout", "0"]].concat(), "5s"),
            (&[&server[..], &["--timeout", "99999999999h"]].concat(), "24h"),
            (&[&server[..], &["--expiry", "1d"]].concat(), "seconds"),
            (&[&server[..], &["--mode", "serial"]].concat(), "one-at-a-time"),
            (&[&server[..], &["--speed"]].concat(), "--speed"),
        ] {
            let error = settings(args).expect_err("refused");
            assert!(error.contains(word), "{args:?}: {error}");
        }
    }
}
