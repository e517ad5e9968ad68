//! The value of each argument, with errors that say what would have been right.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use cache::client::Circle;
use wrun_guest::args::{duration, size};

use super::{Mode, Server};
use crate::keys::Distribution;
use crate::protocol::Protocol;

/// More sockets than this a run does not have, unless it is told to.
const MOST_CONNECTIONS: usize = 1000;

const LONGEST_PIPELINE: usize = 10_000;

/// Bytes: a value lies in the guest's memory a few times over.
const LARGEST_VALUE: u64 = 128 << 20;

const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Between two operations at the slowest rate.
const LONGEST_PACE: Duration = Duration::from_secs(24 * 60 * 60);

pub fn servers(text: &str) -> Result<Vec<Server>, String> {
    let mut servers = Vec::new();
    for word in text.split(',') {
        let server = server(word)?;
        if servers.contains(&server) {
            return Err(format!("--servers {text}: {word} is there twice"));
        }
        servers.push(server);
    }
    Ok(servers)
}

fn server(text: &str) -> Result<Server, String> {
    let wrong = || format!("--servers {text:?}: give HOST:PORT, such as 127.0.0.1:11211 or [::1]:11211");
    // Peers of wrun say where they are as a URL, which is to do here as well.
    let url = ["tcp://", "http://", "https://"].into_iter().find_map(|scheme| text.strip_prefix(scheme));
    let address = url.map_or(text, |rest| rest.strip_suffix('/').unwrap_or(rest));
    let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
    let port = port.parse().map_err(|_| wrong())?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    // An address with colons needs its brackets, or its end might be meant for a port.
    let ambiguous = bare.is_none() && host.contains(':');
    let host = bare.unwrap_or(host);
    if host.is_empty() || ambiguous { Err(wrong()) } else { Ok(Server { host: host.to_owned(), port }) }
}

pub fn protocol(text: &str) -> Result<Protocol, String> {
    match text {
        "text" => Ok(Protocol::Text),
        "meta" => Ok(Protocol::Meta),
        "binary" => Ok(Protocol::Binary),
        "rpc" => Ok(Protocol::Rpc),
        _ => Err(format!("--protocol {text}: give text, meta, binary or rpc")),
    }
}

pub fn connections(text: &str) -> Result<usize, String> {
    within("connections", text, 1..=MOST_CONNECTIONS)
}

pub fn pipeline(text: &str) -> Result<usize, String> {
    within("pipeline", text, 1..=LONGEST_PIPELINE)
}

pub fn keys(text: &str) -> Result<u32, String> {
    within("keys", text, 1..=u32::MAX)
}

pub fn operations(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text:?} for --reads or --writes: give how many, 0 for none"))
}

pub fn reconnect(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("--reconnect {text}: give how many attempts in a row, 0 for none"))
}

pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("--seed {text}: give a number from 0 to {}", u64::MAX))
}

pub fn expiry(text: &str) -> Result<i32, String> {
    text.parse().map_err(|_| format!("--expiry {text}: give seconds, 0 for never, negative for at once"))
}

pub fn sizes(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let (least, most) = (size(least)?, size(most)?);
    if least > most {
        return Err(format!("--value-size {text}: the first is larger than the second"));
    }
    if most > LARGEST_VALUE {
        return Err(format!("--value-size {text}: give at most {}M", LARGEST_VALUE >> 20));
    }
    Ok(least as usize..=most as usize)
}

pub fn distribution(text: &str) -> Result<Distribution, String> {
    match text {
        "uniform" => Ok(Distribution::Uniform),
        "zipf" => Ok(Distribution::Zipf),
        _ => Err(format!("--distribution {text}: give uniform or zipf")),
    }
}

pub fn circle(text: &str) -> Result<Circle, String> {
    match text {
        "ketama" => Ok(Circle::Plain),
        "ketama-weighted" => Ok(Circle::Weighted),
        _ => Err(format!("--circle {text}: give ketama or ketama-weighted")),
    }
}

pub fn mode(text: &str) -> Result<Mode, String> {
    match text {
        "parallel" => Ok(Mode::Parallel),
        "one-at-a-time" => Ok(Mode::OneAtATime),
        _ => Err(format!("--mode {text}: give parallel or one-at-a-time")),
    }
}

pub fn pace(text: &str) -> Result<Duration, String> {
    let wrong = || format!("--rate {text}: give operations a second, above 0 and up to 1000000, such as 500 or 0.5");
    let rate: f64 = text.parse().map_err(|_| wrong())?;
    let pace = Duration::try_from_secs_f64(1.0 / rate).map_err(|_| wrong())?;
    if (Duration::from_micros(1)..=LONGEST_PACE).contains(&pace) { Ok(pace) } else { Err(wrong()) }
}

pub fn timeout(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("--timeout 0: give a time to answer in, such as 5s".to_owned()),
        timeout if timeout > LONGEST_TIMEOUT => Err(format!("--timeout {text}: give at most 24h")),
        timeout => Ok(timeout),
    }
}

fn within<T: FromStr + PartialOrd + std::fmt::Display>(
    option: &str,
    text: &str,
    range: RangeInclusive<T>,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("--{option} {text}: give a number from {} to {}", range.start(), range.end()))
}
