//! The whole picture: the panels under one another, each a title, a legend and two plots.

use super::frame::Frame;
use super::panel::{self, Panel, State};
use super::scale::Scale;
use super::sequence::{self, Mark};
use super::spread::{self, Heaps};
use super::svg::{Anchor, Svg, escaped, number};
use super::{Run, label, legend, style};
use crate::report::text::units::{count, duration};

/// Of every picture; its height grows with the panels and the runs.
pub const WIDTH: f64 = 960.0;

/// Space around everything.
const MARGIN: f64 = 24.0;
/// Where plots begin: what is left of them is for the words of their axis.
const LEFT: f64 = 88.0;
/// Height of the upper plot.
const COURSE: f64 = 250.0;

/// A drawn picture, and what can be pointed at in it.
pub struct Picture<'a> {
    pub panels: Vec<Panel<'a>>,
    /// One for each panel; `None` where it has no samples in order.
    pub plots: Vec<Option<Plot>>,
    pub height: f64,
    /// For whoever does not see it.
    pub summary: String,
    body: String,
}

/// The upper plot of a panel.
pub struct Plot {
    pub frame: Frame,
    /// For each run.
    pub marks: Vec<Vec<Mark>>,
}

impl Picture<'_> {
    /// As a file.
    pub fn svg(&self) -> String {
        self.with("", true)
    }

    /// As SVG, with `overlay` above everything, and dark too where that is allowed and its reader is.
    pub fn with(&self, overlay: &str, dark: bool) -> String {
        let (width, height) = (number(WIDTH), number(self.height));
        // Whatever is in an image is hidden from those who are read to.
        let role = if overlay.is_empty() { "img" } else { "group" };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"{role}\" aria-label=\"{}\">\n<style>\n{}</style>\n{}{overlay}</svg>\n",
            escaped(&self.summary),
            style::sheet(dark),
            self.body,
        )
    }
}

pub fn draw<'a>(runs: &[Run<'a>]) -> Picture<'a> {
    let (panels, omitted) = panel::panels(runs);
    let mut svg = Svg::default();
    let mut top = MARGIN;
    let mut plots = Vec::new();
    for panel in &panels {
        let (plot, bottom) = draw_panel(&mut svg, runs, panel, top);
        plots.push(plot);
        top = bottom + MARGIN;
    }
    let words = match (panels.is_empty(), omitted) {
        (true, _) => Some("no samples: the guest measured nothing of its own".to_owned()),
        (false, 0) => None,
        (false, omitted) => Some(format!("and {} more names of samples", count(omitted as u64))),
    };
    if let Some(words) = &words {
        svg.words("faint label", (MARGIN, top + 16.0), Anchor::Start, words);
        top += 20.0 + MARGIN;
    }
    let mut ground = Svg::default();
    ground.rect("paper", (0.0, 0.0), (WIDTH, top));
    let summary = summary(runs, &panels, words.as_deref());
    Picture { panels, plots, height: top, summary, body: ground.text() + &svg.text() }
}

/// Draws a panel from `top` on, and answers with its upper plot and where it ends.
fn draw_panel(svg: &mut Svg, runs: &[Run<'_>], panel: &Panel<'_>, top: f64) -> (Option<Plot>, f64) {
    let title = label::printable(panel.name, 19.0, WIDTH - 2.0 * MARGIN);
    svg.words("ink title", (MARGIN, top + 18.0), Anchor::Start, &title);
    let mut top = legend::draw(svg, runs, panel, top + 26.0) + 16.0;
    let Some((shortest, longest)) = panel.range() else {
        return (None, top);
    };
    let scale = Scale::of(shortest, longest);
    let frame = |top, height| Frame { left: LEFT, top, width: WIDTH - LEFT - MARGIN, height };

    let mut plot = None;
    if panel.longest() > 0 {
        let caption = format!("duration of each, in order ({})", scale.words());
        svg.words("faint", (MARGIN, top + 13.0), Anchor::Start, &caption);
        svg.words("faint", (WIDTH - MARGIN, top + 13.0), Anchor::End, key(panel));
        let frame = frame(top + 24.0, COURSE);
        frame.durations_up(svg, &scale);
        frame.numbers_along(svg, panel.longest());
        plot = Some(Plot { frame, marks: sequence::draw(svg, panel, frame, &scale) });
        top = frame.bottom() + 50.0;
    }

    let frame = frame(top + 20.0, spread::height(runs.len()));
    let heaps = Heaps::of(panel, frame, &scale);
    let caption = format!("how the durations spread ({}): {}", scale.words(), heaps.words());
    svg.words("faint", (MARGIN, top + 13.0), Anchor::Start, &caption);
    svg.words("faint", (WIDTH - MARGIN, top + 13.0), Anchor::End, "line: range, box: middle half, stroke: median");
    frame.durations_along(svg, &scale);
    spread::draw(svg, runs, panel, frame, &scale, heaps);
    (plot, frame.bottom() + 30.0)
}

/// What the markers mean that are not of an ordinary sample.
fn key(panel: &Panel<'_>) -> &'static str {
    match (panel.has(State::Failed), panel.has(State::Unfinished)) {
        (false, false) => "",
        (true, false) => "cross: failed",
        (false, true) => "hollow: never finished",
        (true, true) => "cross: failed; hollow: never finished",
    }
}

fn summary(runs: &[Run<'_>], panels: &[Panel<'_>], words: Option<&str>) -> String {
    let mut sentences = Vec::new();
    for panel in panels {
        let run = |(run, series): (&Run<'_>, &panel::Series<'_>)| {
            let statistics = series.statistics.as_ref()?;
            let median = statistics.times.as_ref().map_or_else(
                || "none ended well".to_owned(),
                |times| format!("median {}, longest {}", duration(times.median_ns), duration(times.max_ns)),
            );
            Some(format!("{}: n {}, {median}", run.label, count(statistics.n)))
        };
        let runs: Vec<String> = runs.iter().zip(&panel.series).filter_map(run).collect();
        sentences.push(format!("Durations of {}. {}.", panel.name, runs.join("; ")));
    }
    sentences.extend(words.map(str::to_owned));
    sentences.join(" ")
}
