//! The figures of a comparison as CSV (RFC 4180): a line for each sample or phase of each run, and then one for each condition,
//! which has no figures. Times in nanoseconds.
//!
//! Spreadsheets take a cell that begins in a certain way for a formula, and would compute what a guest calls its samples: before
//! such names stands an apostrophe.

use crate::compare::data::{Comparison, Condition, Figures, Number, OfRun};
use crate::report::words::printable;

const COLUMNS: [&str; 22] = [
    "run",
    "sample",
    "phase",
    "n",
    "errors",
    "unfinished",
    "min_ns",
    "median_ns",
    "median_low_ns",
    "median_high_ns",
    "p95_ns",
    "p99_ns",
    "max_ns",
    "mean_ns",
    "modes",
    "ratio",
    "ratio_low",
    "ratio_high",
    "p",
    "verdict",
    "condition",
    "result",
];

pub fn render(comparison: &Comparison) -> String {
    let mut text = String::new();
    line(&mut text, COLUMNS.map(str::to_owned));
    for name in &comparison.samples {
        for (at, (run, of_run)) in comparison.runs.iter().zip(&name.runs).enumerate() {
            let verdict =
                at.checked_sub(1).and_then(|at| name.verdicts.get(at)).map_or("base", |one| one.verdict.word());
            line(&mut text, cells(&run.label, &name.name, "", Some(of_run), &of_run.figures, verdict));
        }
        for phase in &name.phases {
            for (run, figures) in comparison.runs.iter().zip(&phase.runs) {
                line(&mut text, cells(&run.label, &name.name, &phase.name, None, figures, ""));
            }
        }
    }
    comparison.conditions.iter().for_each(|one| line(&mut text, condition(one)));
    text
}

fn cells(
    run: &str,
    sample: &str,
    phase: &str,
    of_run: Option<&OfRun>,
    figures: &Figures,
    verdict: &str,
) -> [String; COLUMNS.len()] {
    let whole = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let number = |value: Option<Number>| value.map_or_else(String::new, |value| value.rounded().to_string());
    let times = figures.times.as_ref();
    let range = times.and_then(|times| times.median_interval_ns);
    let to_base = figures.to_base.as_ref();
    let interval = to_base.and_then(|to_base| to_base.interval);
    let modes: Vec<String> = figures.modes.iter().map(|mode| format!("{}x{}", mode.median_ns, mode.count)).collect();
    [
        name(run),
        name(sample),
        name(phase),
        figures.n.to_string(),
        whole(of_run.map(|run| run.errors)),
        whole(of_run.map(|run| run.unfinished)),
        whole(times.map(|times| times.min_ns)),
        whole(times.map(|times| times.median_ns)),
        whole(range.map(|range| range.low_ns)),
        whole(range.map(|range| range.high_ns)),
        whole(times.and_then(|times| times.p95_ns)),
        whole(times.and_then(|times| times.p99_ns)),
        whole(times.map(|times| times.max_ns)),
        whole(times.map(|times| times.mean_ns)),
        modes.join(" "),
        number(to_base.and_then(|to_base| to_base.ratio)),
        number(interval.map(|interval| interval.low)),
        number(interval.map(|interval| interval.high)),
        number(to_base.and_then(|to_base| to_base.p)),
        verdict.to_owned(),
        String::new(),
        String::new(),
    ]
}

/// All but the run, the condition and what came of it is empty.
fn condition(condition: &Condition) -> [String; COLUMNS.len()] {
    let mut cells = COLUMNS.map(|_| String::new());
    cells[0] = name(&condition.label);
    let [.., expression, result] = &mut cells;
    (*expression, *result) = (name(&condition.expression), condition.result.word().to_owned());
    cells
}

fn line(text: &mut String, cells: [String; COLUMNS.len()]) {
    text.push_str(&cells.map(|cell| quoted(&printable(&cell))).join(","));
    text.push_str("\r\n");
}

/// A stranger's words, of which no spreadsheet makes a formula.
fn name(words: &str) -> String {
    let words = printable(words);
    let formula = words.trim_start().starts_with(['=', '+', '-', '@', '\t']);
    if formula { format!("'{words}") } else { words.into_owned() }
}

/// In quotes where it would be misread without; quotes in it are doubled.
fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\r', '\n']) || cell.starts_with(' ') || cell.ends_with(' ') {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_a_formula() {
        let names = ["=1+1", "+1", "-cmd", "@sum", " =1", "\t=1", "a=1", "", "'=1"];
        assert_eq!(names.map(name)[..5], ["'=1+1", "'+1", "'-cmd", "'@sum", "' =1"]);
        assert!(names.map(name).iter().all(|name| !name.trim_start().starts_with(['=', '+', '-', '@', '\t'])));
        assert_eq!(names.map(name)[6..], ["a=1", "", "'=1"]);
    }

    #[test]
    fn what_would_be_misread_is_quoted() {
        assert_eq!(
            [quoted("a"), quoted("a,b"), quoted("say \"a\""), quoted("a\nb")],
            ["a", "\"a,b\"", "\"say \"\"a\"\"\"", "\"a\nb\""]
        );
    }
}
