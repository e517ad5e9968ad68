//! The profiles that come with wrun.

use crate::near;

/// A profile by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    /// As in a file.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        &[$(Preset { name: $name, text: include_str!(concat!("../../profiles/", $name, ".toml")) }),*]
    };
}

/// What links are like, the better ones first.
pub const NETWORKS: &[Preset] = presets![
    "none",
    "lan",
    "wifi",
    "wifi-lossy",
    "dsl",
    "lte",
    "4g",
    "3g",
    "3g-lossy",
    "edge",
    "satellite",
    "flaky",
    "offline",
];

/// What boards are like.
pub const BOARDS: &[Preset] =
    presets!["netmf3-emulator", "netmf3-board", "netmf4-board", "netmf-lwip", "hpux70", "nagle-200ms"];

pub fn all() -> impl Iterator<Item = Preset> {
    NETWORKS.iter().chain(BOARDS).copied()
}

/// The preset of that name, or words about the nearest.
pub fn find(name: &str) -> Result<Preset, String> {
    all().find(|preset| preset.name == name).ok_or_else(|| near::did_you_mean(name, all().map(|preset| preset.name)))
}
