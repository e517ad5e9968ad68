//! Reading single values, and noting what is wrong with them.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::time::Duration;

use toml::Value;

use crate::near;
use crate::profile::given::Given;
use crate::profile::problem::Problem;
use crate::report::words::{cut, printable};
use crate::units;

/// Longer than this waits nobody for anything.
pub const HOUR: Duration = Duration::from_secs(3600);

/// Sizes and rates above this are slips: a terabyte, or one a second.
const TERA: u64 = 1_000_000_000_000;

/// Bytes of a name, of a line and of a longer text.
pub const NAME: usize = 64;
pub const LINE: usize = 200;
pub const PARAGRAPH: usize = 4000;

/// What is wrong so far.
pub struct Notes<'a> {
    /// That of the file, where there is one.
    pub folder: Option<&'a Path>,
    /// Lines of all traces together.
    pub opportunities: usize,
    problems: Vec<Problem>,
}

impl<'a> Notes<'a> {
    pub fn new(folder: Option<&'a Path>) -> Self {
        Self { folder, opportunities: 0, problems: Vec::new() }
    }

    pub fn note(&mut self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem { span: Some(span), message: message.into(), help: help.into() });
    }

    /// How many things are wrong so far.
    pub fn count(&self) -> usize {
        self.problems.len()
    }

    pub fn end(self) -> Result<(), Vec<Problem>> {
        if self.problems.is_empty() { Ok(()) } else { Err(self.problems) }
    }

    /// A time of at most an hour.
    pub fn time(&mut self, given: &Given) -> Option<Duration> {
        self.time_up_to(given, HOUR)
    }

    pub fn time_up_to(&mut self, given: &Given, most: Duration) -> Option<Duration> {
        let time = self.written(given, "a time", "50 ms", units::time)?;
        if time > most {
            let most = format!("at most {} h here", most.as_secs() / 3600);
            self.note(given.span(), "longer than anybody waits", most);
            return None;
        }
        Some(time)
    }

    /// A time of more than zero.
    pub fn lasting(&mut self, given: &Given, most: Duration, help: &str) -> Option<Duration> {
        let time = self.time_up_to(given, most)?;
        if time.is_zero() {
            self.note(given.span(), "no time at all", help);
            return None;
        }
        Some(time)
    }

    /// Bytes, more than zero.
    pub fn bytes(&mut self, given: &Given) -> Option<u64> {
        let bytes = self.written(given, "a size", "64 KiB", units::bytes)?;
        self.within(given, bytes, "room for nothing", "write a size from 1 B on, or leave it out", "1 TB (1000 GB)")
    }

    /// Bytes a second, more than zero.
    pub fn rate(&mut self, given: &Given) -> Option<u64> {
        let help = "for no traffic at all write offline = true, for no limit leave it out";
        // Nothing needs no unit; who writes so wants to know this first.
        let rate = match number(given.get_ref()) {
            Some(0.0) => 0,
            _ => self.written(given, "a rate", "256 kbit/s", units::rate)?,
        };
        self.within(given, rate, "a rate of zero, or of less than a byte a second", help, "1 TB/s (1000 GB/s)")
    }

    fn within(&mut self, given: &Given, value: u64, zero: &str, help: &str, most: &str) -> Option<u64> {
        match value {
            0 => self.note(given.span(), zero, help),
            1..=TERA => return Some(value),
            _ => self.note(given.span(), "more than there is", format!("at most {most}")),
        }
        None
    }

    /// From 0 to 1.
    pub fn share(&mut self, given: &Given) -> Option<f64> {
        self.share_of(given.get_ref(), given.span())
    }

    pub fn share_of(&mut self, value: &Value, span: Range<usize>) -> Option<f64> {
        const HELP: &str = "a share is a number from 0 to 1 such as 0.01, or percents such as \"1 %\"";
        let share = match value {
            Value::String(text) => match units::share(text) {
                Ok(share) => share,
                Err(message) => {
                    self.note(span, message, "");
                    return None;
                }
            },
            other => match number(other) {
                Some(number) => number,
                None => {
                    self.note(span, format!("{} is no share", kind(other)), HELP);
                    return None;
                }
            },
        };
        if !(0.0..=1.0).contains(&share) {
            self.note(span, format!("{share} is no share"), HELP);
            return None;
        }
        Some(share)
    }

    /// A number that need not be whole.
    pub fn number(&mut self, given: &Given, what: &str, range: RangeInclusive<f64>) -> Option<f64> {
        let found = number(given.get_ref()).filter(|number| range.contains(number));
        if found.is_none() {
            let help = format!("write a number from {} to {}, without quotes", range.start(), range.end());
            self.note(given.span(), format!("{} is not {what}", shown(given.get_ref())), help);
        }
        found
    }

    pub fn whole(&mut self, given: &Given, what: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let whole = given.get_ref().as_integer().and_then(|number| u64::try_from(number).ok());
        let found = whole.filter(|number| range.contains(number));
        if found.is_none() {
            let help = format!("write a whole number from {} to {}, without quotes", range.start(), range.end());
            self.note(given.span(), format!("{} is not {what}", shown(given.get_ref())), help);
        }
        found
    }

    pub fn flag(&mut self, given: &Given) -> Option<bool> {
        let flag = given.get_ref().as_bool();
        if flag.is_none() {
            self.note(given.span(), "neither true nor false", "write true or false, without quotes");
        }
        flag
    }

    /// One of these words.
    pub fn word<T: Copy>(&mut self, given: &Given, what: &str, words: &[(&str, T)]) -> Option<T> {
        self.word_of(given.get_ref(), given.span(), what, words)
    }

    pub fn word_of<T: Copy>(
        &mut self,
        value: &Value,
        span: Range<usize>,
        what: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let written = value.as_str().unwrap_or_default();
        let found = words.iter().find(|(word, _)| *word == written);
        if found.is_none() {
            let names = || words.iter().map(|(word, _)| *word);
            let quoted = names().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
            let help = format!("{}write one of {quoted}", near::did_you_mean(written, names()));
            self.note(span, format!("{} is no {what}", shown(value)), help);
        }
        found.map(|(_, meant)| *meant)
    }

    /// Text for people, without characters that play with a terminal.
    pub fn text(&mut self, given: &Given, most: usize) -> Option<String> {
        let Some(text) = given.get_ref().as_str() else {
            self.note(given.span(), format!("{} is no text", kind(given.get_ref())), "write it in quotes");
            return None;
        };
        let text = text.replace("\r\n", "\n");
        if !plain(&text, most) {
            let lines = if most < PARAGRAPH { "on a line" } else { "on as many lines as you like" };
            let help = format!("write 1 to {most} bytes {lines}, without control characters");
            self.note(given.span(), "no text to show people", help);
            return None;
        }
        Some(text)
    }

    /// A value that is written as text with a unit.
    fn written<T>(
        &mut self,
        given: &Given,
        what: &str,
        example: &str,
        read: fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let (message, help) = match given.get_ref() {
            Value::String(text) => match read(text) {
                Ok(value) => return Some(value),
                Err(message) => (message, String::new()),
            },
            // The words of `units` about a missing unit are just as right without the quotes.
            Value::Integer(number) => match read(&number.to_string()) {
                Ok(value) => return Some(value),
                Err(message) => (message, format!("{what} is written in quotes")),
            },
            other => (
                format!("{} is not {what}", shown(other)),
                format!("write a number with its unit, in quotes: \"{example}\""),
            ),
        };
        self.note(given.span(), message, help);
        None
    }
}

/// Whether a text can be shown: it has at most `most` bytes, and nothing that plays with a terminal.
pub fn plain(text: &str, most: usize) -> bool {
    let lines = if most < PARAGRAPH { Cow::Borrowed(text) } else { Cow::Owned(text.replace('\n', " ")) };
    printable(&lines) == lines && !text.trim().is_empty() && text.len() <= most
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// A value as words for it.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", cut(text, LINE)),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        other => kind(other).to_owned(),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a text",
        Value::Integer(_) | Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date or time of day",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}
