//! What the sockets were impaired with: what was set beside what was achieved.

use wrun_net::shape::profile::{Mixture, Profile, Rule, Stalls};

use super::figures::range;
use super::page::{Column, FAINT, HEAD, Line, PLAIN, Page};
use super::units::{count, duration, rate, share};
use crate::profile;
use crate::report::connections::nanoseconds;
use crate::report::data::Report;
use crate::report::throttle::{Achieved, Configured, PathFigures, Quirk, Way};

/// Paths that are shown, and modes of a stall.
const PATHS: usize = 16;
const MODES: usize = 3;

pub fn throttle(page: &mut Page, report: &Report) {
    let Some(throttle) = &report.throttle else { return };
    page.gap();
    if !throttle.paths.is_empty() {
        page.line(HEAD, "impaired");
        // Paths are of a link; what stalls is in the profile alone.
        let profile = profile::load(&throttle.profile).map(|loaded| loaded.profile).unwrap_or_default();
        for path in throttle.paths.iter().take(PATHS) {
            self::path(page, path, rule(&profile, path), report.rounds > 1);
        }
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

/// The rule of a path, in as many regimes.
fn rule<'a>(profile: &'a Profile, path: &PathFigures) -> Option<&'a Rule> {
    profile.rules.iter().find(|rule| rule.name == path.rule && rule.regimes.len() == path.configured.len())
}

/// What was set, and what came of it.
fn path(page: &mut Page, path: &PathFigures, rule: Option<&Rule>, of_several: bool) {
    let way = match path.way {
        Way::Up => "up",
        Way::Down => "down",
    };
    let stalls =
        rule.and_then(|rule| Some(stalls(&rule.regimes.first()?.effects.stalls, path.way))).unwrap_or_default();
    let set = match &path.configured[..] {
        [] => "–".to_owned(),
        [one] => configured(one, stalls),
        [first, rest @ ..] => format!("{} and {} more in turn", configured(first, stalls), rest.len()),
    };
    // Counts add up, but delays and rates do not.
    let worst = if of_several { "at worst " } else { "" };
    page.columns(&[Column::Rest], vec![Line::new(PLAIN, [format!("{} {way}", path.rule)])]);
    page.paragraph(PLAIN, "  set", &set);
    page.paragraph(PLAIN, "  got", &format!("{worst}{}", achieved(&path.achieved)));
}

/// What waits on a way beside what the link does: `answers stall 200–900 ms or 1.00–8.00 s`.
fn stalls(stalls: &Stalls, way: Way) -> Vec<String> {
    let of_way = match way {
        Way::Up => vec![("connects", &stalls.connect), ("sends", &stalls.send)],
        Way::Down => vec![("answers", &stalls.answer)],
    };
    let told = of_way.into_iter().filter(|(_, mixture)| !mixture.is_none());
    told.map(|(what, mixture)| format!("{what} stall {}", modes(mixture))).collect()
}

fn modes(Mixture(modes): &Mixture) -> String {
    let each = modes.iter().take(MODES).map(|mode| match (nanoseconds(mode.from), nanoseconds(mode.to)) {
        (from, to) if from == to => duration(from),
        (from, to) => range(from, to),
    });
    let more = if modes.len() > MODES { format!(" or {} more", modes.len() - MODES) } else { String::new() };
    format!("{}{more}", each.collect::<Vec<_>>().join(" or "))
}

/// `stalls` are told behind what the link does.
fn configured(set: &Configured, stalls: Vec<String>) -> String {
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
    parts.extend(stalls);
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
    parts.push(format!("of {} sent", count(achieved.count)));
    parts.join(", ")
}

fn quirk(quirk: &Quirk) -> Line {
    let took = quirk.total_ns.map_or_else(String::new, |total| format!(", {} in all", duration(total)));
    Line::new(PLAIN, [format!("{}×", count(quirk.count)), format!("{}{took}", quirk.name)])
}
