//! Every stack meets every claim: a row a stack.

use std::io::{self, Write as _};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::coop::unconstrained;
use wrun_net::Backend;
use wrun_net::conformance::{Claim, claims};
use wrun_net::memory::Memory;
use wrun_net::metered::{Call, Log, Lookup, Meter, Metered, Tape};
use wrun_net::native::Native;
use wrun_net::shape::Profile;
use wrun_net::shape::profile::{Delay, Effects, Match, Path, Regime, Rule};
use wrun_net::throttled::{Precision, Throttled};

/// Only ends what hangs; no claim is about time.
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn native_meets_every_claim() {
    meets_every_claim("native", || Arc::new(Native::new()));
}

#[test]
fn memory_meets_every_claim() {
    meets_every_claim("memory", || Arc::new(Memory::new()));
}

#[test]
fn metered_native_meets_every_claim() {
    meets_every_claim("metered native", || Arc::new(Metered::new(Arc::new(Native::new()), Tape::new(Arc::new(Quiet)))));
}

#[test]
fn metered_memory_meets_every_claim() {
    meets_every_claim("metered memory", || Arc::new(Metered::new(Arc::new(Memory::new()), Tape::new(Arc::new(Quiet)))));
}

#[test]
fn memory_metered_call_by_call_meets_every_claim() {
    meets_every_claim("traced memory", || Arc::new(Metered::new(Arc::new(Memory::new()), Tape::new(Arc::new(Nosy)))));
}

#[test]
fn native_throttled_by_nothing_meets_every_claim() {
    meets_every_claim("native, empty profile", || {
        Throttled::new(Arc::new(Native::new()), Profile::default(), SEED, Precision::Fine)
    });
}

#[test]
fn memory_throttled_by_nothing_meets_every_claim() {
    meets_every_claim("memory, empty profile", || {
        Throttled::new(Arc::new(Memory::new()), Profile::default(), SEED, Precision::Coarse)
    });
}

#[test]
fn native_throttled_meets_every_claim_that_is_not_about_now() {
    meets_claims("native, a millisecond away", TOO_EARLY, || {
        Throttled::new(Arc::new(Native::new()), a_millisecond_away(), SEED, Precision::Fine)
    });
}

#[test]
fn memory_throttled_on_a_paused_clock_meets_every_claim_that_is_not_about_now() {
    let stack = "memory, a millisecond away";
    let mut failures = Vec::new();
    for claim in claims().iter().filter(|claim| !TOO_EARLY.contains(&claim.name)) {
        let (done, outcome) = mpsc::channel();
        // A paused clock jumps ahead whenever all wait for another thread, so it is not what ends a claim that hangs.
        thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime");
            let memory = Arc::new(Memory::new());
            let verdict = runtime.block_on(unconstrained(async {
                claim.check(Throttled::new(memory, a_millisecond_away(), SEED, Precision::Coarse)).await
            }));
            let _ = done.send(verdict);
        });
        let verdict = outcome.recv_timeout(LIMIT).unwrap_or_else(|_| Err("it hangs, or panicked".to_owned()));
        failures.extend(verdict.err().map(|reason| format!("{stack}: \"{}\" is false: {reason}", claim.name)));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

const SEED: u64 = 1;

/// What cannot be true where everything takes a while: that a socket without the option may not broadcast is only known
/// where a datagram leaves, which is after its send was answered; and what was sent to a group before somebody joined it
/// arrives after.
const TOO_EARLY: &[&str] = &[
    "a broadcast needs the option, and reaches all",
    "a group is heard between join and leave",
    "a group is heard at its own address, and nothing else is",
];

/// A millisecond each way, give or take half of it.
fn a_millisecond_away() -> Profile {
    let (base, jitter) = (Duration::from_millis(1), Duration::from_micros(500));
    let path = Path { delay: Delay { base, jitter, ..Delay::default() }, ..Path::default() };
    let effects = Effects { up: path.clone(), down: path, ..Effects::default() };
    let regimes = vec![Regime { lasts: Duration::from_secs(1), effects }];
    let rule = Rule { name: "all".to_owned(), matches: Match::default(), regimes };
    Profile { name: "near".to_owned(), rules: vec![rule], ..Profile::default() }
}

fn meets_every_claim(stack: &str, make: impl Fn() -> Arc<dyn Backend>) {
    meets_claims(stack, &[], make);
}

/// But for those that are left out.
fn meets_claims(stack: &str, left_out: &[&str], make: impl Fn() -> Arc<dyn Backend>) {
    let mut failures = Vec::new();
    for claim in claims().iter().filter(|claim| !left_out.contains(&claim.name)) {
        let runtime = runtime();
        let backend = runtime.block_on(async { make() });
        if let Some(reason) = claim.excluded(&backend.capabilities()) {
            // Not by `eprintln!`, which the test harness keeps to itself when all is well.
            let _ = writeln!(io::stderr(), "{stack}: skipped \"{}\": {reason}", claim.name);
            continue;
        }
        if let Err(reason) = runtime.block_on(unconstrained(checked(claim, backend))) {
            failures.push(format!("{stack}: \"{}\" is false: {reason}", claim.name));
        }
        // A lookup may still be busy on its thread, and nobody waits for it.
        runtime.shutdown_background();
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

async fn checked(claim: &Claim, backend: Arc<dyn Backend>) -> Result<(), String> {
    let checked = tokio::time::timeout(LIMIT, claim.check(backend)).await;
    checked.unwrap_or_else(|_| Err(format!("it hangs: it was not settled after {LIMIT:?}")))
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime can be built")
}

/// A log that wants nothing.
struct Quiet;

impl Log for Quiet {
    fn socket(&self, _meter: Arc<Meter>) {}

    fn lookup(&self, _lookup: Lookup) {}
}

/// A log that wants every call.
struct Nosy;

impl Log for Nosy {
    fn socket(&self, _meter: Arc<Meter>) {}

    fn lookup(&self, _lookup: Lookup) {}

    fn wants_calls(&self) -> bool {
        true
    }

    fn call(&self, call: &Call) {
        assert!(!call.name.is_empty());
    }
}
