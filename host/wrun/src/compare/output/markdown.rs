//! A comparison as Markdown: the verdicts first, then a table a name. For a pull request or a page.

use std::fmt::Write;

use crate::compare::data::{Compared, Comparison, Figures, Judgement};
use crate::compare::words;
use crate::report::text::units::{count, duration};
use crate::report::words::printable;

pub fn render(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (at, against) in comparison.against_base.iter().enumerate() {
        if at > 0 {
            // Or they would be one paragraph.
            line(&mut text, "");
        }
        line(&mut text, format!("**{}: {}**: {}", safe(&against.label), against.verdict.word(), safe(&against.words)));
        for one in against.differences.iter().filter(|one| one.decisive) {
            line(&mut text, format!("- {} differs: {} – {}", safe(&one.what), safe(&one.base), safe(&one.other)));
        }
    }
    if !comparison.conditions.is_empty() {
        line(&mut text, "");
    }
    for condition in &comparison.conditions {
        let (expression, label, words) = (safe(&condition.expression), safe(&condition.label), safe(&condition.words));
        line(&mut text, format!("- {expression}, {label}: **{}**: {words}", condition.result.word()));
    }
    for name in &comparison.samples {
        table(&mut text, comparison, name);
        for (judgement, against) in name.verdicts.iter().zip(&comparison.against_base) {
            findings(&mut text, judgement, &against.label);
        }
    }
    for run in comparison.runs.iter() {
        if !run.complete {
            line(&mut text, format!("- {} is incomplete: {}", safe(&run.label), safe(&run.outcome)));
        }
        for warning in &run.warnings {
            line(&mut text, format!("- {}: {}", safe(&run.label), safe(warning)));
        }
    }
    text
}

fn table(text: &mut String, comparison: &Comparison, name: &Compared) {
    line(text, "");
    line(text, "| sample | run | n | median | 95 % | p95 | worst | errors | ratio | 95 % | p |");
    line(text, "| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
    for (run, of_run) in comparison.runs.iter().zip(&name.runs) {
        row(text, &name.name, &run.label, &of_run.figures, count(of_run.errors));
    }
    for phase in &name.phases {
        for (run, figures) in comparison.runs.iter().zip(&phase.runs) {
            row(text, &format!("· {}", phase.name), &run.label, figures, String::new());
        }
    }
    line(text, "");
    for (run, of_run) in comparison.runs.iter().zip(&name.runs) {
        if !of_run.figures.modes.is_empty() {
            line(text, format!("- {}: {}", safe(&run.label), words::modes_with_ranges(&of_run.figures.modes)));
        }
    }
}

fn row(text: &mut String, what: &str, label: &str, figures: &Figures, errors: String) {
    let times = figures.times.as_ref();
    let none = || "–".to_owned();
    let of = |value: Option<u64>| value.map_or_else(none, duration);
    let range = times.and_then(|times| times.median_interval_ns);
    let to_base = figures.to_base.as_ref();
    let cells = [
        safe(what),
        safe(label),
        count(figures.n),
        of(times.map(|times| times.median_ns)),
        range.map_or_else(none, |range| words::range(range.low_ns, range.high_ns)),
        of(times.and_then(|times| times.p95_ns)),
        of(times.map(|times| times.max_ns)),
        errors,
        to_base.and_then(|to_base| to_base.ratio).map_or_else(none, |ratio| words::times(ratio.get())),
        to_base.and_then(|to_base| to_base.interval).map_or_else(none, |interval| words::interval(&interval)),
        to_base.and_then(|to_base| to_base.p).map_or_else(none, |p| safe(&words::probability(p.get()))),
    ];
    line(text, format!("| {} |", cells.join(" | ")));
}

fn findings(text: &mut String, judgement: &Judgement, label: &str) {
    for place in words::places(&judgement.places) {
        line(text, format!("- {}: {}", safe(label), safe(&place)));
    }
    for shape in &judgement.shapes {
        line(text, format!("- {}: {}", safe(&shape.label), safe(&shape.words)));
        shape.evidence.iter().for_each(|evidence| line(text, format!("  - {}", safe(evidence))));
    }
}

fn line(text: &mut String, words: impl AsRef<str>) {
    // Writing to a string cannot fail.
    _ = writeln!(text, "{}", words.as_ref());
}

/// A stranger's words as words: nothing in them is taken for Markdown or HTML.
fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in printable(text).chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '!' | '&' | '$' | '@'
        ) {
            safe.push('\\');
        }
        safe.push(c);
    }
    safe
}
