//! The table of figures: a line for each name of samples, one for each of its phases.

use super::page::{BAD, Column, FAINT, HEAD, Line, PLAIN, Page};
use super::units::{count, duration};
use crate::report::data::Report;
use crate::report::statistics::{Statistics, Times};
use crate::report::stats::P95_NEEDS;
use crate::report::words::printable;

/// Names that are shown.
const NAMES: usize = 40;
/// Phases of a name that are shown.
const PHASES: usize = 16;
/// Reasons of errors of a name that are shown.
const REASONS: usize = 5;

pub fn statistics(page: &mut Page, report: &Report) {
    page.gap();
    let Some(_) = report.statistics.first() else {
        page.line(FAINT, "no samples: the guest measured nothing of its own");
        return;
    };
    let head = ["sample", "n", "median", "p25–p75", "p95", "max", "errors"].map(str::to_owned);
    let mut lines = vec![Line::new(HEAD, head)];
    for name in report.statistics.iter().take(NAMES) {
        let style = if name.errors > 0 { BAD } else { PLAIN };
        lines.push(line(style, name.name.to_string(), name.n, name.times.as_ref(), count(name.errors)));
        for phase in name.phases.iter().take(PHASES) {
            lines.push(line(FAINT, format!("· {}", phase.name), phase.n, Some(&phase.times), String::new()));
        }
    }
    let columns = [Column::Right; 6];
    page.columns(&[&[Column::Rest], &columns[..]].concat(), lines);
    if report.statistics.len() > NAMES {
        page.line(FAINT, &format!("and {} more names", count((report.statistics.len() - NAMES) as u64)));
    }
    footnotes(page, &report.statistics);
}

/// A name in a few words: `request ×15, median 264 µs, at most 521 µs`.
pub fn short(name: &Statistics) -> String {
    let mut text = format!("{} ×{}", printable(&name.name), count(name.n));
    if let Some(times) = &name.times {
        text += &format!(", median {}, at most {}", duration(times.median_ns), duration(times.max_ns));
    }
    if name.errors > 0 {
        text += &format!(", {} failed", count(name.errors));
    }
    text
}

fn line(style: anstyle::Style, name: String, n: u64, times: Option<&Times>, errors: String) -> Line {
    let of = |value: Option<u64>| value.map_or_else(|| "–".to_owned(), duration);
    let cells = [
        name,
        count(n),
        of(times.map(|times| times.median_ns)),
        times.map_or_else(|| "–".to_owned(), |times| range(times.p25_ns, times.p75_ns)),
        of(times.and_then(|times| times.p95_ns)),
        of(times.map(|times| times.max_ns)),
        errors,
    ];
    Line::new(style, cells)
}

/// Two durations as one, the unit once where it is the same: `880–912 µs`, `880 µs–1.02 ms`.
pub(super) fn range(from: u64, to: u64) -> String {
    let (from, to) = (duration(from), duration(to));
    match (from.split_once(' '), to.split_once(' ')) {
        (Some((value, unit)), Some((_, same))) if unit == same => format!("{value}–{to}"),
        _ => format!("{from}–{to}"),
    }
}

fn footnotes(page: &mut Page, statistics: &[Statistics]) {
    for name in statistics.iter().take(NAMES) {
        for reason in name.reasons.iter().take(REASONS) {
            page.paragraph(BAD, &format!("{}×", count(reason.count)), &format!("{}: {}", name.name, reason.words));
        }
    }
    if statistics.iter().any(|name| name.errors > 0) {
        page.line(FAINT, "Times are of the samples that ended well.");
    }
    let unfinished = statistics.iter().fold(0, |sum: u64, name| sum.saturating_add(name.unfinished));
    if unfinished > 0 {
        page.line(FAINT, &format!("Never finished, and in no figure: {}.", count(unfinished)));
    }
    if statistics.iter().any(|name| name.times.as_ref().is_some_and(|times| times.p95_ns.is_none())) {
        page.line(FAINT, &format!("A p95 needs {P95_NEEDS} samples."));
    }
}
