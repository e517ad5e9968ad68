//! Progress on the standard error stream while a run goes on: a bar on a terminal, a plain line every five seconds
//! elsewhere.
//!
//! It has a thread of its own and only looks at the recorder's counts, so the guest pays nothing for it. A bar is drawn
//! at most five times a second and taken away at the end; between two drawings a guest's own output goes by.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::report::text::units::{count, duration};
use crate::report::words::printable;
use crate::report::{Recorder, SampleCounts};

/// How often a bar is drawn.
const DRAWINGS: Duration = Duration::from_millis(200);
/// How often a plain line is written.
const LINES: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A bar where the standard error stream is a terminal that can move its cursor, lines elsewhere.
    Auto,
    Plain,
    None,
}

/// Shows progress until it is dropped, and writes nothing afterwards.
pub struct Progress {
    /// Dropped to stop the thread.
    stop: Option<Sender<()>>,
    /// Tells, by its end, that the thread has written its last.
    ended: Receiver<()>,
}

impl Progress {
    /// Begins to show how far a run is. A thread that cannot be had is progress that is not shown.
    pub fn start(mode: Mode, recorder: Arc<Recorder>, label: &str) -> Self {
        let label = printable(label).into_owned();
        let (stop, stopped) = mpsc::channel();
        let (ends, ended) = mpsc::channel();
        let show: fn(&Recorder, &str, &Receiver<()>) = match mode {
            Mode::None => return Self { stop: None, ended },
            Mode::Auto if can_draw() => draw,
            Mode::Auto | Mode::Plain => write,
        };
        let thread = thread::Builder::new().name("progress".to_owned());
        let spawned = thread.spawn(move || {
            show(&recorder, &label, &stopped);
            drop(ends);
        });
        Self { stop: spawned.ok().map(|_| stop), ended }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.stop = None;
        // Not for ever: it may be writing to somebody who does not read.
        let _ = self.ended.recv_timeout(DRAWINGS);
    }
}

fn can_draw() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn draw(recorder: &Recorder, label: &str, stopped: &Receiver<()>) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
    let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = write!(out, "{:.1}/s", state.per_sec());
    };
    let style = |template| {
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("rate", rate)
    };
    let known = style("{prefix} [{bar:24}] {pos} of {len}, {rate}, {eta} left");
    bar.set_style(style("{prefix} {pos} samples, {rate}, {elapsed}"));
    bar.set_prefix(label.to_owned());
    let mut styled = false;
    while stopped.recv_timeout(DRAWINGS) == Err(RecvTimeoutError::Timeout) {
        let counts = recorder.sample_counts();
        if let Some(expected) = counts.expected {
            if !styled {
                bar.set_style(known.clone());
                styled = true;
            }
            bar.set_length(expected.max(counts.done));
        }
        bar.set_position(counts.done);
        bar.tick();
    }
    bar.finish_and_clear();
}

fn write(recorder: &Recorder, label: &str, stopped: &Receiver<()>) {
    let start = Instant::now();
    while stopped.recv_timeout(LINES) == Err(RecvTimeoutError::Timeout) {
        // Nobody reads it when it cannot be written.
        let _ = io::stderr().write_all(line(label, recorder.sample_counts(), start.elapsed()).as_bytes());
    }
}

/// How far a run is, how fast it goes and how long it will take if it goes on so.
fn line(label: &str, counts: SampleCounts, elapsed: Duration) -> String {
    let done = counts.done;
    let elapsed_ns = elapsed.as_nanos().max(1);
    let per_second = done as f64 * 1e9 / elapsed_ns as f64;
    let after = duration(u64::try_from(elapsed_ns).unwrap_or(u64::MAX));
    match counts.expected {
        Some(expected) if expected >= done => {
            let left = match done {
                0 => String::new(),
                _ => {
                    let left = u128::from(expected - done) * elapsed_ns / u128::from(done);
                    format!(", {} left", duration(u64::try_from(left).unwrap_or(u64::MAX)))
                }
            };
            format!("{label}: {} of {} samples after {after}, {per_second:.1}/s{left}\n", count(done), count(expected))
        }
        _ => format!("{label}: {} samples after {after}, {per_second:.1}/s\n", count(done)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_how_fast_and_how_long() {
        let line = |done, expected| line("guest", SampleCounts { done, expected }, Duration::from_secs(10));
        assert_eq!(line(5, Some(15)), "guest: 5 of 15 samples after 10.0 s, 0.5/s, 20.0 s left\n");
        assert_eq!(line(0, Some(15)), "guest: 0 of 15 samples after 10.0 s, 0.0/s\n");
        assert_eq!(line(12_000, None), "guest: 12,000 samples after 10.0 s, 1200.0/s\n");
        assert_eq!(line(16, Some(15)), "guest: 16 samples after 10.0 s, 1.6/s\n");
    }
}
