//! A comparison as a person reads it: 80 columns at most, in the manner of [`crate::report::text`], the verdicts last.
//!
//! Colours are always in the text; whoever prints it takes them out where they do not belong.

use std::collections::HashSet;

use anstyle::Style;

use crate::compare::data::{
    Against, Compared, Comparison, Condition, ConditionResult, Difference, Figures, Judgement, RunFacts, ToBase,
    Verdict,
};
use crate::compare::facts::PORTS;
use crate::compare::words;
use crate::report::stats::P95_NEEDS;
use crate::report::text::page::{BAD, Column, FAINT, GOOD, HEAD, Line, PLAIN, Page, WARN};
use crate::report::text::units::{count, duration};

/// Names, phases of a name, differences, warnings and reasons that are shown; the JSON has them all.
const NAMES: usize = 40;
const PHASES: usize = 16;
const MOST: usize = 12;
const REASONS: usize = 5;

pub fn render(comparison: &Comparison) -> String {
    let mut page = Page::default();
    let Comparison { runs, samples, against_base, conditions, .. } = comparison;
    runs.iter().enumerate().for_each(|(at, run)| heading(&mut page, at, run));
    against_base.iter().for_each(|against| differences(&mut page, against));
    for name in samples.iter().take(NAMES) {
        page.gap();
        figures(&mut page, name);
        reasons(&mut page, comparison, name);
        modes(&mut page, comparison, name);
        to_base(&mut page, comparison, name);
        for (verdict, against) in name.verdicts.iter().zip(against_base) {
            findings(&mut page, verdict, &against.label, against_base.len() > 1);
        }
    }
    more(&mut page, samples.len(), NAMES, "names");
    footnotes(&mut page, comparison);
    warnings(&mut page, runs);
    verdicts(&mut page, comparison);
    if !conditions.is_empty() {
        page.gap();
    }
    conditions.iter().for_each(|condition| judged(&mut page, condition));
    page.text()
}

pub fn conditions(comparison: &Comparison) -> String {
    let mut page = Page::default();
    comparison.conditions.iter().for_each(|condition| judged(&mut page, condition));
    page.text()
}

/// Runs are numbered, and called by their numbers where there is no room for more.
fn heading(page: &mut Page, at: usize, run: &RunFacts) {
    let role = format!("{} {}", if at == 0 { "base" } else { "with" }, number(at));
    let seed = run.seed.map(|seed| format!("seed {seed}"));
    let settings = run.settings.iter().map(|(name, value)| format!("{name} {value}"));
    let settings: Vec<String> = settings.chain(seed).collect();
    let settings = if settings.is_empty() { String::new() } else { format!(" ({})", settings.join(", ")) };
    let command = [vec![run.guest.name.clone()], run.arguments.clone()].concat().join(" ");
    let label = if run.label == run.backend { String::new() } else { format!(" on {}", run.backend) };
    page.paragraph(HEAD, &role, &format!("{}{label}{settings}", run.label));
    page.paragraph(FAINT, "      ", &command);
    if !run.complete {
        page.paragraph(WARN, "      ", &format!("incomplete: {}", run.outcome));
    }
}

fn differences(page: &mut Page, against: &Against) {
    // What is compared is a difference too, and is in the headings.
    let told = |one: &&Difference| one.decisive || matches!(one.what.as_str(), "machine" | "build" | "wrun" | PORTS);
    let told: Vec<&Difference> = against.differences.iter().filter(told).collect();
    if !told.is_empty() {
        page.gap();
    }
    for one in told.iter().take(MOST) {
        let style = if one.decisive { BAD } else { WARN };
        page.paragraph(style, "differs", &format!("{}: {} – {}: {}", one.what, one.base, against.label, one.other));
    }
    more(page, told.len(), MOST, "differences");
}

/// The figures of a name: each run, then each run for each phase.
fn figures(page: &mut Page, name: &Compared) {
    let head = ["sample", "run", "n", "median", "95 %", "p95", "worst", "errors"].map(str::to_owned);
    let mut lines = vec![Line::new(HEAD, head)];
    for (at, of_run) in name.runs.iter().enumerate() {
        let style = if of_run.errors > 0 { BAD } else { PLAIN };
        lines.push(line(style, &name.name, at, &of_run.figures, count(of_run.errors)));
    }
    for phase in name.phases.iter().take(PHASES) {
        for (at, figures) in phase.runs.iter().enumerate() {
            lines.push(line(FAINT, &format!("· {}", phase.name), at, figures, String::new()));
        }
    }
    let columns = [&[Column::Rest], &[Column::Right; 7][..]].concat();
    page.columns(&columns, lines);
    more(page, name.phases.len(), PHASES, "phases");
}

fn number(at: usize) -> String {
    (at + 1).to_string()
}

/// Says nothing again that the line above has said, so that the first line of a phase stands out.
fn line(style: Style, what: &str, at: usize, figures: &Figures, errors: String) -> Line {
    let times = figures.times.as_ref();
    let of = |value: Option<u64>| value.map_or_else(|| "–".to_owned(), duration);
    let interval = times.and_then(|times| times.median_interval_ns);
    let cells = [
        if at == 0 { what.to_owned() } else { String::new() },
        number(at),
        count(figures.n),
        of(times.map(|times| times.median_ns)),
        interval.map_or_else(|| "–".to_owned(), |range| words::range(range.low_ns, range.high_ns)),
        of(times.and_then(|times| times.p95_ns)),
        of(times.map(|times| times.max_ns)),
        errors,
    ];
    Line::new(style, cells)
}

fn reasons(page: &mut Page, comparison: &Comparison, name: &Compared) {
    for (run, of_run) in comparison.runs.iter().zip(&name.runs) {
        for reason in of_run.reasons.iter().take(REASONS) {
            page.paragraph(BAD, &format!("{}×", count(reason.count)), &format!("{}: {}", run.label, reason.words));
        }
        more(page, of_run.reasons.len(), REASONS, "reasons");
        if of_run.unfinished > 0 {
            page.paragraph(WARN, &format!("{}×", count(of_run.unfinished)), &format!("{}: never finished", run.label));
        }
    }
}

/// The modes of the samples, and of the phases in which a difference lies; a shape ("why") tells its own.
fn modes(page: &mut Page, comparison: &Comparison, name: &Compared) {
    let places = name.verdicts.iter().flat_map(|judgement| &judgement.places);
    let told: HashSet<&str> = places.filter_map(|place| place.phase.as_deref()).collect();
    let phases = name
        .phases
        .iter()
        .filter(|phase| told.contains(&*phase.name))
        .map(|phase| (format!(", {}", phase.name), phase.runs.iter().collect::<Vec<_>>()));
    let all = std::iter::once((String::new(), name.runs.iter().map(|run| &run.figures).collect::<Vec<_>>()));
    let mut first = true;
    for (what, runs) in all.chain(phases) {
        for (run, figures) in comparison.runs.iter().zip(runs).filter(|(_, figures)| !figures.modes.is_empty()) {
            if std::mem::take(&mut first) {
                page.gap();
            }
            page.paragraph(PLAIN, "modes", &format!("{}{what}: {}", run.label, words::modes(&figures.modes)));
        }
    }
}

/// Ratios to the base: a line for the name and each phase, of each run but the base.
fn to_base(page: &mut Page, comparison: &Comparison, name: &Compared) {
    let base = comparison.runs.first().map_or("", |run| run.label.as_str());
    let mut lines = vec![Line::new(HEAD, ["ratio to", base, "median", "95 %", "p"].map(str::to_owned))];
    let mut row = |style: Style, what: String, label: &str, to_base: &Option<ToBase>| {
        let Some(to_base) = to_base else { return };
        let none = || "–".to_owned();
        lines.push(Line::new(
            style,
            [
                what,
                label.to_owned(),
                to_base.ratio.map_or_else(none, |ratio| words::times(ratio.get())),
                to_base.interval.as_ref().map_or_else(none, words::interval),
                to_base.p.map_or_else(none, |p| words::probability(p.get())),
            ],
        ));
    };
    for (run, of_run) in comparison.runs.iter().zip(&name.runs).skip(1) {
        row(PLAIN, name.name.to_string(), &run.label, &of_run.figures.to_base);
    }
    for phase in name.phases.iter().take(PHASES) {
        for (run, figures) in comparison.runs.iter().zip(&phase.runs).skip(1) {
            row(FAINT, format!("· {}", phase.name), &run.label, &figures.to_base);
        }
    }
    if lines.len() > 1 {
        page.gap();
        page.columns(&[&[Column::Rest, Column::Rest], &[Column::Right; 3][..]].concat(), lines);
    }
}

fn findings(page: &mut Page, judgement: &Judgement, label: &str, several: bool) {
    let Judgement { places, shapes, .. } = judgement;
    if !places.is_empty() || !shapes.is_empty() {
        page.gap();
    }
    let whose = if several { format!("{label}: ") } else { String::new() };
    for place in words::places(places) {
        page.paragraph(PLAIN, "where", &format!("{whose}{place}"));
    }
    for shape in shapes {
        page.paragraph(PLAIN, "why  ", &format!("{}: {}", shape.label, shape.words));
        shape.evidence.iter().for_each(|line| page.paragraph(FAINT, "     ", line));
    }
}

fn footnotes(page: &mut Page, comparison: &Comparison) {
    let figures = || {
        comparison.samples.iter().take(NAMES).flat_map(|name| {
            let phases = name.phases.iter().flat_map(|phase| &phase.runs);
            name.runs.iter().map(|run| &run.figures).chain(phases)
        })
    };
    let any = |has: &dyn Fn(&Figures) -> bool| figures().any(has);
    page.gap();
    if comparison.samples.is_empty() {
        page.line(FAINT, "no samples: the guests measured nothing of their own");
        return;
    }
    if any(&|figures| figures.times.is_some()) {
        page.line(FAINT, "Times are of the samples that ended well; 95 % is where the true median lies.");
    }
    if any(&|figures| figures.times.as_ref().is_some_and(|times| times.p95_ns.is_none())) {
        page.line(FAINT, &format!("A p95 needs {P95_NEEDS} samples."));
    }
    if any(&|figures| figures.counted) {
        page.line(FAINT, "Some are from a histogram, exact to 0.1 %.");
    }
    if any(&|figures| figures.to_base.is_some()) {
        let seed = comparison.seed;
        page.line(FAINT, &format!("Intervals of ratios by bootstrap, seed {seed}; p by Mann and Whitney, two-sided."));
    }
}

fn warnings(page: &mut Page, runs: &[RunFacts]) {
    if runs.iter().any(|run| !run.warnings.is_empty()) {
        page.gap();
    }
    for run in runs {
        for warning in run.warnings.iter().take(MOST) {
            page.paragraph(WARN, "warning", &format!("{}: {warning}", run.label));
        }
        more(page, run.warnings.len(), MOST, &format!("warnings of {}", run.label));
    }
}

fn verdicts(page: &mut Page, comparison: &Comparison) {
    page.gap();
    for (at, against) in comparison.against_base.iter().enumerate() {
        // With one name the run's verdict is the name's.
        if comparison.samples.len() > 1 && against.verdict != Verdict::NotComparable {
            for name in comparison.samples.iter().take(NAMES) {
                let Judgement { verdict, words, .. } = &name.verdicts[at];
                page.paragraph(
                    style(*verdict),
                    "       ",
                    &format!("{}, {}: {}: {words}", against.label, name.name, verdict.word()),
                );
            }
        }
        let text = format!("{}: {}: {}", against.label, against.verdict.word(), against.words);
        page.paragraph(style(against.verdict), "verdict", &text);
    }
}

fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Same | Verdict::Faster => GOOD,
        Verdict::Slower | Verdict::Failing | Verdict::NotComparable => BAD,
        Verdict::Inconclusive | Verdict::TooFew => WARN,
    }
}

fn judged(page: &mut Page, condition: &Condition) {
    let style = match condition.result {
        ConditionResult::Passed => GOOD,
        ConditionResult::Failed | ConditionResult::TooFew => BAD,
        ConditionResult::Inconclusive | ConditionResult::NotComparable => WARN,
    };
    let Condition { expression, label, words, result } = condition;
    page.paragraph(style, "fail-if", &format!("{expression}, {label}: {}: {words}", result.word()));
}

/// Says how many of a list were not shown.
fn more(page: &mut Page, all: usize, shown: usize, what: &str) {
    if all > shown {
        page.line(FAINT, &format!("and {} more {what}", count((all - shown) as u64)));
    }
}
