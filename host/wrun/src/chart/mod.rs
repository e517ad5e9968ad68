//! The chart of one run or several: every request in order, and how the durations spread.
//!
//! - What is drawn: [`panel`] takes it out of the reports, one panel for each name of samples.
//! - How: [`picture`] puts the panels under one another; [`legend`], [`sequence`] and [`spread`] are a panel's parts;
//!   [`scale`] places durations on an axis, [`frame`] draws the axis, [`style`] has
//!   colours and markers, [`label`] makes text fit.
//! - As what: [`svg`] is the writer beneath all of it, [`png`] makes pixels of it, [`html`] a page that answers to the
//!   pointer and the keyboard.
//!
//! What is left out: judging. Which run is slower, and whether that can be said, is for the comparison.

use std::io;
use std::path::{Path, PathBuf};

use crate::replace::{beside, replace};
use crate::report::Report;

mod frame;
mod html;
mod label;
mod legend;
mod panel;
mod picture;
mod png;
mod scale;
mod sequence;
mod spread;
mod style;
mod svg;
#[cfg(test)]
mod tests;

/// A run and what it is called in the chart.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    pub label: &'a str,
    pub report: &'a Report,
}

/// What a chart is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Lines and text, light or dark as its reader is.
    Svg,
    /// Pixels, light.
    Png,
    /// One file that needs no other: the picture, which shows the phases of a request, and its figures as tables.
    Html,
}

/// Why a chart cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    #[error("cannot write a chart to {}: the name says what it becomes; end it with .svg, .png or .html", path.display())]
    Kind { path: PathBuf },
    #[error("cannot write the chart to {}: {why}; name a file in a folder that exists and can be written", path.display())]
    Unwritable { path: PathBuf, why: io::Error },
    #[error("cannot draw the chart as {}: {why}; end the name with .svg or .html, which have no size", path.display())]
    Undrawable { path: PathBuf, why: String },
}

impl Kind {
    /// The kind that the file's extension names, in letters of any case.
    pub fn of(path: &Path) -> Result<Self, ChartError> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("html" | "htm") => Ok(Self::Html),
            _ => Err(ChartError::Kind { path: path.to_owned() }),
        }
    }
}

/// Whether a chart can be written to this file, so that a run whose chart cannot be kept need not begin.
pub fn check(path: &Path) -> Result<Kind, ChartError> {
    let kind = Kind::of(path)?;
    let unwritable = |why| ChartError::Unwritable { path: path.to_owned(), why };
    if path.is_dir() {
        return Err(unwritable(io::ErrorKind::IsADirectory.into()));
    }
    beside(path).map_err(unwritable)?;
    Ok(kind)
}

/// Writes the chart of some runs, in the kind that the path's extension names. The file is replaced whole.
pub fn write(path: &Path, runs: &[Run<'_>]) -> Result<(), ChartError> {
    let picture = picture::draw(runs);
    let bytes = match Kind::of(path)? {
        Kind::Svg => picture.svg().into_bytes(),
        Kind::Html => html::page(runs, &picture).into_bytes(),
        Kind::Png => png::pixels(&picture).map_err(|why| ChartError::Undrawable { path: path.to_owned(), why })?,
    };
    replace(path, |writer| writer.write_all(&bytes))
        .map_err(|why| ChartError::Unwritable { path: path.to_owned(), why })
}
