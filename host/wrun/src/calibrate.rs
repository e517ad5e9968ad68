//! What wrun itself costs, measured in the same process and shown beside the results: a call from a guest into the
//! host and back, and the measuring of a socket call.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Error, Result, Store};
use wrun_net::backend::{Backend, Family, TcpStream};
use wrun_net::memory::Memory;
use wrun_net::metered::{Log, Lookup, Meter, Metered, Tape};

use crate::report::data::Calibration;

/// Calls per round, and rounds: enough that one reading of the clock does not count, and under two milliseconds.
const CALLS: u32 = 1000;
const ROUNDS: usize = 5;

/// A guest that calls the host as often as it is told.
const CALLER: &str = r#"(component
  (import "tick" (func $tick))
  (core func $tick-core (canon lower (func $tick)))
  (core module $m
    (import "host" "tick" (func $tick))
    (func (export "run") (param $n i32)
      (loop $next
        (call $tick)
        (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))
  (core instance $i (instantiate $m (with "host" (instance (export "tick" (func $tick-core))))))
  (func (export "run") (param "times" u32) (canon lift (core func $i "run"))))"#;

/// Measures, by the clock of `tape`.
pub async fn calibrate(engine: &Engine, tape: &Tape) -> Result<Calibration> {
    let crossing = crossing(engine, tape).await?;
    let metering = metering(tape).await?;
    let nanoseconds = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Ok(Calibration {
        crossing_ns: nanoseconds(crossing),
        metering_ns: nanoseconds(metering),
        rounds: ROUNDS as u64 * u64::from(CALLS),
    })
}

/// The time of one call, as the median of the rounds.
fn median(mut rounds: Vec<Duration>) -> Duration {
    rounds.sort();
    rounds.get(rounds.len() / 2).copied().unwrap_or_default() / CALLS
}

async fn crossing(engine: &Engine, tape: &Tape) -> Result<Duration> {
    let component = Component::new(engine, CALLER)?;
    let mut linker = Linker::<()>::new(engine);
    linker.root().func_wrap("tick", |_, ()| Ok(()))?;
    let mut store = Store::new(engine, ());
    store.set_epoch_deadline(u64::MAX / 2);
    let instance = linker.instantiate_async(&mut store, &component).await?;
    let run = instance.get_typed_func::<(u32,), ()>(&mut store, "run")?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let start = tape.now();
        run.call_async(&mut store, (CALLS,)).await?;
        rounds.push(tape.now() - start);
    }
    Ok(median(rounds))
}

/// What measuring adds to a call: the same writes and reads on an in-process connection, with and without.
async fn metering(tape: &Tape) -> Result<Duration> {
    struct Nobody;
    impl Log for Nobody {
        fn socket(&self, _: Arc<Meter>) {}
        fn lookup(&self, _: Lookup) {}
    }
    let bare = round_trips(Arc::new(Memory::new()), tape).await?;
    let metered = Metered::new(Arc::new(Memory::new()), Tape::new(Arc::new(Nobody)));
    let measured = round_trips(Arc::new(metered), tape).await?;
    // Each of these has a write and a read.
    Ok(measured.saturating_sub(bare) / 2)
}

async fn round_trips(backend: Arc<dyn Backend>, tape: &Tape) -> Result<Duration> {
    let (near, far) = pair(&*backend).await.map_err(Error::new)?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let start = tape.now();
        for _ in 0..CALLS {
            near.try_write(&[1]).map_err(Error::new)?;
            far.try_read(&mut [0]).map_err(Error::new)?;
        }
        rounds.push(tape.now() - start);
    }
    Ok(median(rounds))
}

async fn pair(backend: &dyn Backend) -> wrun_net::Result<(Arc<dyn TcpStream>, Arc<dyn TcpStream>)> {
    let socket = backend.tcp(Family::V4)?;
    let address = socket.bind(([127, 0, 0, 1], 0).into()).await?;
    let listener = socket.listen(1).await?;
    let near = backend.tcp(Family::V4)?.connect(address).await?;
    std::future::poll_fn(|cx| listener.poll_accept_ready(cx)).await;
    Ok((near, listener.try_accept()?))
}
