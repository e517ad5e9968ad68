//! Whole comparisons: what is said of runs that are alike, that differ, and that cannot be compared.

use super::fixture::{board, emulator};
use super::{Options, compare, output};
use crate::cli::Format;

fn text(runs: &[super::Run], options: &Options) -> String {
    anstream::adapter::strip_str(&output::render(&compare(runs, options).unwrap(), Format::Text)).to_string()
}

#[test]
fn the_story_is_told() {
    insta::assert_snapshot!(text(&[emulator(15), board(15, 3)], &Options::default()));
}
