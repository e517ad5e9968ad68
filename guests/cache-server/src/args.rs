//! What was typed.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use wrun_guest::args::{address, duration, size};
use wrun_guest::lexopt::{self, Arg, Parser, ValueExt};

pub const HELP: &str = "\
cache-server: serves a cache in memcached's protocols (text, meta and binary on one port)

usage: cache-server [OPTIONS]

      --listen ADDR          address and port; port 0 is any free one [127.0.0.1:11211]
  -m, --memory SIZE          most memory for what is kept, bookkeeping included [64M]
  -I, --max-item-size SIZE   largest item, 1K to 1G and at most half of the memory [1M]
      --read byte|buffered   a byte at a time, or what is there [buffered]
  -c, --connections N        most connections at once; more wait [1024]
      --idle-timeout TIME    closes a connection on which nothing came for so long; 0 is never [0]
      --send-timeout TIME    drops a connection that takes none of its answers for so long [10s]
  -h, --help                 this

SIZE is bytes, or a number and K, M or G; TIME has its unit, such as 500ms or 30s.
It prints its address when it listens, and serves until it is ended, as with SIGTERM.

wrun ends a guest at its --max-memory, 1G unless told otherwise: give it more for a --memory of more than 700M, of which
a quarter more is for answers on their way. All of it is asked for before it listens, and used as it is needed.
";

/// What to do.
#[derive(Debug)]
pub enum Command {
    Help,
    Serve(Settings),
}

/// How to serve.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub listen: SocketAddr,
    /// Bytes.
    pub memory: usize,
    /// Bytes, as memcached counts them.
    pub max_item: usize,
    pub read: Read,
    pub connections: usize,
    pub idle_timeout: Option<Duration>,
    pub send_timeout: Duration,
}

/// How much is asked for at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    Byte,
    Buffered,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 11211).into(),
            memory: 64 << 20,
            max_item: 1 << 20,
            read: Read::Buffered,
            connections: 1024,
            idle_timeout: None,
            send_timeout: Duration::from_secs(10),
        }
    }
}

/// Least memory that does something useful.
const LEAST_MEMORY: usize = 64 << 10;

/// A component's memory ends at 4 GiB, and it needs some for itself.
const MOST_MEMORY: usize = 3 << 30;

/// As with memcached.
const ITEM_SIZES: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 30;

pub fn parse(mut parser: Parser) -> Result<Command, lexopt::Error> {
    let mut settings = Settings::default();
    let mut max_item_given = false;
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help),
            Arg::Long("listen") => settings.listen = parser.value()?.parse_with(address)?,
            Arg::Short('m') | Arg::Long("memory") => settings.memory = parser.value()?.parse_with(memory)?,
            Arg::Short('I') | Arg::Long("max-item-size") => {
                settings.max_item = parser.value()?.parse_with(max_item)?;
                max_item_given = true;
            }
            Arg::Long("read") => settings.read = parser.value()?.parse_with(read)?,
            Arg::Short('c') | Arg::Long("connections") => {
                settings.connections = parser.value()?.parse_with(connections)?;
            }
            Arg::Long("idle-timeout") => {
                settings.idle_timeout = Some(parser.value()?.parse_with(duration)?).filter(|time| !time.is_zero());
            }
            Arg::Long("send-timeout") => settings.send_timeout = parser.value()?.parse_with(send_timeout)?,
            arg => return Err(arg.unexpected()),
        }
    }
    let most = settings.memory / 2;
    if settings.max_item > most {
        if max_item_given {
            let (item, memory) = (settings.max_item, settings.memory);
            let error = format!(
                "an item of {item} bytes does not fit twice into {memory} bytes of memory: \
                 give --max-item-size at most {most}, or more --memory"
            );
            return Err(error.into());
        }
        settings.max_item = most;
    }
    Ok(Command::Serve(settings))
}

fn memory(text: &str) -> Result<usize, String> {
    let bytes = size(text)?;
    usize::try_from(bytes)
        .ok()
        .filter(|bytes| (LEAST_MEMORY..=MOST_MEMORY).contains(bytes))
        .ok_or_else(|| format!("{text} of memory: a component can keep 64K to 3G, such as 64M"))
}

fn max_item(text: &str) -> Result<usize, String> {
    let bytes = size(text)?;
    usize::try_from(bytes)
        .ok()
        .filter(|bytes| ITEM_SIZES.contains(bytes))
        .ok_or_else(|| format!("an item of {text}: the largest can be 1K to 1G, such as 1M"))
}

fn read(text: &str) -> Result<Read, String> {
    match text {
        "byte" => Ok(Read::Byte),
        "buffered" => Ok(Read::Buffered),
        _ => Err(format!("{text:?} is no way to read: give byte or buffered")),
    }
}

fn connections(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{text:?} is no number of connections: give 1 or more, such as 1024"))
}

fn send_timeout(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    if time.is_zero() {
        return Err("no time at all to take an answer: give some, such as 10s".to_owned());
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Settings, String> {
        match parse(Parser::from_args(args)).map_err(|error| error.to_string())? {
            Command::Serve(settings) => Ok(settings),
            Command::Help => Err("help".to_owned()),
        }
    }

    #[test]
    fn memcached_s_short_options_mean_the_same() {
        let settings = parsed(&["-m", "128M", "-I", "2M", "-c", "10"]).expect("good arguments");
        assert_eq!((settings.memory, settings.max_item, settings.connections), (128 << 20, 2 << 20, 10));
    }

    #[test]
    fn the_largest_item_is_made_to_fit_unless_it_was_asked_for() {
        assert_eq!(parsed(&["--memory", "1M"]).map(|settings| settings.max_item), Ok(512 << 10));
        let error = parsed(&["--memory", "1M", "-I", "1M"]).expect_err("it does not fit");
        assert!(error.contains("--max-item-size at most 524288"), "{error}");
    }

    #[test]
    fn a_wrong_value_is_answered_with_what_would_be_right() {
        for (args, hint) in [
            (["--memory", "1K"], "such as 64M"),
            (["--memory", "4G"], "such as 64M"),
            (["--max-item-size", "1"], "such as 1M"),
            (["--read", "line"], "byte or buffered"),
            (["--connections", "0"], "such as 1024"),
            (["--send-timeout", "0"], "such as 10s"),
            (["--listen", "localhost"], "127.0.0.1"),
        ] {
            let error = parsed(&args).expect_err("a wrong value");
            assert!(error.contains(hint), "{args:?}: {error}");
        }
    }
}
