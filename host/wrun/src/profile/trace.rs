//! A rate as a trace of opportunities, in the format of Mahimahi: a file of lines of milliseconds, or a list of them.

use toml::Value;
use wrun_net::shape::profile::Trace;

use super::file;
use super::given::Given;
use super::meaning::{Notes, shown};

/// Bytes of a trace's file.
const FILE: u64 = 1 << 20;

/// Lines of all traces of a profile: the whole profile, traces and all, is part of a report.
const LINES: usize = 100_000;

/// An hour.
const LONGEST: u64 = 3_600_000;

pub fn trace(notes: &mut Notes<'_>, given: &Given) -> Option<Trace> {
    if notes.opportunities > LINES {
        // It has been noted, and there may be many more.
        return None;
    }
    match read(notes, given.get_ref()) {
        Ok(trace) => {
            notes.opportunities += trace.milliseconds.len();
            if notes.opportunities > LINES {
                let help = format!(
                    "at most {LINES} lines in all traces of a profile, one for both ways counting twice; a trace begins again after its end"
                );
                notes.note(given.span(), "too long a trace", help);
                return None;
            }
            Some(trace)
        }
        Err(message) => {
            let help = "a trace has a whole number of milliseconds on each line, in order, up to an hour";
            notes.note(given.span(), message, help);
            None
        }
    }
}

fn read(notes: &Notes<'_>, value: &Value) -> Result<Trace, String> {
    match value {
        Value::Array(list) => {
            let number = |value: &Value| value.as_integer().and_then(|number| u64::try_from(number).ok());
            checked("the list", "number", list.iter().map(|value| number(value).ok_or_else(|| shown(value))))
        }
        Value::String(path) => {
            let name = format!("the trace {path}");
            let Some(folder) = notes.folder else {
                return Err(format!("{name} cannot be read: this profile is in no folder"));
            };
            let text = file::text(&folder.join(path), FILE).map_err(|error| format!("{name} {error}"))?;
            let number = |line: &str| line.trim().parse().map_err(|_| shown(&Value::String(line.to_owned())));
            checked(&name, "line", text.lines().map(number))
        }
        other => Err(format!("{} is neither the name of a trace's file nor a list of milliseconds", shown(other))),
    }
}

/// The numbers, or what they are instead; `name` is of the whole, `part` is one of them.
fn checked(name: &str, part: &str, numbers: impl Iterator<Item = Result<u64, String>>) -> Result<Trace, String> {
    let mut milliseconds: Vec<u64> = Vec::new();
    for (index, number) in numbers.enumerate() {
        let at = format!("{part} {} of {name}", index + 1);
        let number = number.map_err(|shown| format!("{at} is no whole number: {shown}"))?;
        if number > LONGEST {
            return Err(format!("{at} is {number}, which is more than an hour"));
        }
        if milliseconds.last().is_some_and(|last| *last > number) {
            return Err(format!("{at} is {number}, which is before the one above it"));
        }
        milliseconds.push(number);
    }
    match milliseconds.last() {
        None => Err(format!("{name} is empty")),
        Some(0) => Err(format!("{name} takes no time: its last {part} is 0")),
        Some(_) => Ok(Trace { milliseconds }),
    }
}
