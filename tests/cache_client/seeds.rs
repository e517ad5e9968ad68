//! What a seed decides.

use std::sync::{Arc, Mutex};

use super::client;
use super::peer::{Asked, Server};

/// What a run with a seed asks a server for, in order.
fn asked(seed: &str) -> Vec<String> {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = asked.clone();
    let server = Server::cache(move |_, asked, right| {
        heard.lock().unwrap().push(match asked {
            Asked::Get(key) => format!("get {key}"),
            Asked::Set(key) => format!("set {key}"),
        });
        Some(right)
    });
    let args = ["--servers", &server.address(), "--reads", "200", "--writes", "200", "--mode", "one-at-a-time"];
    let reported = client(&[&args[..], &["--seed", seed]].concat());
    assert_eq!(reported.code, 0, "{}", reported.stderr);
    let mut asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 400);
    std::mem::take(&mut asked)
}

#[test]
fn two_runs_with_one_seed_ask_for_the_same_keys_in_the_same_order() {
    let [first, again, other] = ["7", "7", "8"].map(asked);
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert!(first.iter().any(|asked| *asked != first[0]), "{}", first[0]);
}
