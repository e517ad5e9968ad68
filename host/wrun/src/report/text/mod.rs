//! A report as a person reads it: 80 columns at most, the figures first, how it ended last.
//!
//! [`render`] puts the sections one after another; each is a file that turns data into [`page::Page`] lines. Colours are
//! always in the text: whoever prints it does so through `anstream`, which takes them out where they do not belong.
//! Everything that a guest, a peer or a file has named is made printable before it is laid out.

mod bars;
mod facts;
mod figures;
pub(crate) mod page;
mod sockets;
mod throttle;
pub mod units;

#[cfg(test)]
mod tests;

use super::data::{Family, Report};
use super::words::printable;
use page::Page;

/// Names that a line has room for.
const SHORT: usize = 3;

/// The report in a line: what there was of each name, and how it ended if not well.
pub fn short(report: &Report) -> String {
    let mut parts: Vec<String> = report.statistics.iter().take(SHORT).map(figures::short).collect();
    if report.statistics.len() > SHORT {
        parts.push(format!("{} more names", units::count((report.statistics.len() - SHORT) as u64)));
    }
    if parts.is_empty() {
        parts.push("no samples".to_owned());
    }
    if report.outcome.family != Family::Ok {
        parts.push(printable(&report.outcome.words).into_owned());
    }
    parts.push(format!("{} in all", units::duration(report.duration_ns)));
    parts.join("; ")
}

/// The whole report, ended by a newline.
pub fn render(report: &Report) -> String {
    let mut page = Page::default();
    facts::heading(&mut page, report);
    figures::statistics(&mut page, report);
    bars::samples(&mut page, report);
    sockets::lookups(&mut page, report);
    sockets::connections(&mut page, report);
    throttle::throttle(&mut page, report);
    facts::counters(&mut page, report);
    facts::notes(&mut page, report);
    facts::denials(&mut page, report);
    facts::overhead(&mut page, report);
    facts::warnings(&mut page, report);
    facts::outcome(&mut page, report);
    page.text()
}
