//! Profiles from outside: listing, showing and checking them.

use std::path::Path;

use crate::support::{Finished, guest, root, run, wrun};

fn profile(args: &[&str]) -> Finished {
    run(wrun().arg("profile").args(args))
}

/// The names that the list has.
fn names() -> Vec<String> {
    let listed = profile(&["list"]);
    assert_eq!((listed.code, &*listed.stderr), (0, ""));
    let lines = listed.stdout.lines().filter_map(|line| line.strip_prefix("  "));
    lines.map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

#[test]
fn what_is_shown_of_each_listed_profile_is_a_good_file_that_shows_the_same() {
    let names = names();
    assert!(names.len() > 15, "{names:?}");
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        let shown = profile(&["show", &name]);
        assert_eq!((shown.code, &*shown.stderr), (0, ""), "{name}");
        let file = folder.path().join("copy.toml");
        std::fs::write(&file, &shown.stdout).unwrap();
        let file = file.to_str().unwrap();
        let checked = profile(&["check", file]);
        assert_eq!(checked.code, 0, "{name}: {}", checked.stderr);
        assert!(checked.stdout.starts_with(&format!("{file} is good: the profile {name}, ")), "{}", checked.stdout);
        let of_the_name = profile(&["check", &name]);
        assert_eq!(of_the_name.stdout, checked.stdout.replacen(file, &name, 1), "{}", of_the_name.stderr);
        assert_eq!(profile(&["show", file]).stdout, shown.stdout, "{name}");
    }
}

#[test]
fn a_file_that_is_no_good_profile_is_refused_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("slow.toml", b"description = \"slow\"\n\n[up]\ndelay = \"50 ms\"\njitter = \"80 ms\"\nrate = \"12 mbps\"\n");
    write("typo.toml", b"[down]\nlos = \"1 %\"\n");
    write("latin.toml", b"name = \"caf\xe9\"\n");
    write("large.toml", "# much\n".repeat(200_000).as_bytes());
    write("escape.toml", b"name = \"\x1b]0;owned\x07\"\n");
    std::fs::create_dir(folder.path().join("folder.toml")).unwrap();
    let mut said = String::new();
    for name in ["slow", "typo", "latin", "large", "escape", "folder", "missing"] {
        let file = format!("{name}.toml");
        for command in ["check", "show"] {
            let refused = run(wrun().current_dir(&folder).args(["profile", command, &file]));
            assert_eq!((refused.code, &*refused.stdout), (2, ""), "{command} {file}");
            assert!(!refused.stderr.contains('\u{1b}'), "{command} {file}");
            if command == "check" {
                said += &format!("$ wrun profile check {file}\n{}\n", refused.stderr);
            }
        }
    }
    insta::assert_snapshot!(said);
}

#[test]
fn the_profile_in_the_readme_works_as_it_stands_there() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = readme.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let profiles: Vec<&str> = blocks.filter(|block| block.contains("rtt = ")).collect();
    let [text] = profiles[..] else { panic!("{} profiles in the README", profiles.len()) };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("readme.toml");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let checked = profile(&["check", file]);
    assert_eq!((checked.code, &*checked.stderr), (0, ""));
    let ran = run(wrun().args(["-q", "--backend", "throttled", "--profile", file]).arg(guest("nothing")));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn an_unknown_profile_is_refused_with_the_near_name() {
    let refused = profile(&["show", "netmf3-bord"]);
    assert_eq!((refused.code, &*refused.stdout), (2, ""));
    insta::assert_snapshot!(refused.stderr);
}

#[test]
fn a_file_named_as_a_preset_is_meant_only_where_it_is_written_as_a_path() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("3g"), "description = \"mine\"").unwrap();
    std::fs::write(folder.path().join("mine"), "description = \"mine\"").unwrap();
    let show = |name: &str| run(wrun().current_dir(&folder).args(["profile", "show", name]));
    assert!(!show("3g").stdout.contains("\"mine\""));
    assert!(show("./3g").stdout.contains("\"mine\""));
    let refused = show("mine");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("./mine"), "{}", refused.stderr);
}

#[test]
fn a_trace_is_looked_for_beside_its_profile() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lte.trace"), "1\n2\n5\n").unwrap();
    let file = folder.path().join("traced.toml");
    std::fs::write(&file, "[down]\ntrace = \"lte.trace\"\n").unwrap();
    // From a folder that does not have it.
    let shown = run(wrun().current_dir(Path::new("/")).args(["profile", "show"]).arg(&file));
    assert!(shown.stdout.contains("trace = [1, 2, 5]"), "{}{}", shown.stdout, shown.stderr);
}
