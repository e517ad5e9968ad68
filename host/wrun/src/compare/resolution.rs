//! What wrun itself takes of a sample: no smaller difference of two medians is told as one of the sockets.
//!
//! A sample crosses from the guest when it begins or ends, with each phase, and with each call of a socket, which is noted
//! too. How long that takes is measured in each run, shown as its overhead and subtracted from nothing. It may be all of a
//! difference, since it is not the same in every run.
//!
//! What is left out: waiting until a socket is ready, which crosses too, and what the measuring does to caches. A run that
//! has not measured its overhead, such as one that was killed, has none here.

use super::gather::Named;
use crate::report::Report;
use crate::report::connections::Connection;

/// In nanoseconds, a sample of `named` on average. `names` are all of the run: whose sample a call was for is in no report.
pub fn resolution(report: &Report, names: &[Named], named: &Named) -> u64 {
    let Some(calibration) = &report.calibration else { return 0 };
    let each = |part: u64, all: u64| part as f64 / all.max(1) as f64;
    let calls = report.connections.iter().map(Connection::calls).fold(0, u64::saturating_add);
    let calls = each(calls, names.iter().map(Named::begun).fold(0, u64::saturating_add));
    let phases = named.phases.iter().map(|(_, series)| series.n()).fold(0, u64::saturating_add);
    let crossings = 1.0 + each(phases, named.times.n()) + calls;
    // A product that is out of range is the largest there is.
    (crossings * calibration.crossing_ns as f64 + calls * calibration.metering_ns as f64) as u64
}
