//! `--verify` passes no wrong value: of another key, of another run, changed, or too old.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::peer::{Asked, Server, value_of};
use super::ten;
use crate::support::errors;

/// Changes a key's value; it is told another key's.
type Change = fn(&mut Vec<u8>, &[u8]);

#[test]
fn a_value_that_is_swapped_cut_or_changed_by_one_bit_does_not_pass_verify() {
    let changes: [(&str, Change); 5] = [
        ("another key's value", |value, other| *value = other.to_vec()),
        ("its first half", |value, _| value.truncate(50)),
        ("a byte more", |value, _| value.push(0)),
        ("one bit", |value, _| value[57] ^= 1),
        ("another version's beginning", |value, _| value[0] ^= 1),
    ];
    for (what, change) in changes {
        let server = Server::cache(move |store, asked, right| {
            let Asked::Get(key) = asked else { return Some(right) };
            let store = store.lock().unwrap();
            let (flags, mut value) = store[key].clone();
            let (_, (_, other)) = store.iter().find(|(other, _)| *other != key).unwrap();
            change(&mut value, other);
            Some(value_of(key, &flags, &value))
        });
        let reported = ten(&server.address(), &["--verify", "--preload"]);
        assert_eq!(reported.code, 1, "{what}");
        let counters = &reported.report["counters"];
        assert_eq!((&counters["hits"], &counters["errors"]), (&0.into(), &6.into()), "{what}: {}", reported.stderr);
        // The answers were well formed: the connections are as they were.
        assert_eq!(server.connections(), 2, "{what}");
    }
}

#[test]
fn what_an_earlier_run_with_the_same_seed_wrote_does_not_pass_verify() {
    let runs = Arc::new(AtomicUsize::new(0));
    let later = runs.clone();
    // From the second run on it says that it stores, and does not.
    let server = Server::cache_that_stores(move || later.load(Ordering::SeqCst) == 0);
    for failures in [0, 6] {
        let reported = ten(&server.address(), &["--verify", "--preload", "--connections", "1"]);
        assert_eq!(reported.report["counters"]["errors"], failures, "{}", reported.stderr);
        assert_eq!(reported.code == 0, failures == 0);
        runs.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_server_that_ignores_all_writes_after_the_preload_does_not_pass_verify() {
    const KEYS: usize = 5;
    for more in [&["--connections", "1"][..], &["--connections", "4", "--pipeline", "5"]] {
        let stored = AtomicUsize::new(0);
        let server = Server::cache_that_stores(move || stored.fetch_add(1, Ordering::SeqCst) < KEYS);
        let usual = ["--verify", "--preload", "--reads", "500", "--writes", "500"];
        let reported = ten(&server.address(), &[&usual[..], more].concat());
        assert_eq!(reported.code, 1, "{more:?}");
        let errors = errors(&reported.report);
        let old = errors.iter().flatten().filter(|error| error.contains("an old value: write ")).count();
        assert_eq!(reported.report["counters"]["errors"], old, "{more:?}: {}", reported.stderr);
        // Each key's reads until it is first written may see the preload; and with others' writes in flight more may.
        assert!(old > 100, "{more:?}: only {old} of 500");
    }
}
