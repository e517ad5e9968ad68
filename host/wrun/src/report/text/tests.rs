//! What a person sees, held still. The data is fixed; `cargo insta` or a look at the new file says what has changed.

use anstream::adapter::strip_str;

use super::render;
use crate::report::data::Report;
use crate::report::fixture::{ended_well, header, hostile, impaired, many, story};
use crate::report::parts::Parts;

fn plain(report: &Report) -> String {
    strip_str(&render(report)).to_string()
}

/// Columns that a line takes, with wide characters taken for two.
fn width(line: &str) -> usize {
    line.chars().map(|c| if ('\u{2e80}'..'\u{a000}').contains(&c) { 2 } else { 1 }).sum()
}

#[test]
fn a_run_with_stalls_shows_them() {
    insta::assert_snapshot!(plain(&story()));
}

#[test]
fn many_samples_show_their_spread() {
    insta::assert_snapshot!(plain(&many()));
}

#[test]
fn an_impaired_run_says_what_was_set_and_what_came_of_it() {
    insta::assert_snapshot!(plain(&impaired()));
}

#[test]
fn a_run_that_measured_nothing_is_short() {
    insta::assert_snapshot!(plain(&Parts::new(header()).report(ended_well(), 1_000_000)));
}

#[test]
fn nothing_hostile_reaches_the_terminal_or_widens_the_page() {
    let text = plain(&hostile());
    insta::assert_snapshot!(text);
    let visible = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
    assert!(text.chars().all(visible), "only the line ends of wrun itself control anything");
}

#[test]
fn no_line_is_wider_than_eighty_columns() {
    for report in [story(), many(), impaired(), hostile()] {
        for line in plain(&report).lines() {
            assert!(width(line) <= 80, "{} columns: {line}", width(line));
        }
    }
}

#[test]
fn colour_marks_what_failed_and_nothing_but_colour_is_stripped() {
    let styled = render(&story());
    assert!(styled.contains("\u{1b}[31m"));
    assert!(!plain(&story()).contains('\u{1b}'));
}
