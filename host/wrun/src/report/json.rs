//! How a finished report looks as a file: JSON with a line for each sample, connection and setting.
//!
//! Fully spread out, a report of a million samples would have twenty million lines; on one line, nobody could look at
//! it. So everything down to [`SPREAD`] levels starts a line of its own, and what is deeper stays on it.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use super::data::Report;

/// Levels of nesting that are spread over lines: the report, and its parts.
const SPREAD: usize = 2;

impl Report {
    /// Writes it as JSON, ended by a newline.
    pub fn write_json(&self, writer: impl io::Write) -> io::Result<()> {
        write_lines(self, writer)
    }

    /// As [`Self::write_json`].
    pub fn to_json_pretty(&self) -> String {
        let mut json = Vec::new();
        // Neither memory nor these types fail to be written: keys are strings, and no number is a float.
        self.write_json(&mut json).expect("a report is always JSON");
        String::from_utf8(json).expect("JSON is UTF-8")
    }
}

/// Writes a value as JSON, its outer levels spread over lines, ended by a newline.
pub(crate) fn write_lines(value: &impl Serialize, mut writer: impl io::Write) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut writer, Lines::default()))?;
    writer.write_all(b"\n")
}

/// Spreads the outer levels over lines.
#[derive(Default)]
struct Lines {
    depth: usize,
    /// Whether the innermost open bracket has something in it.
    filled: bool,
}

impl Lines {
    fn open<W: ?Sized + io::Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + io::Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.filled && self.depth < SPREAD {
            self.line(writer)?;
        }
        // What it closes is in the bracket around it.
        self.filled = true;
        writer.write_all(bracket)
    }

    fn next<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.filled = true;
        if !first {
            writer.write_all(b",")?;
        }
        if self.depth <= SPREAD {
            self.line(writer)
        } else if first {
            Ok(())
        } else {
            writer.write_all(b" ")
        }
    }

    fn line<W: ?Sized + io::Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(value: &serde_json::Value) -> String {
        let mut json = Vec::new();
        value.serialize(&mut Serializer::with_formatter(&mut json, Lines::default())).unwrap();
        String::from_utf8(json).unwrap()
    }

    #[test]
    fn two_levels_are_spread_and_the_deeper_ones_share_a_line() {
        let value = json!({"a": [{"b": [1, 2], "c": {}}, []], "d": [], "e": {"f": null, "g": {"h": {"i": 1}}}});
        insta::assert_snapshot!(lines(&value), @r#"
        {
          "a": [
            {"b": [1, 2], "c": {}},
            []
          ],
          "d": [],
          "e": {
            "f": null,
            "g": {"h": {"i": 1}}
          }
        }
        "#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&lines(&value)).unwrap(), value);
    }
}
