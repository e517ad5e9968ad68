//! All the requests, one after the other, and what became of them.

use std::error::Error;
use std::fmt;
use std::io;
use std::thread;

use wrun_guest::{announce, count, note};

use crate::args::{Settings, Style};
use crate::budget::Budget;
use crate::http::Response;
use crate::netmf;
use crate::plain::{Client, close};
use crate::stage::Stage;
use crate::wire::Wire;

/// What became of all requests.
#[derive(Debug, Default)]
pub struct Tally {
    requests: u32,
    failed: u32,
    /// Bytes of answers, heads included.
    bytes: u64,
    first_failure: Option<String>,
}

/// # Errors
/// What is wrong before the first request, such as a certificate file that cannot be read. Requests that go wrong are
/// in the tally.
pub fn run(settings: &Settings) -> Result<Tally, Box<dyn Error>> {
    let client = Client::new(settings)?;
    let mut connection = None;
    let mut tally = Tally::default();
    announce(settings.requests.into());
    for number in 0..settings.requests {
        if number > 0 && !settings.interval.is_zero() {
            thread::sleep(settings.interval);
        }
        let mut stage = Stage::start();
        let mut response = Response::new(settings.max_body);
        let made = match settings.style {
            Style::Plain => client.request(&mut connection, &mut stage, &mut response),
            Style::Netmf => netmf::request(settings, &mut connection, &mut stage, &mut response),
        };
        let broken = made.is_err();
        let outcome = made.and_then(|()| expected(settings, &response));
        stage.finish(outcome.as_ref().err().map(String::as_str));
        if broken {
            // Only now: letting go of a connection may wait for what it still has to send, and that is not the request's.
            connection = None;
        }
        count("bytes-received", response.bytes());
        if let Some(status) = response.status() {
            count(&format!("status-{status}"), 1);
        }
        tally.add(response.bytes(), outcome);
    }
    end(connection, settings);
    Ok(tally)
}

/// Closes the connection that was kept last, whose peer does not expect it.
fn end(mut connection: Option<Wire>, settings: &Settings) {
    let budget = Budget::start(settings.timeout);
    if let Some(kept) = &mut connection {
        kept.farewell(&budget);
    }
    if let Err(why) = close(&mut connection, settings, &budget) {
        note(&format!("closing the connection that was kept: {why}"));
    }
}

fn expected(settings: &Settings, response: &Response) -> Result<(), String> {
    match (settings.expect_status, response.status()) {
        (Some(expected), Some(status)) if status != expected => Err(format!("status {status} instead of {expected}")),
        _ => Ok(()),
    }
}

impl Tally {
    fn add(&mut self, bytes: u64, outcome: Result<(), String>) {
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if let Err(reason) = outcome {
            self.failed += 1;
            self.first_failure.get_or_insert_with(|| format!("request {}: {reason}", self.requests));
        }
    }

    /// # Errors
    /// When any request failed, how many and why the first did.
    pub fn verdict(&self) -> io::Result<()> {
        match &self.first_failure {
            None => Ok(()),
            Some(first) => {
                let Self { requests, failed, .. } = self;
                Err(io::Error::other(format!("{failed} of {requests} requests failed; the first was {first}")))
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requests, failed, bytes, .. } = self;
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        write!(f, "{requests} request{}, {} ok", plural((*requests).into()), requests - failed)?;
        write!(f, ", {failed} failed, {bytes} byte{}", plural(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_thing_is_told_as_one() {
        let mut tally = Tally::default();
        tally.add(1, Ok(()));
        assert_eq!(tally.to_string(), "1 request, 1 ok, 0 failed, 1 byte");
    }

    #[test]
    fn one_failure_fails_the_run_and_is_told_with_its_number() {
        let mut tally = Tally::default();
        tally.add(100, Ok(()));
        assert!(tally.verdict().is_ok());
        tally.add(12, Err("receive: connection closed after 12 of 100 bytes".to_owned()));
        tally.add(0, Err("connect: connection-refused".to_owned()));
        assert_eq!(tally.to_string(), "3 requests, 1 ok, 2 failed, 112 bytes");
        assert_eq!(
            tally.verdict().expect_err("two failed").to_string(),
            "2 of 3 requests failed; the first was request 2: receive: connection closed after 12 of 100 bytes"
        );
    }
}
