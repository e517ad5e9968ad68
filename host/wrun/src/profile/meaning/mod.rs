//! What a profile means, and whether it makes sense.
//!
//! Each file turns one part of the format into one part of [`wrun_net::shape::Profile`], keeping its promises. What is wrong
//! is noted and something harmless goes on in its place, so that all that is wrong with a file is told at once; a
//! profile of which anything was noted is never used.
//!
//! What would do nothing is refused too: whoever wrote it believes that it does something.

mod board;
mod effects;
mod matching;
mod notes;
mod opening;
mod path;
mod reach;
mod rules;
mod stalls;

use std::path::Path;

use wrun_net::shape::Profile;
use wrun_net::shape::profile::Scope;

use super::problem::Problem;
use super::written::File;
pub use board::LINGER_OPTIONS;
pub use matching::{OPERATIONS, PROTOCOLS};
pub use notes::{Notes, shown};
pub use path::{LENGTHS, chances};
pub use rules::ALL;

pub const SCOPES: [(&str, Scope); 2] = [("link", Scope::Link), ("socket", Scope::Socket)];

/// The name of a profile that has none.
const NAMELESS: &str = "nameless";

/// A profile, and what only people read.
#[derive(Debug)]
pub struct Meaning {
    pub profile: Profile,
    pub description: String,
    /// Where the figures are from.
    pub source: String,
}

/// What `file` means. `name` is its name if it says none, and can be one. Paths in it are relative to `folder`; without
/// one there can be none.
pub fn of(file: &File, name: &str, folder: Option<&Path>) -> Result<Meaning, Vec<Problem>> {
    let mut notes = Notes::new(folder);
    let mut text = |given: &Option<_>, most| given.as_ref().and_then(|given| notes.text(given, most));
    let name = text(&file.name, notes::NAME)
        .or_else(|| Some(name.to_owned()).filter(|name| notes::plain(name, notes::NAME)))
        .unwrap_or_else(|| NAMELESS.to_owned());
    let description = text(&file.description, notes::LINE).unwrap_or_default();
    let source = text(&file.source, notes::PARAGRAPH).unwrap_or_default();
    let scope = file.scope.as_ref().and_then(|scope| notes.word(scope, "scope", &SCOPES)).unwrap_or_default();
    let rules = rules::rules(&mut notes, file);
    let board = file.board.as_ref().map(|board| board::board(&mut notes, board)).unwrap_or_default();
    notes.end()?;
    Ok(Meaning { profile: Profile { name, scope, rules, board }, description, source })
}

/// The word that stands for a value. Each value has one.
pub fn named<'a, T: PartialEq>(words: &[(&'a str, T)], value: T) -> &'a str {
    words.iter().find(|(_, meant)| *meant == value).map_or("", |(word, _)| word)
}
