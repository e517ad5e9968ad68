//! The chart as a page: one file that needs no other and no network, and opens from a folder.
//!
//! The picture is in it as SVG. `page/page.js` shows the phases of the sample under the pointer, or of the one that
//! the arrow keys have reached; what it shows is laid down here, words and all, so that durations are put into words
//! in one place. Below the picture the figures stand as tables, for whoever does not see it.

use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde::Serialize;

use super::Run;
use super::panel::{Panel, Series, State};
use super::picture::{Picture, Plot};
use super::sequence::Mark;
use super::svg::Svg;
use crate::report::statistics::Times;
use crate::report::text::units::{count, duration};
use crate::report::words::{cut, printable};

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Phases of a sample, or of a name, that are shown.
const PHASES: usize = 16;
/// Bytes of a name or an error that are shown.
const WORDS: usize = 300;

/// The page of a picture of these runs.
pub fn page(runs: &[Run<'_>], picture: &Picture<'_>) -> String {
    let mut pages = Environment::new();
    // Its name makes everything in it HTML, which is escaped unless the template says otherwise.
    pages.add_template("page.html", TEMPLATE).expect("the template is whole");
    let template = pages.get_template("page.html").expect("it was added");
    let labels: Vec<String> = runs.iter().map(|run| words(run.label)).collect();
    let filled = template.render(Value::from(Serde(Page {
        runs: runs.iter().zip(&labels).map(|(run, label)| About::of(run, label)).collect(),
        svg: picture.with(&overlay(picture), true),
        tables: picture.panels.iter().map(|panel| Table::of(&labels, panel)).collect(),
        data: Data::of(&labels, picture),
        style: STYLE,
        script: SCRIPT,
    })));
    filled.expect("the template names nothing but these")
}

/// What the template is filled with.
#[derive(Serialize)]
struct Page<'a> {
    runs: Vec<About<'a>>,
    svg: String,
    tables: Vec<Table>,
    data: Data<'a>,
    style: &'static str,
    script: &'static str,
}

/// A stranger's words, bounded.
fn words(text: &str) -> String {
    printable(cut(text, WORDS)).into_owned()
}

/// What lies above the picture: over each plot a surface that hears the pointer, and the ring that shows where it is.
fn overlay(picture: &Picture<'_>) -> String {
    let mut svg = Svg::default();
    for (panel, plot) in picture.plots.iter().enumerate() {
        if let Some(Plot { frame, .. }) = plot {
            let [x, y, width, height] = [frame.left, frame.top, frame.width, frame.height].map(|side| side.to_string());
            let name = format!("{}: the arrow keys go from one to the next", words(picture.panels[panel].name));
            svg.element(
                "rect",
                &[
                    ("class", "surface"),
                    ("data-plot", &panel.to_string()),
                    ("tabindex", "0"),
                    ("role", "application"),
                    ("aria-label", &name),
                    ("x", &x),
                    ("y", &y),
                    ("width", &width),
                    ("height", &height),
                ],
            );
        }
    }
    svg.element("circle", &[("id", "ring"), ("class", "cursor"), ("r", "9"), ("cx", "-99"), ("cy", "-99")]);
    svg.text()
}

/// A run as the page's first table has it.
#[derive(Serialize)]
struct About<'a> {
    label: &'a str,
    guest: String,
    sockets: String,
    start: String,
    outcome: String,
}

impl<'a> About<'a> {
    fn of(run: &Run<'_>, label: &'a str) -> Self {
        let header = &run.report.header;
        Self {
            label,
            guest: words(&header.guest.name),
            sockets: words(&header.backend.name),
            start: words(&header.start),
            outcome: words(&run.report.outcome.words),
        }
    }
}

/// The figures of one name.
#[derive(Serialize)]
struct Table {
    name: String,
    rows: Vec<Row>,
}

/// A run, or one of its phases.
#[derive(Serialize)]
struct Row {
    label: String,
    phase: bool,
    cells: Vec<String>,
}

impl Table {
    fn of(labels: &[String], panel: &Panel<'_>) -> Self {
        let rows = labels.iter().zip(&panel.series).flat_map(|(label, series)| rows(label, series)).collect();
        Self { name: words(panel.name), rows }
    }
}

fn rows(label: &str, series: &Series<'_>) -> Vec<Row> {
    let Some(statistics) = &series.statistics else { return Vec::new() };
    let counts = [count(statistics.errors), count(statistics.unfinished)];
    let mut rows = vec![Row {
        label: label.to_owned(),
        phase: false,
        cells: [&figures(statistics.n, statistics.times.as_ref())[..], &counts].concat(),
    }];
    rows.extend(statistics.phases.iter().take(PHASES).map(|phase| Row {
        label: words(&phase.name),
        phase: true,
        cells: [&figures(phase.n, Some(&phase.times))[..], &[String::new(), String::new()]].concat(),
    }));
    rows
}

fn figures(n: u64, times: Option<&Times>) -> [String; 6] {
    let time = |figure: fn(&Times) -> Option<u64>| times.and_then(figure).map_or_else(|| "–".to_owned(), duration);
    [
        count(n),
        time(|times| Some(times.median_ns)),
        time(|times| Some(times.p25_ns)),
        time(|times| Some(times.p75_ns)),
        time(|times| times.p95_ns),
        time(|times| Some(times.max_ns)),
    ]
}

/// What the script knows.
#[derive(Serialize)]
struct Data<'a> {
    runs: &'a [String],
    /// One for each panel.
    plots: Vec<Points>,
}

/// The samples of a panel that can be pointed at.
#[derive(Serialize)]
struct Points {
    name: String,
    /// Names of phases, which the points refer to by their place.
    phases: Vec<String>,
    /// For each run.
    series: Vec<Vec<Point>>,
}

#[derive(Serialize)]
struct Point {
    /// Its number in the run, from 1.
    number: usize,
    x: f64,
    y: f64,
    duration: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    unfinished: bool,
    /// The place of the phase's name, its share of the duration in percent, and its duration.
    phases: Vec<(usize, f64, String)>,
    /// Phases that are not shown.
    more: usize,
}

impl<'a> Data<'a> {
    fn of(runs: &'a [String], picture: &Picture<'_>) -> Self {
        let plots = picture.panels.iter().zip(&picture.plots).map(|(panel, plot)| {
            let mut points = Points { name: words(panel.name), phases: Vec::new(), series: Vec::new() };
            for (series, marks) in panel.series.iter().zip(plot.iter().flat_map(|plot| &plot.marks)) {
                let points_of = marks.iter().map(|mark| Point::of(series, mark, &mut points.phases)).collect();
                points.series.push(points_of);
            }
            points
        });
        Self { runs, plots: plots.collect() }
    }
}

impl Point {
    fn of(series: &Series<'_>, mark: &Mark, names: &mut Vec<String>) -> Self {
        let sample = series.samples[mark.index];
        let tenth = |value: f64| (value * 10.0).round() / 10.0;
        let phase = |phase: &crate::report::data::Phase| {
            let name = words(&phase.name);
            let place = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            let share = phase.duration_ns as f64 * 100.0 / sample.duration_ns.max(1) as f64;
            (place, tenth(share.min(100.0)), duration(phase.duration_ns))
        };
        Self {
            number: mark.index + 1,
            x: tenth(mark.x),
            y: tenth(mark.y),
            duration: duration(sample.duration_ns),
            error: sample.error.as_deref().map(words),
            unfinished: State::of(sample) == State::Unfinished,
            phases: sample.phases.iter().take(PHASES).map(phase).collect(),
            more: sample.phases.len().saturating_sub(PHASES),
        }
    }
}
