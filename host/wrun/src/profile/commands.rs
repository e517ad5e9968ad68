//! `wrun profile`: what it prints.

use anyhow::Result;

use super::presets::{self, Preset};
use crate::report::words::printable;

/// The presets, a line each.
pub fn list() -> Result<String> {
    let mut text = String::new();
    for (heading, presets) in [("networks", presets::NETWORKS), ("boards", presets::BOARDS)] {
        text += &format!("{heading}\n");
        for Preset { name, .. } in presets {
            text += &format!("  {name:16} {}\n", super::find(name)?.description);
        }
        text.push('\n');
    }
    text += "`wrun profile show NAME` prints one, to be used as it is or as the beginning of your own.\n";
    Ok(text)
}

/// The whole of a profile.
pub fn show(name: &str) -> Result<String> {
    Ok(super::find(name)?.effective)
}

/// That a file, or one of wrun's own, is a profile.
pub fn check(name: &str) -> Result<String> {
    let loaded = super::find(name)?;
    let rules = match loaded.profile.rules.len() {
        0 => "no rule".to_owned(),
        1 => "a rule".to_owned(),
        many => format!("{many} rules"),
    };
    let name = &loaded.profile.name;
    Ok(format!("{} is good: the profile {}, {rules}\n", printable(&loaded.origin), printable(name)))
}
