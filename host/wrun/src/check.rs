//! `wrun check`: what a guest imports, and whether wrun can run it.

use std::fmt::Write;

use crate::guest::imports;
use crate::guest::load::{About, Problem};
use crate::report::words::printable;

/// What there is to say about a guest, for people.
pub fn describe(about: &About, problem: Option<&Problem>) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        _ = writeln!(text, "{name:8} {}", printable(value));
    };
    row("guest", &format!("{}, {} bytes", about.name, about.bytes));
    row("sha256", &about.sha256);
    let command = about.exports.iter().find_map(|export| imports::command_version(export));
    row(
        "kind",
        &match command {
            Some(version) => format!("component, a command of WASI {version}"),
            None => "component, no command".to_owned(),
        },
    );
    for (at, import) in about.imports.iter().enumerate() {
        let note = if imports::provided(import) { "" } else { "  (wrun lacks it)" };
        row(if at == 0 { "imports" } else { "" }, &format!("{import}{note}"));
    }
    if about.imports.is_empty() {
        row("imports", "nothing");
    }
    row(
        "verdict",
        &match problem {
            None => "wrun can run it".to_owned(),
            Some(problem) => format!("wrun cannot run it: it {problem}"),
        },
    );
    text
}
