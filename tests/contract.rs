//! The WIT of this repository says what the standard says.

use std::path::PathBuf;
use std::process::Command;

use crate::support::root;

/// The folder of the WIT that the wasmtime-wasi crate ships.
fn shipped() -> PathBuf {
    let rustc = Command::new("rustc").arg("-vV").output().unwrap().stdout;
    let rustc = String::from_utf8(rustc).unwrap();
    // Without the others' platforms, whose crates are not downloaded here.
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "wasmtime-wasi").unwrap();
    PathBuf::from(package["manifest_path"].as_str().unwrap()).parent().unwrap().join("src/p2/wit/deps")
}

/// The interfaces of a WIT file: name and signatures, without comments, feature gates of stable items and layout.
fn interfaces(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let is_noise = |line: &str| line.is_empty() || line.starts_with("//") || line.starts_with("@since(version");
    let lines = text.lines().map(str::trim).filter(|line| !is_noise(line));
    let bare = lines.collect::<Vec<_>>().join("\n");
    for part in bare.split("\ninterface ").skip(1) {
        let name = part.split([' ', '{']).next().unwrap().to_owned();
        let mut depth = 0;
        let end = part.char_indices().find_map(|(at, c)| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            (c == '}' && depth == 0).then_some(at)
        });
        found.push((name, part[..=end.unwrap()].to_owned()));
    }
    found
}

#[test]
fn every_wasi_interface_here_is_the_one_that_the_engine_ships() {
    let shipped = shipped();
    let mut compared = 0;
    for file in ["io.wit", "clocks.wit", "sockets.wit"] {
        let read = |folder: PathBuf| std::fs::read_to_string(folder.join(file)).unwrap();
        let (ours, theirs) = (read(root().join("wit/deps")), read(shipped.clone()));
        assert_eq!(ours.lines().next(), theirs.lines().next(), "the package and its version in {file}");
        let theirs = interfaces(&theirs);
        for (name, signatures) in interfaces(&ours) {
            let theirs = theirs.iter().find(|(their_name, _)| *their_name == name);
            assert_eq!(Some(&signatures), theirs.map(|(_, signatures)| signatures), "{file}, interface {name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 11);
}

#[test]
fn every_guest_folder_is_named_by_a_test() {
    let folder = root().join("tests");
    let tests: String = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.unwrap().path()).ok())
        .collect();
    let probes = std::fs::read_dir(root().join("guests/probes/src/bin")).unwrap();
    let guests = std::fs::read_dir(root().join("guests")).unwrap().filter(|entry| {
        let path = entry.as_ref().unwrap().path();
        path.join("src/main.rs").exists()
    });
    for entry in probes.chain(guests) {
        let name = entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(tests.contains(&format!("\"{name}\"")), "no test names the guest {name}");
    }
}
