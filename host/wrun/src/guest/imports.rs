//! What wrun provides to a guest, by name: for saying beforehand, and whole, what a guest lacks.

/// The track of WASI that is provided. Within it, a guest built for an older or newer release fits.
const WASI: &str = "0.2.";

/// The newest release on that track that is provided.
pub const NEWEST: &str = "0.2.12";

/// The track of `wrun:net`.
const WRUN: &str = "0.1.";

const PROVIDED: &[(&str, &str, &[&str])] = &[
    ("wasi:io", WASI, &["error", "poll", "streams"]),
    ("wasi:clocks", WASI, &["monotonic-clock", "wall-clock"]),
    ("wasi:filesystem", WASI, &["preopens", "types"]),
    ("wasi:random", WASI, &["random", "insecure", "insecure-seed"]),
    (
        "wasi:cli",
        WASI,
        &[
            "environment",
            "exit",
            "stdin",
            "stdout",
            "stderr",
            "terminal-input",
            "terminal-output",
            "terminal-stdin",
            "terminal-stdout",
            "terminal-stderr",
        ],
    ),
    (
        "wasi:sockets",
        WASI,
        &["network", "instance-network", "ip-name-lookup", "tcp", "tcp-create-socket", "udp", "udp-create-socket"],
    ),
    ("wrun:net", WRUN, &["options", "timing"]),
];

/// An import or export of a guest, taken apart: `package/interface@version`.
struct Name<'a> {
    package: &'a str,
    interface: &'a str,
    version: &'a str,
}

fn parse(name: &str) -> Option<Name<'_>> {
    let (path, version) = name.split_once('@')?;
    let (package, interface) = path.split_once('/')?;
    Some(Name { package, interface, version })
}

/// Whether wrun provides an import of this name.
pub fn provided(import: &str) -> bool {
    parse(import).is_some_and(|name| {
        PROVIDED.iter().any(|(package, track, interfaces)| {
            name.package == *package && name.version.starts_with(track) && interfaces.contains(&name.interface)
        })
    })
}

/// The version of WASI whose command this export is, if it is one.
pub fn command_version(export: &str) -> Option<&str> {
    let name = parse(export)?;
    (name.package == "wasi:cli" && name.interface == "run").then_some(name.version)
}

/// Whether wrun runs commands of this version.
pub fn runs(version: &str) -> bool {
    version.starts_with(WASI)
}

#[cfg(test)]
pub fn all_provided() -> impl Iterator<Item = String> {
    PROVIDED.iter().flat_map(|(package, track, interfaces)| {
        interfaces.iter().map(move |interface| format!("{package}/{interface}@{track}0"))
    })
}
