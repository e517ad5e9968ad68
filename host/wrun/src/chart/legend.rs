//! The lines above a panel's plots: a run each, with its marker and its figures.

use super::panel::{Panel, Series};
use super::svg::{Anchor, Svg};
use super::{Run, label, style};
use crate::report::statistics::{Statistics, Times};
use crate::report::text::units::{count, duration};

/// Height of a line.
const LINE: f64 = 24.0;
/// Size of a label, as its class has it.
const LABEL: f64 = 15.0;
/// Where labels begin, and where the room for them ends.
const LABELS: (f64, f64) = (44.0, 500.0);

/// A column of figures: its head, its right edge, and what it shows of a series.
type Column = (&'static str, f64, fn(&Series<'_>) -> String);

const COLUMNS: [Column; 5] = [
    ("n", 560.0, |series| counted(series, |statistics| statistics.n)),
    ("median", 656.0, |series| time(series, |times| times.median_ns)),
    ("longest", 752.0, |series| time(series, |times| times.max_ns)),
    ("failed", 832.0, |series| counted(series, |statistics| statistics.errors)),
    ("unfinished", 936.0, |series| counted(series, |statistics| statistics.unfinished)),
];

/// Draws it from `top` on, and answers with where it ends.
pub fn draw(svg: &mut Svg, runs: &[Run<'_>], panel: &Panel<'_>, top: f64) -> f64 {
    for (head, right, _) in COLUMNS {
        svg.words("faint", (right, top + 14.0), Anchor::End, head);
    }
    for (index, (run, series)) in runs.iter().zip(&panel.series).enumerate() {
        let baseline = top + LINE * (index as f64 + 1.0) + 14.0;
        let marker = style::marker(index, (30.0, baseline - 5.0), 5.0);
        svg.path(&style::fill(index), &marker);
        let remark = remark(run, series);
        let room = LABELS.1 - LABELS.0 - label::width(remark) * LABEL;
        let words = format!("{}{remark}", label::printable(run.label, LABEL, room));
        svg.words("ink label", (LABELS.0, baseline), Anchor::Start, &words);
        for (_, right, figure) in COLUMNS {
            svg.words("ink label", (right, baseline), Anchor::End, &figure(series));
        }
    }
    top + LINE * (runs.len() as f64 + 1.0)
}

/// What a reader of a run's figures must know before all.
fn remark(run: &Run<'_>, series: &Series<'_>) -> &'static str {
    match (run.report.complete, series.histogram) {
        (false, _) => " (cut short)",
        (true, Some(_)) => " (counted only)",
        (true, None) => "",
    }
}

fn counted(series: &Series<'_>, figure: fn(&Statistics) -> u64) -> String {
    of(series.statistics.as_ref().map(|statistics| count(figure(statistics))))
}

fn time(series: &Series<'_>, figure: fn(&Times) -> u64) -> String {
    of(series.statistics.as_ref().and_then(|statistics| statistics.times.as_ref()).map(|times| duration(figure(times))))
}

fn of(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| "–".to_owned())
}
