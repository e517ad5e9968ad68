//! Folders, variables and arguments: a guest has those that it was given.

use crate::support::{guest, run, wrun};

#[test]
fn a_guest_sees_its_arguments_and_the_variables_it_was_given() {
    let given = run(wrun()
        .env("WRUN_TEST_OWN", "own")
        .env("WRUN_TEST_SECRET", "secret")
        .args(["-q", "--env", "A=1=2", "--env", "WRUN_TEST_OWN"])
        .arg(guest("env"))
        .args(["--", "one", "two words"]));
    assert_eq!(given.code, 0, "{}", given.stderr);
    for line in ["argument one", "argument two words", "environment A=1=2", "environment WRUN_TEST_OWN=own"] {
        assert!(given.stdout.contains(line), "{line} is not in:\n{}", given.stdout);
    }
    assert!(!given.stdout.contains("secret"));
}

#[test]
fn a_guest_writes_to_a_folder_it_was_given_unless_that_is_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let write = |suffix: &str| {
        let dir = format!("{}::/data{suffix}", folder.path().display());
        let args = ["--", "--write", "/data/file", "by the guest"];
        run(wrun().args(["-q", "--dir", &dir]).arg(guest("env")).args(args)).stdout
    };
    let refused = write(":ro");
    assert!(refused.contains("write /data/file -> not-permitted"), "{refused}");
    assert!(!file.exists());
    let accepted = write("");
    assert!(accepted.contains("write /data/file -> ok"), "{accepted}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "by the guest");
    // Nor is what is there already overwritten, nor cut.
    std::fs::write(&file, "by the user").unwrap();
    assert!(!write(":ro").contains("-> ok"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "by the user");
}

#[test]
fn a_guest_reads_the_folder_it_was_given_and_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("inner")).unwrap();
    std::fs::write(folder.path().join("inner/file"), "the content").unwrap();
    std::fs::write(folder.path().join("outside"), "not for it").unwrap();
    let inner = folder.path().join("inner").display().to_string();
    let read =
        |dir: &str, path: &str| run(wrun().args(["-q", "--dir", dir]).arg(guest("env")).args(["--", "--read", path]));
    for (dir, path) in [
        (inner.clone(), format!("{inner}/file")),
        (format!("{inner}::/data"), "/data/file".into()),
        (format!("{inner}::/data:ro"), "/data/file".into()),
    ] {
        let read = read(&dir, &path);
        assert!(read.stdout.contains("the content"), "{dir}: {}{}", read.stdout, read.stderr);
    }
    for path in ["/data/../outside", "/data/missing", "/etc/hostname"] {
        let read = read(&format!("{inner}::/data:ro"), path);
        assert_eq!(read.code, 1, "{path}: {}", read.stdout);
        assert!(!read.stdout.contains("not for it"));
    }
}
