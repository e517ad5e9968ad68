//! What the runs were, what they are called, and what they differ in beside their figures.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use super::Run;
use super::data::{Difference, RunFacts};
use super::gather::Named;
use super::ports;
use crate::report::Report;
use crate::report::data::Profile;

/// How a difference is called that is only in where a peer of this machine listened.
pub const PORTS: &str = "loopback ports, taken as equal";

pub fn facts(runs: &[Run]) -> Vec<RunFacts> {
    let labels = distinct(runs.iter().map(|run| run.label.clone()).collect());
    let fact = |(run, label): (&Run, String)| {
        let Report { header, complete, outcome, warnings, .. } = &run.report;
        RunFacts {
            label,
            guest: header.guest.clone(),
            arguments: header.arguments.clone(),
            backend: header.backend.name.clone(),
            settings: header.backend.settings.clone(),
            seed: header.seed,
            complete: *complete,
            outcome: outcome.words.clone(),
            warnings: warnings.iter().map(|warning| warning.words.clone()).collect(),
        }
    };
    runs.iter().zip(labels).map(fact).collect()
}

/// What reports are called that were read from files: their backends, with the profile if there is one, or the names of
/// their files where that does not tell them apart.
pub fn labels(reports: &[(&Path, &Report)]) -> Vec<String> {
    let backends: Vec<String> = reports.iter().map(|(_, report)| backend(report)).collect();
    let names: Vec<String> = reports
        .iter()
        .map(|(path, _)| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned())
        .collect();
    let paths: Vec<String> = reports.iter().map(|(path, _)| path.display().to_string()).collect();
    [backends, names].into_iter().find(|labels| all_differ(labels)).unwrap_or(paths)
}

fn backend(report: &Report) -> String {
    let backend = &report.header.backend;
    let Some(profile) = backend.settings.get("profile") else { return backend.name.clone() };
    match backend.name.strip_suffix("+throttled") {
        // As a run is called that was asked for with --backend throttled.
        Some("native") => format!("throttled {profile}"),
        Some(inner) => format!("{inner} throttled {profile}"),
        None => format!("{} {profile}", backend.name),
    }
}

fn all_differ(labels: &[String]) -> bool {
    labels.iter().collect::<HashSet<_>>().len() == labels.len()
}

/// The same labels with a number behind those that were there before.
fn distinct(labels: Vec<String>) -> Vec<String> {
    let mut given: HashSet<String> = HashSet::new();
    let one = |label: String| {
        let numbered = (2u64..).map(|number| format!("{label} ({number})"));
        // There are more numbers than labels.
        let free = std::iter::once(label.clone()).chain(numbered).find(|name| !given.contains(name)).unwrap_or(label);
        given.insert(free.clone());
        free
    };
    labels.into_iter().map(one).collect()
}

/// What two runs differ in; what is decisive comes first.
pub fn differences(base: &Report, other: &Report, base_names: &[Named], names: &[Named]) -> Vec<Difference> {
    let (a, b) = (&base.header, &other.header);
    let mut found = Vec::new();
    let mut note = |what: &str, base: String, other: String, decisive: bool| {
        if base != other {
            found.push(Difference { what: what.to_owned(), base, other, decisive });
        }
    };
    if a.guest.sha256 != b.guest.sha256 {
        let guest = |guest: &crate::report::data::Guest| {
            let digest: String = guest.sha256.chars().take(12).collect();
            format!("{} ({digest})", guest.name)
        };
        note("guest", guest(&a.guest), guest(&b.guest), true);
    }
    let told = if ports::alike(&a.arguments, &b.arguments) { (PORTS, false) } else { ("arguments", true) };
    note(told.0, arguments(&a.arguments), arguments(&b.arguments), told.1);
    // Of a run that was cut short, names may be missing for no other reason.
    let whole = base.complete && other.complete;
    note("sample names", only(base_names, names), only(names, base_names), whole);
    note("backend", a.backend.name.clone(), b.backend.name.clone(), false);
    for (name, before, after) in settings(&a.backend.settings, &b.backend.settings) {
        note(name, before, after, false);
    }
    let profile = |profile: Profile| if profile == Profile::Debug { "debug build" } else { "release build" };
    note("build", profile(a.wrun.profile).to_owned(), profile(b.wrun.profile).to_owned(), false);
    note("wrun", a.wrun.version.clone(), b.wrun.version.clone(), false);
    let machine = |machine: &crate::report::data::Machine| {
        let pinned = machine.pinned.as_ref().map_or_else(String::new, |cores| format!(", pinned to {cores:?}"));
        format!("{} {}, {}, cores: {}{pinned}", machine.os, machine.kernel, machine.arch, machine.cores)
    };
    note("machine", machine(&a.machine), machine(&b.machine), false);
    found
}

/// As a shell would be given them.
fn arguments(arguments: &[String]) -> String {
    let quoted = |argument: &String| {
        let plain = !argument.is_empty() && !argument.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
        if plain { argument.clone() } else { format!("{argument:?}") }
    };
    arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The names that only the first of two runs has, as far as they can be told in a sentence.
fn only(names: &[Named], others: &[Named]) -> String {
    const MOST: usize = 5;
    let others: HashSet<&str> = others.iter().map(|named| &*named.name).collect();
    let only: Vec<&str> = names.iter().map(|named| &*named.name).filter(|name| !others.contains(name)).collect();
    let more = if only.len() > MOST { format!(" and {} more", only.len() - MOST) } else { String::new() };
    match only.len() {
        0 => "no other".to_owned(),
        _ => format!("only here: {}{more}", only[..only.len().min(MOST)].join(", ")),
    }
}

fn settings<'a>(
    base: &'a BTreeMap<String, String>,
    other: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = (&'a str, String, String)> {
    let keys: BTreeSet<&String> = base.keys().chain(other.keys()).collect();
    let value = |of: &BTreeMap<String, String>, key: &String| of.get(key).map_or("–", String::as_str).to_owned();
    keys.into_iter().map(move |key| (key.as_str(), value(base, key), value(other, key)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::story;

    #[test]
    fn runs_are_called_by_their_sockets_or_else_by_their_files() {
        let (native, mut board) = (story(), story());
        board.header.backend.name = "native+throttled".to_owned();
        board.header.backend.settings.insert("profile".to_owned(), "hpux70".to_owned());
        let (a, b, other) = (Path::new("x/a.json"), Path::new("x/b.json"), Path::new("y/a.json"));
        assert_eq!(labels(&[(a, &native), (b, &board)]), ["native", "throttled hpux70"]);
        let mut device = board.clone();
        device.header.backend.name = "device+throttled".to_owned();
        assert_eq!(labels(&[(a, &board), (b, &device)]), ["throttled hpux70", "device throttled hpux70"]);
        assert_eq!(labels(&[(a, &native), (b, &native)]), ["a.json", "b.json"]);
        assert_eq!(labels(&[(a, &native), (other, &native)]), ["x/a.json", "y/a.json"]);
    }

    #[test]
    fn arguments_that_look_alike_still_differ() {
        let of =
            |arguments: &[&str]| super::arguments(&arguments.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["a", "b c", ""]), r#"a "b c" """#);
        assert_ne!(of(&["a b"]), of(&["a", "b"]));
        assert_ne!(of(&["\"a b\""]), of(&["a b"]));
    }

    #[test]
    fn labels_that_are_alike_are_numbered() {
        let labels = ["a", "b", "a", "a (2)", "a"].map(str::to_owned).to_vec();
        assert_eq!(distinct(labels), ["a", "b", "a (2)", "a (2) (2)", "a (3)"]);
    }
}
