//! Profiles as people write them: TOML with its units written out, checked, and the presets.
//!
//! [`written`] is the format, [`meaning`] what it means, [`effective`] the way back: the whole of a profile as a text that
//! means the same. [`problem`] tells what is wrong with one, where and what to write instead.
//!
//! What is left out: what a profile does to traffic, which is [`wrun_net::throttled`]'s.

pub mod commands;
mod effective;
mod file;
mod given;
mod meaning;
pub mod presets;
mod problem;
mod reading;
mod trace;
mod written;

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use wrun_net::shape::Profile;

pub use problem::{Problem, Unfit};

/// Bytes of a profile's file. A page has some thousand.
const FILE: u64 = 1 << 20;

/// A profile that can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub profile: Profile,
    /// A line about it, or nothing.
    pub description: String,
    /// Where its figures are from, or nothing.
    pub source: String,
    /// All of it as commented TOML that needs no other file: [`load`] makes the same profile of it.
    pub effective: String,
    /// The preset or the file, as it was asked for.
    pub origin: String,
}

/// The profile of a name or a file: what has a `/` in it or ends in `.toml` is a file.
///
/// An error that is about the text of the profile is an [`Unfit`], whose words are several lines.
pub fn find(name: &str) -> Result<Loaded> {
    if is_path(name) {
        return open(Path::new(name));
    }
    match presets::find(name) {
        Ok(preset) => Ok(parse(preset.text, preset.name, preset.name, None)?),
        Err(_) if Path::new(name).is_file() => {
            bail!("there is no profile named `{name}`: for the file of that name write ./{name}")
        }
        Err(meant) => Err(anyhow!(
            "there is no profile named `{name}`: {meant}`wrun profile list` has the names; a file is written with a / in it \
             or with .toml at its end"
        )),
    }
}

/// The profile in a file.
pub fn open(path: &Path) -> Result<Loaded> {
    let origin = path.display().to_string();
    let text = file::text(path, FILE).map_err(|error| anyhow!("the profile {origin} {error}"))?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(parse(&text, &name.unwrap_or_default(), &origin, Some(folder))?)
}

/// The profile in a text that stands for itself, such as [`Loaded::effective`]: it cannot name the file of a trace.
pub fn load(text: &str) -> Result<Loaded, Unfit> {
    parse(text, "", "text", None)
}

fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

fn parse(text: &str, name: &str, origin: &str, folder: Option<&Path>) -> Result<Loaded, Unfit> {
    let meaning = reading::read(text)
        .and_then(|file| meaning::of(&file, name, folder))
        .map_err(|problems| Unfit::new(origin.to_owned(), text, problems))?;
    let effective = effective::effective(&meaning);
    let meaning::Meaning { profile, description, source } = meaning;
    Ok(Loaded { profile, description, source, effective, origin: origin.to_owned() })
}

#[cfg(test)]
mod tests;
