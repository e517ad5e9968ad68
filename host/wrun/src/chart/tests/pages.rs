//! The page, as text.

use super::fixture::{board, crowd, failing, native, run};
use crate::chart::{Run, html, picture};
use crate::report::fixture::hostile;

fn page(runs: &[Run<'_>]) -> String {
    html::page(runs, &picture::draw(runs))
}

/// The JSON that the script reads.
fn data(page: &str) -> serde_json::Value {
    let (_, after) = page.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    serde_json::from_str(after.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn nothing_is_fetched_from_anywhere() {
    let page = page(&[run("native", &native()), run("board", &failing())]);
    // The one address in it is the name of the language SVG, which nobody fetches.
    let rest = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for reference in ["//", "src=", "href", "url(", "@import", "fetch(", "import("] {
        let found = rest.lines().find(|line| line.contains(reference) && !line.trim_start().starts_with("// "));
        assert_eq!(found, None, "{reference}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_script_knows_every_request_with_its_phases() {
    let page = page(&[run("native", &native()), run("board", &failing())]);
    let data = data(&page);
    assert_eq!(data["runs"], serde_json::json!(["native", "board"]));
    let plot = &data["plots"][0];
    assert_eq!(plot["phases"], serde_json::json!(["connect", "send", "wait", "receive", "close"]));
    let points = plot["series"][1].as_array().unwrap();
    assert_eq!(points.len(), 15);
    assert_eq!(points[3]["error"], "connection refused");
    assert_eq!((&points[14]["unfinished"], &points[13]["unfinished"]), (&true.into(), &false.into()));
    assert_eq!(points[0]["phases"][2], serde_json::json!([2, 99.9, "150 ms"]));
}

#[test]
fn a_name_cannot_leave_its_script_its_attribute_or_its_cell() {
    let evil = "</script><script>alert(1)</script><!--\" onload='alert(1)' &amp; {{ 7 * 7 }}";
    let mut report = failing();
    for sample in &mut report.samples {
        sample.name = evil.into();
        sample.phases[0].name = evil.into();
        sample.error = Some(evil.into());
    }
    report.header.guest.name = evil.to_owned();
    let page = page(&[run(evil, &report)]);
    assert_eq!(page.matches("<script").count(), 2, "the data and the script");
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<!--") && page.contains("{{ 7 * 7 }}"));
    assert_eq!(data(&page)["plots"][0]["name"], evil);
    let (markup, _) = page.split_once("<script id=").unwrap();
    assert!(!markup.contains("\" onload") && !markup.contains("onload='"), "{markup}");
}

#[test]
fn hostile_reports_make_pages_and_the_largest_one_a_small_page() {
    let hostile = hostile();
    let page_of_hostile = page(&[run("board", &hostile)]);
    assert!(!page_of_hostile.contains(['\u{1b}', '\u{202e}']));
    let crowd = crowd();
    let large = page(&[run("board", &crowd)]);
    assert!(large.len() < 1_000_000, "{} bytes", large.len());
}

#[test]
fn the_figures_stand_in_a_table() {
    let board = board();
    let page = page(&[run("board", &board)]);
    let (_, row) = page.split_once("<tr><th scope=\"row\">board</th>").unwrap();
    insta::assert_snapshot!(row.split_once("</tr>").unwrap().0, @"<td>15</td><td>3.24 s</td><td>396 ms</td><td>5.86 s</td><td>–</td><td>6.99 s</td><td>0</td><td>0</td>");
}
