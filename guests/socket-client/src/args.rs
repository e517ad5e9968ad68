//! What was typed, checked: after this nobody looks at arguments.

use std::ffi::OsString;
use std::time::Duration;

use wrun_guest::args::{duration, size};
use wrun_guest::lexopt::{self, Arg, ValueExt};

use crate::url::Url;

pub const HELP: &str = "\
Asks an HTTP or HTTPS server for the same thing many times, and says where each request's time went.

Usage: socket-client [OPTIONS] URL

  --requests N           how many, one after the other [15]
  --interval TIME        pause between two requests [0]
  --timeout TIME         limit for the whole of one request, its close included [30s; netmf 90s]
  --linger off|SECONDS   how long a close waits for what was sent; 0 cuts the connection [not set]
  --no-delay             send small writes at once
  --keep-alive           use a connection again while the server allows it
  --ca FILE              trust this certificate authority (PEM) instead of the public ones
  --expect-status CODE   any other status is a failed request [any status is fine]
  --max-body SIZE        a larger body is a failed request [64M]
  --style plain|netmf    netmf: the order of operations of .NET Micro Framework's SocketClient [plain]
                         It waits up to 30 s for the first data, and 30 s of silence after that end the answer.
  --help                 this text

TIME has a unit (200ms, 30s, 2m); SIZE is in bytes, or with K, M or G in powers of 1024.
Exits 1 when any request failed.
";

#[derive(Debug)]
pub enum Command {
    Help,
    Run(Settings),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Settings {
    pub url: Url,
    /// At least 1.
    pub requests: u32,
    /// From the end of one request to the start of the next.
    pub interval: Duration,
    /// For the whole of one request, its close included; not zero.
    pub timeout: Duration,
    /// `None` leaves the socket as it is.
    pub linger: Option<Linger>,
    pub no_delay: bool,
    pub keep_alive: bool,
    /// A file in PEM, trusted instead of the public roots.
    pub ca: Option<String>,
    pub expect_status: Option<u16>,
    /// Bytes.
    pub max_body: u64,
    pub style: Style,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linger {
    Off,
    For(Duration),
}

impl Linger {
    /// As the socket is told.
    pub fn time(self) -> Option<Duration> {
        match self {
            Self::Off => None,
            Self::For(time) => Some(time),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Netmf,
}

impl Style {
    /// Unless another is given. The original's two waits of 30 s, one for the first data and one for the silence that
    /// ends an answer, must fit in.
    fn timeout(self) -> Duration {
        Duration::from_secs(match self {
            Self::Plain => 30,
            Self::Netmf => 90,
        })
    }
}

pub fn parse(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let (mut url, mut limit) = (None, None);
    let mut settings = Settings {
        url: Url::default(),
        requests: 15,
        interval: Duration::ZERO,
        timeout: Duration::ZERO,
        linger: None,
        no_delay: false,
        keep_alive: false,
        ca: None,
        expect_status: None,
        max_body: 64 << 20,
        style: Style::Plain,
    };
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::Help),
            Arg::Long("requests") => settings.requests = parser.value()?.parse_with(requests)?,
            Arg::Long("interval") => settings.interval = parser.value()?.parse_with(duration)?,
            Arg::Long("timeout") => limit = Some(parser.value()?.parse_with(timeout)?),
            Arg::Long("linger") => settings.linger = Some(parser.value()?.parse_with(linger)?),
            Arg::Long("no-delay") => settings.no_delay = true,
            Arg::Long("keep-alive") => settings.keep_alive = true,
            Arg::Long("ca") => settings.ca = Some(text(parser.value()?)?),
            Arg::Long("expect-status") => settings.expect_status = Some(parser.value()?.parse_with(status)?),
            Arg::Long("max-body") => settings.max_body = parser.value()?.parse_with(size)?,
            Arg::Long("style") => settings.style = parser.value()?.parse_with(style)?,
            Arg::Value(value) if url.is_none() => url = Some(value.parse_with(Url::parse)?),
            _ => return Err(arg.unexpected()),
        }
    }
    settings.url = url.ok_or("a URL is missing; see --help")?;
    settings.timeout = limit.unwrap_or(settings.style.timeout());
    rules(&settings)?;
    Ok(Command::Run(settings))
}

/// The rules between two arguments.
fn rules(settings: &Settings) -> Result<(), &'static str> {
    if settings.style == Style::Netmf && settings.url.tls {
        return Err("--style netmf speaks http:// only, as the original did");
    }
    if settings.style == Style::Netmf && settings.keep_alive {
        return Err("--style netmf closes each connection, as the original did: leave out --keep-alive");
    }
    if settings.ca.is_some() && !settings.url.tls {
        return Err("--ca is for https:// URLs");
    }
    Ok(())
}

fn requests(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("--requests {text}: give a number from 1 on")),
        Ok(requests) => Ok(requests),
    }
}

fn timeout(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("--timeout 0: give a time to answer in, such as 30s".to_owned()),
        timeout => Ok(timeout),
    }
}

fn linger(text: &str) -> Result<Linger, String> {
    if text == "off" {
        return Ok(Linger::Off);
    }
    let seconds = text.parse::<u32>().map(|seconds| Duration::from_secs(seconds.into()));
    seconds.or_else(|_| duration(text)).map(Linger::For).map_err(|_| format!("--linger {text}: give off or seconds"))
}

fn status(text: &str) -> Result<u16, String> {
    text.parse()
        .ok()
        .filter(|status| (200..=999).contains(status))
        .ok_or_else(|| format!("--expect-status {text}: give a final status, such as 200"))
}

fn style(text: &str) -> Result<Style, String> {
    match text {
        "plain" => Ok(Style::Plain),
        "netmf" => Ok(Style::Netmf),
        _ => Err(format!("--style {text}: give plain or netmf")),
    }
}

fn text(value: OsString) -> Result<String, lexopt::Error> {
    value.into_string().map_err(lexopt::Error::NonUnicodeValue)
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
    fn a_url_alone_means_fifteen_plain_requests() {
        let settings = settings(&["http://localhost:8080/x"]).expect("a URL is enough");
        assert_eq!((settings.requests, settings.style, settings.linger), (15, Style::Plain, None));
        assert_eq!(settings.timeout, Duration::from_secs(30));
    }

    #[test]
    fn the_waits_of_netmf_fit_into_its_time_unless_another_is_given() {
        let timeout = |args: &[&str]| settings(args).map(|settings| settings.timeout.as_secs());
        assert_eq!(timeout(&["http://h", "--style", "netmf"]), Ok(90));
        assert!(timeout(&["http://h", "--style", "netmf"]) > Ok(2 * crate::netmf::PATIENCE.as_secs()));
        assert_eq!(timeout(&["http://h", "--timeout", "5s", "--style", "netmf"]), Ok(5));
    }

    #[test]
    fn linger_is_off_or_seconds_or_a_time_with_its_unit() {
        for (given, meant) in [
            ("off", Linger::Off),
            ("0", Linger::For(Duration::ZERO)),
            ("5", Linger::For(Duration::from_secs(5))),
            ("500ms", Linger::For(Duration::from_millis(500))),
        ] {
            assert_eq!(settings(&["http://h", "--linger", given]).map(|settings| settings.linger), Ok(Some(meant)));
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would() {
        for (args, word) in [
            (&["--requests", "5"][..], "a URL is missing"),
            (&["http://h", "http://i"], "unexpected argument"),
            (&["http://h", "--requests", "0"], "from 1 on"),
            (&["http://h", "--timeout", "0"], "30s"),
            (&["http://h", "--linger", "never"], "off or seconds"),
            (&["http://h", "--expect-status", "100"], "final status"),
            (&["http://h", "--style", "raw"], "plain or netmf"),
            (&["http://h", "--ca", "ca.pem"], "https://"),
            (&["https://h", "--style", "netmf"], "http:// only"),
            (&["http://h", "--style", "netmf", "--keep-alive"], "leave out --keep-alive"),
            (&["http://h", "--speed"], "--speed"),
        ] {
            let error = settings(args).expect_err("refused");
            assert!(error.contains(word), "{args:?}: {error}");
        }
    }
}
