//! From a text to the format: what TOML or the format itself refuses, in our words.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use super::problem::Problem;
use super::written::{File, Version};
use crate::near;

/// The version of the format, which a file may name as `schema`.
pub const SCHEMA: i64 = 1;

/// Unknown keys that are told at once. Whoever has more of them has written in another format.
const UNKNOWN: usize = 20;

/// The file, or all its keys that are none: what is wrong with its values is not looked at while one of them is missing.
pub fn read(text: &str) -> Result<File, Vec<Problem>> {
    let mut table = DeTable::parse(text).map_err(|error| vec![refused(&error)])?;
    let version = Version::deserialize(Deserializer::from(table.clone()));
    let Version { schema } = version.map_err(|error| vec![refused(&error)])?;
    if let Some(schema) = schema.filter(|schema| schema.get_ref().as_integer() != Some(SCHEMA)) {
        return Err(vec![Problem {
            span: Some(schema.span()),
            message: "another version of the format".to_owned(),
            help: format!("this wrun reads schema = {SCHEMA}"),
        }]);
    }
    let mut problems = Vec::new();
    loop {
        let error = match File::deserialize(Deserializer::from(table.clone())) {
            Ok(file) if problems.is_empty() => return Ok(file),
            Ok(_) => return Err(problems),
            Err(error) => error,
        };
        problems.push(refused(&error));
        // Without that key, the next one is found.
        let key = error.span().filter(|_| unknown(error.message()).is_some());
        let taken = key.is_some_and(|key| take(table.get_mut(), &key));
        if !taken || problems.len() == UNKNOWN {
            return Err(problems);
        }
    }
}

/// Takes the key out that stands there, with its value. False if there is none.
fn take(table: &mut DeTable<'_>, place: &Range<usize>) -> bool {
    if let Some(key) = table.keys().find(|key| key.span() == *place).cloned() {
        return table.remove(&key).is_some();
    }
    table.iter_mut().any(|(_, value)| take_within(value, place))
}

fn take_within(value: &mut Spanned<DeValue<'_>>, place: &Range<usize>) -> bool {
    match value.get_mut() {
        DeValue::Table(table) => take(table, place),
        DeValue::Array(list) => list.iter_mut().any(|value| take_within(value, place)),
        _ => false,
    }
}

fn refused(error: &Error) -> Problem {
    let (message, help) = words(error.message());
    Problem { span: error.span(), message, help }
}

/// The key that is none, and those that there are, quoted. serde's words are "unknown field `a`, expected one of `b`, `c`", where
/// `a` may be anything.
fn unknown(message: &str) -> Option<(&str, &str)> {
    message.strip_prefix("unknown field `")?.rsplit_once("`, expected ")
}

/// What is wrong, and what to do about it.
fn words(message: &str) -> (String, String) {
    if let Some((unknown, known)) = unknown(message) {
        let known: Vec<_> = known.split('`').skip(1).step_by(2).collect();
        let meant = near::did_you_mean(unknown, known.iter().copied());
        return (format!("`{unknown}` is no key here"), format!("{meant}the keys here are {}", known.join(", ")));
    }
    let help = match message {
        "invalid type: map, expected a list" => {
            "there may be several of these: write [[rule]] and [[schedule]] with two brackets, and lists in [ ]"
        }
        _ if message.ends_with("expected a table") => "write it as a table: its name in [brackets], or in braces { }",
        _ => "",
    };
    let message = message.strip_prefix("invalid type: ").unwrap_or(message);
    (
        message.replace("map, expected", "a table, expected").replace("sequence, expected", "a list, expected"),
        help.to_owned(),
    )
}
