//! Lines of commented TOML, their comments below one another.

use std::fmt::{Display, Write};
use std::time::Duration;

use crate::units;

/// Where comments begin, if what stands before them is no longer.
const COLUMN: usize = 38;

/// The comment of a longer line stands above it.
const WIDE: usize = 56;

/// A list that is longer is written on several lines.
const WIDTH: usize = 100;

pub struct Page {
    text: String,
}

impl Page {
    pub fn new(legend: &str) -> Self {
        Self { text: format!("{legend}\n") }
    }

    pub fn end(self) -> String {
        self.text
    }

    /// A key that is always written.
    pub fn set(&mut self, key: &str, value: impl Display, about: &str) {
        self.line(&format!("{key} = {value}"), about);
    }

    /// A key with its value, or as a comment with what holds without one.
    pub fn key(&mut self, key: &str, value: Option<String>, without: &str, about: &str) {
        match value {
            Some(value) => self.set(key, value, about),
            None => self.line(&format!("# {key} = {without}"), about),
        }
    }

    /// The head of a table, after an empty line.
    pub fn heading(&mut self, heading: &str, about: &str) {
        self.text.push('\n');
        self.line(heading, about);
    }

    fn line(&mut self, line: &str, about: &str) {
        // Writing to a string cannot fail.
        _ = match about {
            "" => writeln!(self.text, "{line}"),
            about if line.contains('\n') || line.len() > WIDE => writeln!(self.text, "# {about}\n{line}"),
            about => writeln!(self.text, "{line:COLUMN$} # {about}"),
        };
    }
}

/// A text in quotes.
pub fn text(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A time in quotes.
pub fn time(time: Duration) -> String {
    format!("\"{}\"", units::time_text(time))
}

/// Values in brackets, on as many lines as they need.
pub fn list(values: impl IntoIterator<Item = String>) -> String {
    let values: Vec<_> = values.into_iter().collect();
    let line = format!("[{}]", values.join(", "));
    if line.len() <= WIDTH {
        return line;
    }
    let mut text = "[".to_owned();
    let mut column = WIDTH;
    for value in values {
        if column + value.len() + 2 > WIDTH {
            text += "\n    ";
            column = 4;
        } else {
            text.push(' ');
        }
        column += value.len() + 2;
        text += &value;
        text.push(',');
    }
    text + "\n]"
}
