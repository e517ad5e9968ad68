//! From a text to the format: what TOML or the format itself refuses, in our words.

use super::problem::Problem;
use super::written::File;
use crate::near;

pub fn read(text: &str) -> Result<File, Problem> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let (message, help) = words(error.message());
        Problem { span: error.span(), message, help }
    })
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
        "invalid type: map, expected a sequence" => {
            "there may be several of these: write [[rule]] and [[schedule]] with two brackets, and lists in [ ]"
        }
        _ if message.ends_with("expected a table") => "write it as a table: its name in [brackets], or in braces { }",
        _ => "",
    };
    (message.replace("invalid type: map", "invalid type: table"), help.to_owned())
}
