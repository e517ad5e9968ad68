//! One run: from a plan to a report.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::oneshot;
use tokio::task::coop::unconstrained;
use wrun_net::metered::{Metered, Tape};
use wrun_net::native::Native;
use wrun_net::throttled::{Precision, Throttled};
use wrun_net::{Backend, Capabilities};

use crate::guest::cache::Cache;
use crate::guest::limits::raise_file_limit;
use crate::guest::load::Guest;
use crate::guest::{End, Host, Surroundings};
use crate::plan::{Plan, ReportTo, Stack};
use crate::policy::{Denial, Policy};
use crate::profile::Loaded;
use crate::progress::Progress;
use crate::report::live::Live;
use crate::report::throttle::Throttle;
use crate::report::{Header, Recorder, RecorderOptions, Report, data};
use crate::supervise::{self, Ended, Event, Tidied};
use crate::trace::Trace;
use crate::warning::Warning;
use crate::wasi::{Limit, MAX_LOOKUPS, MAX_SAMPLES, Sockets};
use crate::{calibrate, cli, say};

/// What came of a run.
pub struct Ran {
    pub report: Report,
    /// Whether it is in the file the plan names.
    pub written: Result<()>,
    /// A signal came: there is to be no other run.
    pub signalled: bool,
}

/// Runs the plan, after the runs of `so_far`, if there were any; `told` hears of this run by itself. Fails only before
/// the guest starts.
pub fn run(plan: &Plan, so_far: Option<&Report>, told: impl FnOnce(&Report)) -> Result<Ran> {
    let host = Host::new().map_err(anyhow::Error::from).context("the WebAssembly engine cannot be started")?;
    let guest = Guest::load(&host, &plan.guest, Cache::open().as_ref())?;
    let Opened { backend, throttle } = open(&plan.stack);
    let trace = plan.trace.then(Trace::to_stderr);
    let recorder = Recorder::new(header(plan, &guest, &*backend), RecorderOptions { trace, throttle });
    let live = match &plan.report {
        Some(ReportTo::File(path)) => {
            let rounds = so_far.map_or(0, |report| report.rounds);
            Some(Live::start(path, recorder.clone(), rounds)?)
        }
        _ => None,
    };
    raise_file_limit();

    let (events, inbox) = mpsc::channel();
    // Before the guest starts, so that no signal finds nobody.
    supervise::watch_signals(events.clone())?;
    let progress = if plan.quiet { cli::Progress::None } else { plan.progress };
    let progress = Progress::start(progress.into(), recorder.clone(), &guest.about.name);
    let tape = Tape::new(recorder.clone());
    let (stop, stopped) = oneshot::channel();
    let timeout = plan.timeout;
    // Never joined: it ends with the guest, or with the process.
    std::thread::Builder::new().name("guest".into()).spawn({
        let (tape, recorder, plan) = (tape.clone(), recorder.clone(), plan.clone());
        move || {
            let at = tape.clone();
            let run = || run_guest(&host, &guest, backend, &plan, tape, recorder, stopped, &events);
            // A panic is a fault of ours; what was measured until then is still true.
            if std::panic::catch_unwind(AssertUnwindSafe(run)).is_err() {
                let end = End::Rig("wrun itself failed: the lines above say where".to_owned());
                tell(&events, Event::Ended(Ended { end, at: at.now(), sockets_exhausted: false }));
            }
        }
    })?;
    let supervised = supervise::supervise(&inbox, timeout, plan.stack.tidying(), stop, || {
        if !plan.quiet {
            say("wrun: the guest has ended; what it sent last is still on its way (ctrl-C throws it away)\n");
        }
    });
    // A signal from now on ends the process at once.
    drop(inbox);
    let duration = supervised.at.unwrap_or_else(|| tape.now());

    if let Some(calibration) = supervised.tidied.calibration {
        recorder.calibrated(calibration);
    }
    if supervised.tidied.cut {
        recorder.warn(Warning::Cut);
    }
    let report = recorder.finish(supervised.outcome, duration);
    told(&report);
    let report = match so_far {
        Some(so_far) => so_far.clone().followed_by(report),
        None => report,
    };
    // Before anything is said: whoever should hear it may not be listening.
    let written = live.map_or(Ok(()), |live| live.finish(&report).map_err(Into::into));
    drop(progress);
    Ok(Ran { report, written, signalled: supervised.signalled })
}

/// Tells the supervisor, who may have given up on this thread.
fn tell(events: &Sender<Event>, event: Event) {
    _ = events.send(event);
}

/// A stack of sockets, under the measuring.
struct Opened {
    backend: Arc<dyn Backend>,
    throttle: Option<Box<dyn Fn() -> Throttle + Send + Sync>>,
}

/// The one place where a backend's name becomes a backend.
fn open(stack: &Stack) -> Opened {
    let native = Arc::new(Native::new());
    match stack {
        Stack::Native => Opened { backend: native, throttle: None },
        Stack::Throttled { profile, seed } => {
            let Loaded { profile, effective, .. } = &**profile;
            let throttled = Throttled::new(native, profile.clone(), *seed, Precision::Fine);
            let (profile, effective, asked) = (profile.clone(), effective.clone(), throttled.clone());
            let throttle = move || Throttle::of(&effective, &profile, &asked.account());
            Opened { backend: throttled, throttle: Some(Box::new(throttle)) }
        }
    }
}

fn header(plan: &Plan, guest: &Guest, backend: &dyn Backend) -> Header {
    let mut settings = BTreeMap::from([("no-delay".to_owned(), plan.no_delay.to_string())]);
    let mut seed = None;
    if let Stack::Throttled { profile, seed: used } = &plan.stack {
        settings.insert("profile".to_owned(), profile.profile.name.clone());
        seed = Some(*used);
    }
    let Capabilities { name, ipv6, multicast, broadcast, options } = backend.capabilities();
    Header {
        wrun: data::Build::this(),
        guest: data::Guest {
            name: guest.about.name.clone(),
            sha256: guest.about.sha256.clone(),
            bytes: guest.about.bytes,
        },
        arguments: plan.args.clone(),
        backend: data::Backend {
            name,
            settings,
            capabilities: data::Capabilities {
                ipv6,
                multicast,
                broadcast,
                options: options.into_iter().map(|kind| kind.to_string()).collect(),
            },
        },
        allowed: plan.allowed.clone(),
        seed,
        machine: data::Machine::here(),
        start: jiff::Timestamp::now().to_string(),
    }
}

/// What happens on the guest's thread.
#[expect(clippy::too_many_arguments, reason = "called once, where a thread begins")]
fn run_guest(
    host: &Host,
    guest: &Guest,
    backend: Arc<dyn Backend>,
    plan: &Plan,
    tape: Arc<Tape>,
    recorder: Arc<Recorder>,
    mut stopped: oneshot::Receiver<()>,
    events: &Sender<Event>,
) {
    let ended = |end, sockets_exhausted| Event::Ended(Ended { end, at: tape.now(), sockets_exhausted });
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tell(events, ended(End::Rig(format!("the runtime cannot be started: {error}")), false)),
    };
    let denials = recorder.clone();
    let policy = Policy::new(plan.rules.clone(), move |Denial { what, rule }| {
        if denials.denied(rule.clone()) {
            say(&format!("wrun: denied: {what}; to allow it: --allow {rule}\n"));
        }
    });
    let sockets = Sockets {
        backend: Arc::new(Metered::new(backend, tape.clone())),
        policy,
        tape: tape.clone(),
        recorder,
        no_delay: plan.no_delay,
        open: Limit::new(plan.max_sockets),
        lookups: Limit::new(MAX_LOOKUPS),
        samples: Limit::new(MAX_SAMPLES),
    };
    let args: Vec<_> = std::iter::once(guest.about.name.clone()).chain(plan.args.iter().cloned()).collect();
    let surroundings = Surroundings {
        args: &args,
        env: &plan.env,
        folders: &plan.folders,
        max_memory: plan.max_memory,
        stdout_to_stderr: plan.stdout_to_stderr,
        tick: match &plan.stack {
            Stack::Native => None,
            Stack::Throttled { profile, .. } => profile.profile.board.tick,
        },
    };
    // Unconstrained, since tokio would otherwise call sockets unready after so many ready ones in one turn.
    runtime.block_on(unconstrained(async {
        let result = tokio::select! {
            biased;
            _ = &mut stopped => return tell(events, Event::Stopped(tape.now())),
            result = host.run(&guest.prepared, sockets, surroundings) => result,
        };
        let (end, sockets) = match result {
            Ok((end, sockets)) => (end, Some(sockets)),
            Err(error) => (End::Rig(format!("{error:#}")), None),
        };
        tell(events, ended(end, sockets.is_some_and(|sockets| sockets.open.reached())));
        let cut = tokio::select! {
            biased;
            _ = &mut stopped => true,
            left = tokio::time::timeout(plan.stack.tidying(), last_bytes()) => left.is_err(),
        };
        let calibration = match tape.sockets() {
            0 => None,
            // What cannot be measured is not in the report.
            _ => calibrate::calibrate(&host.engine, &tape).await.ok(),
        };
        tell(events, Event::Tidy(Tidied { calibration, cut }));
    }));
    // Does not wait for a name lookup that hangs.
    runtime.shutdown_background();
}

/// Until nothing that the guest wrote is still on its way to a socket: only that has tasks.
async fn last_bytes() {
    while tokio::runtime::Handle::current().metrics().num_alive_tasks() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
