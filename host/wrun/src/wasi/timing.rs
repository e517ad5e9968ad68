//! `wrun:net/timing`: the guest's own words for what it is doing, timed by the run's clock.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::Resource;
use wasmtime::{Error, Result, ensure};
use wrun_net::metered::Tape;

use super::bindings::wrun::net::timing;
use super::{MAX_SAMPLES, Place, View};
use crate::report::{Name, Recorder, Sample, SampleOutcome};

/// Bytes of a name of a sample, a phase or a counter.
const MAX_NAME: usize = 64;

const MAX_PHASES: usize = 32;

/// A sample that the guest has open.
pub struct OpenSample {
    tape: Arc<Tape>,
    recorder: Arc<Recorder>,
    name: Name,
    start: Duration,
    /// Finished phases, each name once.
    phases: Vec<(Name, Duration)>,
    current: Option<(Name, Duration)>,
    reported: bool,
    _place: Place,
}

impl OpenSample {
    fn end_phase(&mut self, now: Duration) {
        if let Some((name, start)) = self.current.take() {
            let took = now - start;
            match self.phases.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += took,
                None => self.phases.push((name, took)),
            }
        }
    }

    fn report(&mut self, outcome: SampleOutcome) {
        let end = self.tape.now();
        self.end_phase(end);
        self.reported = true;
        let phases = std::mem::take(&mut self.phases);
        self.recorder.sample(Sample { name: self.name.clone(), start: self.start, end, phases, outcome });
    }
}

impl Drop for OpenSample {
    /// A guest that lets go of a sample, or that is stopped with it in hand, leaves it unfinished.
    fn drop(&mut self) {
        if !self.reported {
            self.report(SampleOutcome::Unfinished);
        }
    }
}

/// Refuses what cannot be a name in a report.
fn check_name(what: &str, name: &str) -> Result<()> {
    let fits = (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
    ensure!(
        fits,
        "the name of a {what} has 1 to {MAX_NAME} bytes and no control characters; the guest gave {name:.80?}"
    );
    Ok(())
}

impl timing::Host for View<'_> {
    fn announce(&mut self, samples: u64) -> Result<()> {
        self.sockets.recorder.announce(samples);
        Ok(())
    }

    fn count(&mut self, name: String, amount: u64) -> Result<()> {
        check_name("counter", &name)?;
        self.sockets.recorder.count(&name, amount).map_err(Error::new)
    }

    fn note(&mut self, text: String) -> Result<()> {
        self.sockets.recorder.note(text);
        Ok(())
    }
}

impl View<'_> {
    /// A sample that started `ago` before now.
    fn open_sample(&mut self, name: &str, ago: Duration, waiting: Option<&str>) -> Result<Resource<OpenSample>> {
        check_name("sample", name)?;
        let name = self.sockets.recorder.try_sample_name(name)?;
        let waiting = match waiting {
            Some(phase) => {
                check_name("phase", phase)?;
                Some(self.sockets.recorder.intern(phase))
            }
            None => None,
        };
        let place = self.sockets.samples.take();
        let place =
            place.ok_or_else(|| Error::msg(format!("a guest has at most {MAX_SAMPLES} open samples at once")))?;
        let start = started(self.sockets.tape.now(), ago);
        let sample = OpenSample {
            tape: self.sockets.tape.clone(),
            recorder: self.sockets.recorder.clone(),
            name,
            start,
            phases: Vec::new(),
            current: waiting.map(|phase| (phase, start)),
            reported: false,
            _place: place,
        };
        Ok(self.table.push(sample)?)
    }
}

/// When something started, in time since the run began: not before that.
fn started(now: Duration, ago: Duration) -> Duration {
    now.saturating_sub(ago)
}

impl timing::HostSample for View<'_> {
    fn new(&mut self, name: String) -> Result<Resource<OpenSample>> {
        self.open_sample(&name, Duration::ZERO, None)
    }

    fn since(&mut self, name: String, ago: u64, waiting: Option<String>) -> Result<Resource<OpenSample>> {
        self.open_sample(&name, Duration::from_nanos(ago), waiting.as_deref())
    }

    fn phase(&mut self, sample: Resource<OpenSample>, name: String) -> Result<()> {
        check_name("phase", &name)?;
        let name = self.sockets.recorder.intern(&name);
        let sample = self.table.get_mut(&sample)?;
        let now = sample.tape.now();
        sample.end_phase(now);
        let known = sample.phases.iter().any(|(known, _)| *known == name);
        ensure!(known || sample.phases.len() < MAX_PHASES, "a sample has at most {MAX_PHASES} phases");
        sample.current = Some((name, now));
        Ok(())
    }

    fn finish(&mut self, sample: Resource<OpenSample>, outcome: Result<(), String>) -> Result<()> {
        self.table.delete(sample)?.report(match outcome {
            Ok(()) => SampleOutcome::Ok,
            Err(reason) => SampleOutcome::Failed(reason),
        });
        Ok(())
    }

    fn drop(&mut self, sample: Resource<OpenSample>) -> Result<()> {
        // Dropping it reports it as unfinished.
        self.table.delete(sample)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_control_characters_or_of_65_bytes_or_of_none_is_refused() {
        for name in ["", "a\nb", "\u{7f}", &"x".repeat(65)] {
            assert!(check_name("sample", name).is_err(), "{name:?}");
        }
        assert!(check_name("sample", &"x".repeat(64)).is_ok());
    }

    #[test]
    fn nothing_starts_before_the_run_does() {
        let now = Duration::from_secs(7);
        assert_eq!(started(now, Duration::ZERO), now);
        assert_eq!(started(now, Duration::from_secs(2)), Duration::from_secs(5));
        assert_eq!(started(now, Duration::from_nanos(u64::MAX)), Duration::ZERO);
    }
}
