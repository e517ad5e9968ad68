//! A guest: loading it, and running it once.
//!
//! [`load`] makes a component of a file, [`cache`] keeps the compiled form, [`imports`] knows what wrun provides,
//! [`limits`] holds the memory bound, [`clock`] is a coarse clock. This file has the engine, the linker and the run itself.
//!
//! What is left out: who ends a run early, and what becomes of its measurements. That is [`crate::run`].

pub mod cache;
mod clock;
pub mod imports;
pub mod limits;
pub mod load;

use std::time::Duration;

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, HasData, Linker, ResourceTable, Type};
use wasmtime::{Config, Engine, Result, Store, UpdateDeadline, WasmBacktraceDetails, ensure};
use wasmtime_wasi::p2::bindings::CommandPre;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

use crate::plan::Folder;
use crate::wasi::poll::{Poll, PollView};
use crate::wasi::{HasSockets, RigFailure, Sockets, View};
use clock::Ticking;
use limits::{Limits, MemoryExceeded};

/// How often a guest that does not wait is asked whether it should go on.
const TICK: Duration = Duration::from_millis(10);

/// Handles that a guest may have at once, of all kinds: each is some of the host's memory.
const MAX_HANDLES: usize = 200_000;

/// What a guest gets beside its sockets.
#[derive(Debug)]
pub struct Surroundings<'a> {
    pub args: &'a [String],
    pub env: &'a [(String, String)],
    pub folders: &'a [Folder],
    /// Bytes.
    pub max_memory: usize,
    /// Where the guest's standard output goes: with true to standard error.
    pub stdout_to_stderr: bool,
    /// The step of its clocks, where they are coarse.
    pub tick: Option<Duration>,
}

/// How a guest came to its end by itself.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    Success,
    /// It said that it failed, perhaps with a code.
    Failure(Option<i32>),
    Trap {
        words: String,
        /// Where it was, innermost first, a frame a line.
        backtrace: Vec<String>,
    },
    OutOfMemory {
        words: String,
    },
    /// Not its own end: what carries its sockets broke.
    Rig(String),
}

/// The engine that all guests of this process share, with everything that they can import.
pub struct Host {
    pub engine: Engine,
    linker: Linker<State>,
}

/// A component whose imports and exports were found to fit.
pub struct Prepared(CommandPre<State>);

impl Host {
    /// With its ticker, without which a guest that spins could not be stopped, and which ends with the engine.
    pub fn new() -> Result<Self> {
        let mut config = Config::new();
        config
            .epoch_interruption(true)
            // WASI 0.2 only: a call of the host then costs less than half.
            .concurrency_support(false)
            .wasm_backtrace_details(WasmBacktraceDetails::Enable);
        let engine = Engine::new(&config)?;
        let linker = linker(&engine)?;
        let ticking = engine.weak();
        std::thread::Builder::new().name("ticker".into()).spawn(move || {
            while let Some(engine) = ticking.upgrade() {
                engine.increment_epoch();
                drop(engine);
                std::thread::sleep(TICK);
            }
        })?;
        Ok(Self { engine, linker })
    }

    /// Holds every function of a component against what is provided and what is expected.
    pub fn prepare(&self, component: &Component) -> Result<Prepared> {
        ensure!(self.can_run(component), "the function `run` that it exports is not `func() -> result`");
        Ok(Prepared(CommandPre::new(self.linker.instantiate_pre(component)?)?))
    }

    /// Whether the function that starts a command is of the standard's type, which nobody else looks at before the start.
    fn can_run(&self, component: &Component) -> bool {
        let kind = component.component_type();
        let commands =
            kind.exports(&self.engine).filter(|(name, _)| imports::command_version(name).is_some_and(imports::runs));
        let runs = commands.filter_map(|(_, command)| match command.ty {
            ComponentItem::ComponentInstance(instance) => instance.get_export(&self.engine, "run").map(|run| run.ty),
            _ => None,
        });
        runs.into_iter().any(|run| match run {
            ComponentItem::ComponentFunc(run) => {
                let results: Vec<_> = run.results().collect();
                let plain = |result: &Type| match result {
                    Type::Result(result) => result.ok().is_none() && result.err().is_none(),
                    _ => false,
                };
                run.params().len() == 0 && results.len() == 1 && results.iter().all(plain)
            }
            _ => false,
        })
    }

    /// Runs a guest to its own end. Dropping the future ends it at its next wait, or its next tick.
    ///
    /// `sockets` comes back, for what can be asked of it afterwards.
    pub async fn run(
        &self,
        guest: &Prepared,
        sockets: Sockets,
        surroundings: Surroundings<'_>,
    ) -> Result<(End, Sockets)> {
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        let state = State {
            wasi: context(&surroundings)?,
            table,
            poll_calls: 0,
            sockets,
            limits: Limits::new(surroundings.max_memory),
        };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.limits);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Yield(1)));
        let result = match guest.0.instantiate_async(&mut store).await {
            Ok(command) => command.wasi_cli_run().call_run(&mut store).await,
            Err(error) => Err(error),
        };
        Ok((End::from(result), store.into_data().sockets))
    }
}

impl From<Result<Result<(), ()>>> for End {
    fn from(result: Result<Result<(), ()>>) -> Self {
        let error = match result {
            Ok(Ok(())) => return Self::Success,
            Ok(Err(())) => return Self::Failure(None),
            Err(error) => error,
        };
        if let Some(exit) = error.downcast_ref::<wasmtime_wasi::I32Exit>() {
            return if exit.0 == 0 { Self::Success } else { Self::Failure(Some(exit.0)) };
        }
        if let Some(failure) = error.downcast_ref::<RigFailure>() {
            return Self::Rig(failure.to_string());
        }
        if let Some(exceeded) = error.downcast_ref::<MemoryExceeded>() {
            return Self::OutOfMemory { words: exceeded.to_string() };
        }
        // The innermost cause is the trap, or the words of the host function that refused; the rest is the backtrace.
        let words = error.root_cause().to_string();
        let backtrace = error.downcast_ref::<wasmtime::WasmBacktrace>().map(frames).unwrap_or_default();
        Self::Trap { words, backtrace }
    }
}

/// A backtrace for people: function, and file and line where the guest has them.
fn frames(backtrace: &wasmtime::WasmBacktrace) -> Vec<String> {
    let mut lines = Vec::new();
    for frame in backtrace.frames() {
        let name = |name: Option<&str>| name.map_or_else(|| format!("function {}", frame.func_index()), demangle);
        if frame.symbols().is_empty() {
            lines.push(name(frame.func_name()));
        }
        for symbol in frame.symbols() {
            let place = match (symbol.file(), symbol.line()) {
                (Some(file), Some(line)) => format!(" at {file}:{line}"),
                (Some(file), None) => format!(" at {file}"),
                _ => String::new(),
            };
            lines.push(format!("{}{place}", name(symbol.name().or(frame.func_name()))));
        }
    }
    lines
}

fn demangle(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

/// What the host functions of one run work on.
struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    poll_calls: u32,
    sockets: Sockets,
    limits: Limits,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl HasSockets for State {
    fn sockets(&mut self) -> View<'_> {
        View { table: &mut self.table, sockets: &mut self.sockets }
    }

    fn table(&self) -> &ResourceTable {
        &self.table
    }
}

fn context(surroundings: &Surroundings<'_>) -> Result<WasiCtx> {
    let mut context = WasiCtx::builder();
    context.inherit_stdin().inherit_stderr().args(surroundings.args).envs(surroundings.env);
    if surroundings.stdout_to_stderr {
        context.stdout(wasmtime_wasi::cli::stderr());
    } else {
        context.inherit_stdout();
    }
    if let Some(tick) = surroundings.tick {
        context.monotonic_clock(Ticking::every(tick)).wall_clock(Ticking::every(tick));
    }
    for Folder { host, guest, read_only } in surroundings.folders {
        let permissions = if *read_only { FsPerms::ReadOnly } else { FsPerms::ReadWrite };
        context.preopened_dir(host, guest, permissions)?;
    }
    Ok(context.build())
}

struct Io;

impl HasData for Io {
    type Data<'a> = &'a mut ResourceTable;
}

/// Everything a guest can import. WASI's other interfaces are linked one by one and none of its sockets is among them,
/// so that there is no way to a socket but ours.
fn linker(engine: &Engine) -> Result<Linker<State>> {
    use wasmtime_wasi::cli::{WasiCli, WasiCliView};
    use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
    use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
    use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, random};
    use wasmtime_wasi::random::WasiRandom;
    use wasmtime_wasi_io::bindings::wasi::io;

    use crate::wasi::bindings::wasi::io::poll;

    let mut linker = Linker::new(engine);
    let l = &mut linker;
    io::error::add_to_linker::<State, Io>(l, |state| &mut state.table)?;
    poll::add_to_linker::<State, Poll>(l, |state| PollView { table: &mut state.table, calls: &mut state.poll_calls })?;
    clocks::monotonic_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)?;
    clocks::wall_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)?;
    filesystem::preopens::add_to_linker::<State, WasiFilesystem>(l, State::filesystem)?;
    filesystem::types::add_to_linker::<State, WasiFilesystem>(l, State::filesystem)?;
    random::random::add_to_linker::<State, WasiRandom>(l, |state| state.wasi.random())?;
    random::insecure::add_to_linker::<State, WasiRandom>(l, |state| state.wasi.random())?;
    random::insecure_seed::add_to_linker::<State, WasiRandom>(l, |state| state.wasi.random())?;
    cli::environment::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::exit::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::stderr::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_input::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_output::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stderr::add_to_linker::<State, WasiCli>(l, State::cli)?;
    crate::wasi::add_to_linker(l)?;
    Ok(linker)
}

#[cfg(test)]
mod tests {
    use wasmtime::component::Component;

    use super::*;

    #[test]
    fn everything_that_is_said_to_be_provided_is_linked() {
        let host = Host::new().unwrap();
        let linker = linker(&host.engine).unwrap();
        for name in imports::all_provided() {
            assert!(imports::provided(&name));
            let component = format!(r#"(component (import "{name}" (instance)))"#);
            let component = Component::new(&host.engine, component).unwrap();
            linker.instantiate_pre(&component).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        }
    }

    #[test]
    fn a_guest_s_end_is_told_from_a_failure_of_the_rig() {
        let exit = |code| End::from(Err(wasmtime::Error::new(wasmtime_wasi::I32Exit(code))));
        assert_eq!(exit(0), End::Success);
        assert_eq!(exit(3), End::Failure(Some(3)));
        assert_eq!(End::from(Ok(Err(()))), End::Failure(None));
        let rig = RigFailure("board lab1: the cable was pulled".to_owned());
        let failed = End::from(Err(wasmtime::Error::new(rig).context("in a host function")));
        assert_eq!(failed, End::Rig("board lab1: the cable was pulled".to_owned()));
    }
}
