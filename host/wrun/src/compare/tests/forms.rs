//! How a comparison looks in each form, held still.

use anstream::adapter::strip_str;

use super::super::data::Comparison;
use super::super::expression::Expression;
use super::super::fixture::{board, emulator, killed, run};
use super::super::{Options, Run, compare, output};
use super::failing;
use crate::cli::Format;
use crate::report::data::WarningNote;
use crate::report::fixture::{hostile, many, story};

fn plain(comparison: &Comparison) -> String {
    strip_str(&output::render(comparison, Format::Text)).to_string()
}

/// The story, with a third run that fails and was killed, and conditions of every result.
fn told() -> Comparison {
    let mut third = failing(board(40, 4), 20);
    third.label = "board | <b>".to_owned();
    third.report = killed(third.report);
    third.report.warnings.push(WarningNote { code: "x".to_owned(), words: "it is \"odd\", & so on".to_owned() });
    let fail_if = ["request.median > 1.5x", "request.p95 > 1s", "request.median > 10x", "request.errors > 0"];
    let fail_if = fail_if.map(|text| Expression::parse(text).unwrap()).into();
    compare(&[emulator(15), board(15, 3), third], &Options { fail_if, ..Options::default() }).unwrap()
}

fn not_comparable() -> Comparison {
    let run = |label: &str, report| Run { label: label.to_owned(), report };
    compare(&[run("story", story()), run("many", many())], &Options::default()).unwrap()
}

fn evil(force: bool) -> Comparison {
    let run = |label: &str| Run { label: label.to_owned(), report: hostile() };
    compare(&[run("\u{1b}[31m"), run("a\r\nb,\"c\"")], &Options { force, ..Options::default() }).unwrap()
}

#[test]
fn the_story_is_told() {
    insta::assert_snapshot!(plain(&told()));
}

#[test]
fn what_is_not_comparable_says_what_differs() {
    insta::assert_snapshot!(plain(&not_comparable()));
}

#[test]
fn what_a_list_leaves_out_is_counted() {
    let mut other = emulator(15);
    let warning = |at: usize| WarningNote { code: "x".to_owned(), words: format!("it is {at}") };
    other.report.warnings = (0..15).map(warning).collect();
    let text = plain(&compare(&[emulator(15), other], &Options::default()).unwrap());
    assert!(text.contains("it is 11") && !text.contains("it is 12"), "{text}");
    assert!(text.contains("and 3 more warnings of native"), "{text}");
}

#[test]
fn modes_are_told_of_the_phases_in_which_the_difference_lies() {
    // Both have a send of two modes, and only the wait differs.
    let of = |label, wait: u64| {
        run(
            label,
            (0..20).map(move |at| vec![("send", if at % 2 == 0 { 10 + at } else { 90 + at }), ("wait", wait + at)]),
        )
    };
    let text = plain(&compare(&[of("a", 1000), of("b", 90_000)], &Options::default()).unwrap());
    assert!(!text.contains(", send: "), "{text}");
    assert!(plain(&told()).contains("modes  throttled netmf3-board, wait: "));
}

#[test]
fn conditions_are_in_every_form() {
    let told = told();
    for format in [Format::Text, Format::Json, Format::Markdown, Format::Csv, Format::Junit] {
        let text = output::render(&told, format);
        let said = ["inconclusive", "request.p95"].iter().all(|word| text.contains(word));
        assert!(said, "{format:?}: {text}");
    }
}

#[test]
fn the_other_forms_have_the_same() {
    for (name, format) in [("markdown", Format::Markdown), ("csv", Format::Csv), ("junit", Format::Junit)] {
        insta::assert_snapshot!(name, output::render(&told(), format));
    }
}

#[test]
fn the_same_reports_give_the_same_text_in_every_form() {
    for format in [Format::Text, Format::Json, Format::Markdown, Format::Csv, Format::Junit] {
        assert_eq!(output::render(&told(), format), output::render(&told(), format));
    }
}

#[test]
fn nothing_hostile_reaches_a_terminal_or_widens_the_page() {
    for comparison in [evil(false), evil(true), told(), not_comparable()] {
        let text = plain(&comparison);
        assert!(text.chars().all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}')), "{text}");
        for line in text.lines() {
            let width: usize = line.chars().map(|c| if ('\u{2e80}'..'\u{a000}').contains(&c) { 2 } else { 1 }).sum();
            assert!(width <= 80, "{width} columns: {line}");
        }
        let markdown = output::render(&comparison, Format::Markdown);
        assert!(!markdown.contains(['\u{1b}', '\r', '\u{202e}']) && !markdown.contains("<b>"), "{markdown}");
        let xml = output::render(&comparison, Format::Junit);
        assert!(!xml.contains(['\u{1b}', '\r']) && !xml.contains("<b>"), "{xml}");
    }
}

#[test]
fn every_line_of_csv_has_as_many_cells_as_the_first() {
    for comparison in [told(), not_comparable()] {
        let csv = output::render(&comparison, Format::Csv);
        for line in csv.split_terminator("\r\n") {
            let (mut quoted, mut cells) = (false, 1);
            for c in line.chars() {
                match c {
                    '"' => quoted = !quoted,
                    ',' if !quoted => cells += 1,
                    _ => {}
                }
            }
            assert_eq!(cells, 22, "{line}");
        }
    }
}

#[test]
fn no_form_of_any_comparison_has_a_number_that_is_none() {
    for comparison in [told(), not_comparable(), evil(true), compare(&[], &Options::default()).unwrap()] {
        for format in [Format::Text, Format::Json, Format::Markdown, Format::Csv, Format::Junit] {
            let text = output::render(&comparison, format);
            assert!(!text.contains("NaN") && !text.contains("inf,") && !text.contains("inf×"), "{text}");
        }
    }
}
