//! The lower plot of a panel: where the durations of each run lie, so that two modes are two heaps.
//!
//! A strip for each run: a dot for each sample where the heaps are low enough, else a bar for each bin, and below it
//! the range, the middle half and the median. Only samples that ended well are in it, as in every figure.

use super::frame::Frame;
use super::panel::{Panel, Series};
use super::scale::Scale;
use super::svg::{Anchor, Svg};
use super::{Run, label, style};
use crate::report::statistics::Times;

/// Height of the line with a run's label.
const LABEL: f64 = 22.0;
/// Height of its heaps, and of what is below them.
const HEAP: f64 = 48.0;
const BOX: f64 = 20.0;
const ROW: f64 = LABEL + HEAP + BOX;
/// Size of the label.
const WORDS: f64 = 13.0;
/// Width of a bin, and of a dot.
const BIN: f64 = 8.0;
/// The least distance of dots that lie upon one another.
const CLOSE: f64 = 4.0;

/// How high a plot of so many runs is.
pub fn height(runs: usize) -> f64 {
    ROW * runs as f64 + 8.0
}

/// How the samples of a panel are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heaps {
    Dots,
    Bars,
}

impl Heaps {
    /// Dots, unless some bin of some run has too many.
    pub fn of(panel: &Panel<'_>, frame: Frame, scale: &Scale) -> Self {
        let highest = |series: &Series<'_>| bins(series, frame, scale).into_iter().max().unwrap_or(0);
        let highest = panel.series.iter().map(highest).max().unwrap_or(0);
        if highest as f64 * CLOSE <= HEAP { Self::Dots } else { Self::Bars }
    }

    /// For a caption.
    pub fn words(self) -> &'static str {
        match self {
            Self::Dots => "a dot for each that ended well",
            Self::Bars => "bars, the fullest of each run as high",
        }
    }
}

pub fn draw(svg: &mut Svg, runs: &[Run<'_>], panel: &Panel<'_>, frame: Frame, scale: &Scale, heaps: Heaps) {
    for (index, (run, series)) in runs.iter().zip(&panel.series).enumerate() {
        let top = frame.top + ROW * index as f64;
        let remark = match (series.well().next(), series.samples.is_empty()) {
            (Some(_), _) => "",
            (None, true) => " (none)",
            (None, false) => " (none ended well)",
        };
        let room = frame.width - 40.0 - label::width(remark) * WORDS;
        let words = format!("{}{remark}", label::printable(run.label, WORDS, room));
        svg.path(&style::fill(index), &style::marker(index, (frame.left + 10.0, top + 13.0), 4.0));
        svg.words("ink", (frame.left + 22.0, top + 18.0), Anchor::Start, &words);
        let floor = top + LABEL + HEAP;
        let bins = bins(series, frame, scale);
        match heaps {
            Heaps::Dots => dots(svg, index, &bins, (frame.left, floor)),
            Heaps::Bars => bars(svg, index, &bins, (frame.left, floor)),
        }
        if let Some(times) = series.statistics.as_ref().and_then(|statistics| statistics.times.as_ref()) {
            figures(svg, index, times, frame, scale, floor + BOX * 0.5);
        }
    }
}

/// How many samples fall into each bin of the axis.
fn bins(series: &Series<'_>, frame: Frame, scale: &Scale) -> Vec<u64> {
    let mut bins = vec![0u64; (frame.width / BIN) as usize + 1];
    let last = bins.len() - 1;
    for (duration, times) in series.well() {
        let place = (scale.place(duration) * frame.width / BIN) as usize;
        bins[place.min(last)] = bins[place.min(last)].saturating_add(times);
    }
    bins
}

fn dots(svg: &mut Svg, run: usize, bins: &[u64], (left, floor): (f64, f64)) {
    let highest = bins.iter().copied().max().unwrap_or(0).max(1);
    let step = (HEAP / highest as f64).min(BIN);
    let mut d = String::new();
    for (index, times) in bins.iter().enumerate() {
        for nth in 0..*times {
            let at = (left + (index as f64 + 0.5) * BIN, floor - BIN * 0.5 - step * nth as f64);
            d += &style::marker(run, at, BIN * 0.42);
        }
    }
    svg.path(&format!("halo {}", style::fill(run)), &d);
}

fn bars(svg: &mut Svg, run: usize, bins: &[u64], (left, floor): (f64, f64)) {
    let highest = bins.iter().copied().max().unwrap_or(0).max(1);
    for (index, times) in bins.iter().enumerate().filter(|(_, times)| **times > 0) {
        // One of a hundred thousand is seen too.
        let height = (HEAP * *times as f64 / highest as f64).max(1.5);
        svg.rect(&style::fill(run), (left + index as f64 * BIN + 0.5, floor - height), (BIN - 1.0, height));
    }
}

/// The range as a line, the middle half as a box, the median as a stroke across.
fn figures(svg: &mut Svg, run: usize, times: &Times, frame: Frame, scale: &Scale, y: f64) {
    let x = |ns: u64| frame.x(scale.place(ns));
    let (line, fill) = (style::line(run), style::fill(run));
    svg.line(&format!("range {line}"), (x(times.min_ns), y), (x(times.max_ns), y));
    let (from, to) = (x(times.p25_ns), x(times.p75_ns));
    svg.rect(&format!("box {fill}"), (from, y - 4.0), ((to - from).max(1.0), 8.0));
    svg.line(&format!("middle {line}"), (x(times.median_ns), y - 6.0), (x(times.median_ns), y + 6.0));
}
