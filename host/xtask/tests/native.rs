//! The bench's native programs, each run against its server as the bench runs it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

const NATIVE: &str = env!("CARGO_BIN_EXE_native");

/// A server that ends when its stdin is dropped.
fn server(arguments: &[&str]) -> (Child, String) {
    let mut child = Command::new(NATIVE)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program that cargo has built");
    let mut address = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut address).expect("a line");
    (child, address.trim_end().to_owned())
}

/// What a client says, if it succeeds.
fn client(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(NATIVE).args(arguments).output().expect("the program that cargo has built");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

#[test]
fn every_client_says_its_figures_and_every_server_ends_with_its_stdin() {
    for (serve, run, said) in [
        (&["echo-server", "tcp"][..], &["echo", "tcp", "ADDRESS", "100"][..], "p50_ns="),
        (&["echo-server", "udp"], &["echo", "udp", "ADDRESS", "100"], "p50_ns="),
        (&["sink"], &["bulk", "ADDRESS", "1000003"], "total_ns="),
        (&["echo-server", "tcp"], &["many", "ADDRESS", "200"], "total_ns="),
    ] {
        let (mut child, address) = server(serve);
        let run: Vec<&str> = run.iter().map(|word| if *word == "ADDRESS" { &address } else { *word }).collect();
        let answer = client(&run).unwrap();
        assert!(answer.starts_with(said), "{run:?}: {answer}");
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success(), "{serve:?}");
    }
}

#[test]
fn watch_gives_the_time_and_memory_of_another_program_and_passes_its_failure_on() {
    let said = client(&["watch", NATIVE, "nothing"]).unwrap();
    let peak = said.trim_end().split_once("peak_bytes=").and_then(|(_, peak)| peak.parse::<u64>().ok());
    assert!(said.starts_with("total_ns=") && peak.is_some_and(|peak| peak > 100_000), "{said}");
    let error = client(&["watch", NATIVE, "no-such-task"]).unwrap_err();
    assert!(error.contains("failed") && error.contains("write one of"), "{error}");
}
