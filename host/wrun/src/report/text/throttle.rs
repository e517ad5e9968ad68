//! What the sockets were impaired with: what was set beside what was achieved.

use super::page::{Column, FAINT, HEAD, Line, PLAIN, Page};
use super::units::{count, duration, rate, share};
use crate::report::data::Report;
use crate::report::throttle::{Achieved, Configured, PathFigures, Quirk, Way};

/// Paths that are shown.
const PATHS: usize = 16;

pub fn throttle(page: &mut Page, report: &Report) {
    let Some(throttle) = &report.throttle else { return };
    page.gap();
    if !throttle.paths.is_empty() {
        page.line(HEAD, "impaired");
        let lines = throttle.paths.iter().take(PATHS).flat_map(|path| self::path(path, report.rounds > 1)).collect();
        page.columns(&[Column::Rest, Column::Left, Column::Rest], lines);
        let late = throttle.paths.iter().filter_map(|path| path.achieved.p99_late_ns).max();
        if let Some(late) = late {
            page.line(
                FAINT,
                &format!("Of the delays, up to {} is the timer's lateness (99th percentile).", duration(late)),
            );
        }
        if throttle.paths.len() > PATHS {
            page.line(FAINT, &format!("and {} more paths", count((throttle.paths.len() - PATHS) as u64)));
        }
    }
    if throttle.quirks.is_empty() {
        if throttle.paths.is_empty() {
            page.line(FAINT, "impaired by nothing: no traffic met an effect of the profile");
        }
        return;
    }
    page.columns(&[Column::Right, Column::Rest], throttle.quirks.iter().map(quirk).collect());
}

/// Two lines: what was set, and what came of it.
fn path(path: &PathFigures, of_several: bool) -> [Line; 2] {
    let way = match path.way {
        Way::Up => "up",
        Way::Down => "down",
    };
    let set = match &path.configured[..] {
        [] => "–".to_owned(),
        [one] => configured(one),
        [first, rest @ ..] => format!("{} and {} more in turn", configured(first), rest.len()),
    };
    // Counts add up, but delays and rates do not.
    let got = if of_several { "got, at worst" } else { "got" };
    [
        Line::new(PLAIN, [format!("{} {way}", path.rule), "set".to_owned(), set]),
        Line::new(PLAIN, [String::new(), got.to_owned(), achieved(&path.achieved)]),
    ]
}

fn configured(set: &Configured) -> String {
    if set.offline {
        return "offline".to_owned();
    }
    let mut parts = Vec::new();
    if set.delay_ns > 0 {
        parts.push(match set.jitter_ns {
            0 => duration(set.delay_ns),
            jitter => format!("{} ± {}", duration(set.delay_ns), duration(jitter)),
        });
    }
    parts.extend(set.rate_bytes.map(rate));
    for (of, what) in [(set.loss, "lost"), (set.duplicate, "doubled"), (set.reorder, "reordered")] {
        if of > 0.0 {
            parts.push(format!("{} {what}", share(of)));
        }
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

fn achieved(achieved: &Achieved) -> String {
    let mut parts = Vec::new();
    parts.extend(achieved.median_delay_ns.map(duration));
    parts.extend(achieved.rate_bytes.map(rate));
    for (of, what) in [
        (achieved.lost, "lost"),
        (achieved.overflowed, "dropped by the queue"),
        (achieved.duplicated, "doubled"),
        (achieved.reordered, "reordered"),
    ] {
        if of > 0 {
            parts.push(format!("{} {what}", count(of)));
        }
    }
    parts.push(format!("of {}", count(achieved.count)));
    parts.join(", ")
}

fn quirk(quirk: &Quirk) -> Line {
    let took = quirk.total_ns.map_or_else(String::new, |total| format!(", {} in all", duration(total)));
    Line::new(PLAIN, [format!("{}×", count(quirk.count)), format!("{}{took}", quirk.name)])
}
