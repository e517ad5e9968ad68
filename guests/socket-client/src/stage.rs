//! Where a request stands: its sample, and the phase that an error is told with.

use wrun_guest::Sample;

/// One request under way.
#[derive(Debug)]
pub struct Stage {
    sample: Sample,
    phase: &'static str,
}

impl Stage {
    pub fn start() -> Self {
        Self { sample: Sample::start("request"), phase: "start" }
    }

    pub fn enter(&mut self, phase: &'static str) {
        self.sample.phase(phase);
        self.phase = phase;
    }

    /// The error of the phase it stands in: `connect: connection-refused`.
    pub fn failed(&self, why: impl std::fmt::Display) -> String {
        format!("{}: {why}", self.phase)
    }

    /// Ends it: well, or with the reason why not.
    pub fn finish(self, failure: Option<&str>) {
        match failure {
            None => self.sample.finish(),
            Some(reason) => self.sample.fail(reason),
        }
    }
}
