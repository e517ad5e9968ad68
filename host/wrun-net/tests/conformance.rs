//! Every stack meets every claim: a row a stack.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::coop::unconstrained;
use wrun_net::Backend;
use wrun_net::conformance::{Claim, claims};
use wrun_net::memory::Memory;
use wrun_net::metered::{Call, Log, Lookup, Meter, Metered, Tape};
use wrun_net::native::Native;

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

fn meets_every_claim(stack: &str, make: impl Fn() -> Arc<dyn Backend>) {
    let mut failures = Vec::new();
    for claim in claims() {
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
