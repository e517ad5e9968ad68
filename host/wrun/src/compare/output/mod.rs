//! A comparison in each of the forms it is printed in. All are made from [`Comparison`] alone.

mod csv;
mod junit;
mod markdown;
mod text;

use super::data::Comparison;
use crate::cli::Format;
use crate::report::json::write_lines;

/// Ended by a newline.
pub fn render(comparison: &Comparison, format: Format) -> String {
    match format {
        Format::Text => text::render(comparison),
        Format::Json => json(comparison),
        Format::Markdown => markdown::render(comparison),
        Format::Csv => csv::render(comparison),
        Format::Junit => junit::render(comparison),
    }
}

/// What came of the conditions alone, for people: of a run whose report has its figures already. Nothing where there are none.
pub fn conditions(comparison: &Comparison) -> String {
    text::conditions(comparison)
}

fn json(comparison: &Comparison) -> String {
    let mut json = Vec::new();
    // Neither memory nor these types fail to be written: keys are strings, and no number is NaN.
    write_lines(comparison, &mut json).expect("a comparison is always JSON");
    String::from_utf8(json).expect("JSON is UTF-8")
}
