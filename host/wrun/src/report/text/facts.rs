//! The sections that are sentences: what was run, what was refused, what is doubtful, how it ended.

use super::page::{BAD, Column, FAINT, GOOD, HEAD, Line, PLAIN, Page, WARN};
use super::units::{count, duration};
use crate::report::connections::Connection;
use crate::report::data::{Denial, Family, Profile, Report};

/// Entries of a list that are shown; the report itself has them all.
const MOST: usize = 20;

pub fn heading(page: &mut Page, report: &Report) {
    let header = &report.header;
    let profile = if header.wrun.profile == Profile::Debug { " (debug build)" } else { "" };
    let command = [vec![header.guest.name.clone()], header.arguments.clone()].concat().join(" ");
    page.paragraph(HEAD, "wrun", &command);
    let settings: Vec<String> = header.backend.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let settings = if settings.is_empty() { String::new() } else { format!(": {}", settings.join(", ")) };
    page.paragraph(FAINT, "on  ", &format!("{} sockets{settings}", header.backend.name));
    let machine = &header.machine;
    let pinned = machine.pinned.as_ref().map_or_else(String::new, |cores| {
        let cores: Vec<String> = cores.iter().take(MOST).map(ToString::to_string).collect();
        format!(", pinned to {}", cores.join(" "))
    });
    let (os, kernel, arch, cores) = (&machine.os, &machine.kernel, &machine.arch, machine.cores);
    page.paragraph(FAINT, "    ", &format!("{os} {kernel}, {arch}, cores: {cores}{pinned}"));
    let seed = header.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
    let rounds = if report.rounds > 1 { format!(" in {} rounds", count(report.rounds)) } else { String::new() };
    let (start, took, version) = (&header.start, duration(report.duration_ns), &header.wrun.version);
    page.paragraph(FAINT, "at  ", &format!("{start} for {took}{rounds}{seed}, by wrun {version}{profile}"));
}

pub fn counters(page: &mut Page, report: &Report) {
    if report.counters.is_empty() {
        return;
    }
    let row = |(name, total): (&String, &u64)| Line::new(PLAIN, [count(*total), name.clone()]);
    let head = Line::new(HEAD, [String::new(), "counter".to_owned()]);
    page.gap();
    page.columns(
        &[Column::Right, Column::Rest],
        std::iter::once(head).chain(report.counters.iter().map(row).take(MOST)).collect(),
    );
    more(page, report.counters.len());
}

pub fn notes(page: &mut Page, report: &Report) {
    if !report.notes.is_empty() {
        page.gap();
    }
    for note in report.notes.iter().take(MOST) {
        page.paragraph(PLAIN, "note", note);
    }
    more(page, report.notes.len());
}

pub fn denials(page: &mut Page, report: &Report) {
    if report.denials.is_empty() {
        return;
    }
    page.gap();
    page.line(BAD, "denied; to allow it:");
    let row =
        |denial: &Denial| Line::new(PLAIN, [format!("{}×", count(denial.count)), format!("--allow {}", denial.rule)]);
    page.columns(&[Column::Right, Column::Rest], report.denials.iter().take(MOST).map(row).collect());
    more(page, report.denials.len());
}

pub fn overhead(page: &mut Page, report: &Report) {
    let Some(calibration) = &report.calibration else { return };
    let calls = report.connections.iter().map(Connection::calls).fold(0, u64::saturating_add);
    let all = calls.saturating_mul(calibration.crossing_ns.saturating_add(calibration.metering_ns));
    let (crossing, metering) = (duration(calibration.crossing_ns), duration(calibration.metering_ns));
    let (calls, all, rounds) = (count(calls), duration(all), count(calibration.rounds));
    page.gap();
    page.paragraph(
        FAINT,
        "overhead",
        &format!(
            "{crossing} to cross from the guest, {metering} to note a socket call (medians of {rounds}): about {all} in \
             {calls} calls; it is subtracted from nothing"
        ),
    );
}

pub fn warnings(page: &mut Page, report: &Report) {
    if !report.warnings.is_empty() {
        page.gap();
    }
    for warning in report.warnings.iter().take(MOST) {
        page.paragraph(WARN, "warning", &warning.words);
    }
    more(page, report.warnings.len());
}

pub fn outcome(page: &mut Page, report: &Report) {
    let outcome = &report.outcome;
    let style = if outcome.family == Family::Ok { GOOD } else { BAD };
    page.gap();
    for frame in outcome.backtrace.iter().take(MOST) {
        page.paragraph(FAINT, "   at", frame);
    }
    more(page, outcome.backtrace.len());
    let code = outcome.code.map_or_else(String::new, |code| format!(" (exit code {code})"));
    page.paragraph(style, "outcome", &format!("{}{code}", outcome.words));
    if !report.complete {
        page.line(BAD, "This report is incomplete: it holds what was measured until then.");
    }
}

/// Says how many of a list were not shown.
fn more(page: &mut Page, all: usize) {
    if all > MOST {
        page.line(FAINT, &format!("and {} more", count((all - MOST) as u64)));
    }
}
