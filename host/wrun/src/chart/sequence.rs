//! The upper plot of a panel: every sample in order, its number along and its duration up.
//!
//! While they are few, a run is a line with a marker for each sample. When they are many, lines would fill everything
//! between two modes; then each cell of a fine grid that holds a sample is inked. So no sample is left out of the
//! picture, its extremes least of all, and yet its size has a bound.

use super::frame::{Frame, middle};
use super::panel::{Panel, Series, State};
use super::scale::Scale;
use super::style;
use super::svg::{Svg, number};

/// Samples of a run that have a marker each.
const EACH: usize = 240;
/// Width and height of a cell, in the picture's units. The style sheet's `crowd` is as wide.
const CELL: f64 = 2.0;

/// A sample that can be pointed at: all of them while they are few, of many the extremes of each column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// Its place among the series' samples.
    pub index: usize,
    pub x: f64,
    pub y: f64,
}

/// Draws the samples of every run, and answers with the marks of each.
pub fn draw(svg: &mut Svg, panel: &Panel<'_>, frame: Frame, scale: &Scale) -> Vec<Vec<Mark>> {
    let longest = panel.longest();
    let places: Vec<Vec<Mark>> = panel.series.iter().map(|series| places(series, longest, frame, scale)).collect();
    if longest > EACH {
        for (run, places) in places.iter().enumerate() {
            svg.path(&format!("crowd {}", style::line(run)), &crowd(places, frame));
        }
        let marks = panel.series.iter().zip(&places).map(|(series, places)| extremes(series, places, frame));
        let marks: Vec<Vec<Mark>> = marks.collect();
        // A cell is easily overlooked, and what stands alone must not be.
        let longest: Vec<usize> = panel.series.iter().map(longest_of).collect();
        let shown = |run: usize, mark: &Mark, state| state != State::Well || longest[run] == mark.index;
        markers(svg, panel, &marks, 3.5, shown);
        return marks;
    }
    for (run, places) in places.iter().enumerate() {
        svg.path(&format!("course {}", style::line(run)), &course(places));
    }
    let radius = (frame.width / longest.max(1) as f64 * 0.32).clamp(2.0, 5.0);
    markers(svg, panel, &places, radius, |_, _, _| true);
    places
}

/// The place of the longest sample; 0 where there is none.
fn longest_of(series: &Series<'_>) -> usize {
    let samples = series.samples.iter().enumerate();
    samples.max_by_key(|(_, sample)| sample.duration_ns).map_or(0, |(index, _)| index)
}

fn places(series: &Series<'_>, longest: usize, frame: Frame, scale: &Scale) -> Vec<Mark> {
    let place = |(index, sample): (usize, &&crate::report::data::Sample)| Mark {
        index,
        x: frame.x(middle(index, longest)),
        y: frame.y(scale.place(sample.duration_ns)),
    };
    series.samples.iter().enumerate().map(place).collect()
}

fn course(places: &[Mark]) -> String {
    let mut d = String::new();
    for (place, command) in places.iter().zip(std::iter::once('M').chain(std::iter::repeat('L'))) {
        d += &format!("{command}{} {}", number(place.x), number(place.y));
    }
    d
}

/// The markers of the samples that are to be shown: filled, hollow for the unfinished, a cross for the failed. What is
/// out of the ordinary lies above all that is not.
fn markers(
    svg: &mut Svg,
    panel: &Panel<'_>,
    marks: &[Vec<Mark>],
    radius: f64,
    shown: impl Fn(usize, &Mark, State) -> bool,
) {
    for state in [State::Well, State::Unfinished, State::Failed] {
        for (run, (series, marks)) in panel.series.iter().zip(marks).enumerate() {
            let such = marks.iter().filter(|mark| State::of(series.samples[mark.index]) == state);
            let at = such.filter(|mark| shown(run, mark, state)).map(|mark| (mark.x, mark.y));
            let (class, d): (_, String) = match state {
                State::Well => {
                    (format!("halo {}", style::fill(run)), at.map(|at| style::marker(run, at, radius)).collect())
                }
                State::Unfinished => {
                    (format!("hollow {}", style::line(run)), at.map(|at| style::marker(run, at, radius)).collect())
                }
                State::Failed => {
                    (format!("failed {}", style::line(run)), at.map(|at| style::cross(at, radius + 0.8)).collect())
                }
            };
            svg.path(&class, &d);
        }
    }
}

/// The columns of the grid, each with the marks in it; marks go from left to right.
fn columns(places: &[Mark], frame: Frame) -> impl Iterator<Item = (usize, &[Mark])> {
    let column = move |mark: &Mark| ((mark.x - frame.left) / CELL) as usize;
    places.chunk_by(move |a, b| column(a) == column(b)).map(move |marks| (column(&marks[0]), marks))
}

/// A line down the middle of each column, wherever a cell has a sample.
fn crowd(places: &[Mark], frame: Frame) -> String {
    let last = (frame.height / CELL) as usize;
    let mut d = String::new();
    for (column, marks) in columns(places, frame) {
        let mut rows: Vec<usize> = marks.iter().map(|mark| ((mark.y - frame.top) / CELL) as usize).collect();
        rows.sort_unstable();
        rows.dedup();
        let x = number(frame.left + (column as f64 + 0.5) * CELL);
        for cells in rows.chunk_by(|a, b| a + 1 == *b) {
            let y = frame.top + cells[0].min(last) as f64 * CELL;
            d += &format!("M{x} {}v{}", number(y), number(cells.len() as f64 * CELL));
        }
    }
    d
}

/// In every column the shortest and the longest sample of each state, from left to right.
fn extremes(series: &Series<'_>, places: &[Mark], frame: Frame) -> Vec<Mark> {
    let mut kept: Vec<Mark> = Vec::new();
    for (_, marks) in columns(places, frame) {
        let from = kept.len();
        for state in [State::Well, State::Failed, State::Unfinished] {
            let such = || marks.iter().filter(|mark| State::of(series.samples[mark.index]) == state);
            let duration = |mark: &&Mark| series.samples[mark.index].duration_ns;
            kept.extend(such().min_by_key(duration));
            kept.extend(such().max_by_key(duration));
        }
        kept[from..].sort_by_key(|mark| mark.index);
    }
    kept.dedup_by_key(|mark| mark.index);
    kept
}
