//! From a text to the format: what TOML or the format itself refuses, in our words.

use super::problem::Problem;
use super::written::{File, Version};
use crate::near;

/// The version of the format, which a file may name as `schema`.
pub const SCHEMA: i64 = 1;

pub fn read(text: &str) -> Result<File, Problem> {
    let Version { schema } = toml::from_str(text).map_err(refused)?;
    match schema {
        Some(schema) if schema.get_ref().as_integer() != Some(SCHEMA) => Err(Problem {
            span: Some(schema.span()),
            message: "another version of the format".to_owned(),
            help: format!("this wrun reads schema = {SCHEMA}"),
        }),
        _ => toml::from_str(text).map_err(refused),
    }
}

fn refused(error: toml::de::Error) -> Problem {
    let (message, help) = words(error.message());
    Problem { span: error.span(), message, help }
}

/// What is wrong, and what to do about it.
fn words(message: &str) -> (String, String) {
    // serde's words are "unknown field `a`, expected one of `b`, `c`", where `a` may be anything.
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.rsplit_once("`, expected "));
    if let Some((unknown, known)) = unknown {
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
