//! The picture, as SVG and as pixels.

use resvg::tiny_skia::Pixmap;

use super::fixture::{board, crowd, failing, native, request, run};
use crate::chart::{ChartError, Kind, Run, check, picture, write};
use crate::report::Report;
use crate::report::fixture::{hostile, many, of};

fn svg(runs: &[Run<'_>]) -> String {
    picture::draw(runs).svg()
}

fn names_in(folder: &std::path::Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn a_flat_run_beside_one_of_two_modes() {
    insta::assert_snapshot!(svg(&[run("native", &native()), run("board", &board())]));
}

#[test]
fn what_failed_and_what_never_ended_have_shapes_of_their_own() {
    insta::assert_snapshot!(svg(&[run("board", &failing())]));
}

#[test]
fn runs_without_samples_say_so() {
    insta::assert_snapshot!(svg(&[run("native", &of(Vec::new()))]));
}

#[test]
fn one_sample_is_one_point() {
    insta::assert_snapshot!(svg(&[run("native", &of(vec![request(0, 900, None)]))]));
}

#[test]
fn a_hundred_thousand_samples_keep_their_extremes_and_little_text() {
    let (native, crowd) = (native(), crowd());
    let svg = svg(&[run("native", &native), run("board", &crowd)]);
    assert!(svg.len() < 100_000, "{} bytes", svg.len());
    insta::assert_snapshot!(svg);
    let drawn = [run("board", &crowd)];
    let picture = picture::draw(&drawn);
    let marks = &picture.plots[0].as_ref().unwrap().marks[0];
    assert!(marks.iter().any(|mark| mark.index == 61_803), "the one sample that is far from all others is lost");
    assert!(marks.len() < 2_000, "{} marks", marks.len());
}

#[test]
fn samples_that_were_only_counted_have_their_spread() {
    let (many, native) = (many(), native());
    let drawn = svg(&[run("server", &many), run("native", &native)]);
    assert!(drawn.contains(">server (counted only)<"), "{drawn}");
    let picture = picture::draw(&[run("server", &many)]).plots.len();
    assert_eq!(picture, 2);
}

#[test]
fn figures_are_of_the_samples_and_not_of_what_the_file_says_of_them() {
    let mut report = native();
    let true_to_them = svg(&[run("native", &report)]);
    report.statistics[0].n = 999;
    report.statistics[0].times = None;
    assert_eq!(svg(&[run("native", &report)]), true_to_them);
}

#[test]
fn the_colours_of_the_dark_are_in_the_file_and_not_in_the_pixels() {
    let native = native();
    let runs = [run("native", &native)];
    let picture = picture::draw(&runs);
    assert!(picture.svg().contains("prefers-color-scheme: dark"));
    assert!(!picture.with("", false).contains("prefers-color-scheme"));
}

#[test]
fn nothing_hostile_becomes_markup_and_the_largest_numbers_are_drawn() {
    let mut report = hostile();
    let evil = "</text></svg><script>alert(1)</script>\" onload=\"alert(1)";
    report.samples.iter_mut().for_each(|sample| sample.name = evil.into());
    let svg = svg(&[run(evil, &report), run("\u{1b}]0;owned\u{7}\u{202e}", &report)]);
    resvg::usvg::roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    assert!(!svg.contains("<script") && !svg.contains("\" onload"), "{svg}");
    assert!(!svg.contains(|c: char| c == '\u{202e}' || (c.is_control() && c != '\n')), "{svg}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

#[test]
fn pixels_have_twice_the_size_and_are_not_blank() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chart.PNG");
    let (native, board) = (native(), board());
    let runs = [run("native", &native), run("board", &board)];
    write(&path, &runs).unwrap();
    let pixels = Pixmap::decode_png(&std::fs::read(&path).unwrap()).unwrap();
    let height = picture::draw(&runs).height;
    assert_eq!((pixels.width(), f64::from(pixels.height())), (1920, (height * 2.0).round()));
    let coloured = |colour: [u8; 3]| {
        pixels.pixels().iter().filter(|pixel| [pixel.red(), pixel.green(), pixel.blue()] == colour).count()
    };
    let (paper, first, second) = (coloured([0xff; 3]), coloured([0, 0x72, 0xb2]), coloured([0xd5, 0x5e, 0]));
    assert!(paper > pixels.pixels().len() / 2 && first > 1000 && second > 1000, "{paper} {first} {second}");
    // Words are there too: grey strokes of the size of letters.
    assert!(coloured([0x1f, 0x23, 0x28]) > 500);
}

#[test]
fn a_picture_of_many_runs_is_drawn_less_fine_rather_than_not() {
    let native = native();
    let runs: Vec<Run<'_>> = std::iter::repeat_n(run("native", &native), 20).collect();
    let drawn = crate::chart::png::within(&picture::draw(&runs), 1e6).unwrap();
    let pixels = Pixmap::decode_png(&drawn).unwrap();
    assert!(pixels.width() < 960 && (900_000..1_010_000).contains(&pixels.pixels().len()), "{}", pixels.pixels().len());
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_its_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file.svg"), folder.path().join("link.svg"));
    std::fs::write(&file, "older").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    write(&link, &[]).unwrap();
    assert!(link.is_symlink() && std::fs::read_to_string(&file).unwrap().starts_with("<svg"));
}

#[test]
fn the_extension_says_the_kind_and_another_is_refused_with_the_three() {
    for (name, kind) in [("a.svg", Kind::Svg), ("a.b.PNG", Kind::Png), ("a.html", Kind::Html), ("a.Htm", Kind::Html)] {
        assert_eq!(Kind::of(name.as_ref()).unwrap(), kind, "{name}");
    }
    for name in ["chart", "chart.pdf", ".svg", "svg", "chart.svg.gz", ""] {
        let error = Kind::of(name.as_ref()).unwrap_err().to_string();
        assert!(error.contains(".svg, .png or .html"), "{error}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_said_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("folder.svg")).unwrap();
    for name in ["no/such/folder/chart.svg", "folder.svg"] {
        let path = folder.path().join(name);
        for error in [check(&path).map(drop).unwrap_err(), write(&path, &[]).unwrap_err()] {
            assert!(matches!(error, ChartError::Unwritable { .. }), "{error}");
            assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
        }
    }
    assert_eq!(names_in(folder.path()), ["folder.svg"]);
}

#[test]
fn an_older_chart_is_replaced_whole_and_nothing_lies_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chart.svg");
    std::fs::write(&path, "older".repeat(100_000)).unwrap();
    assert_eq!(check(&path).unwrap(), Kind::Svg);
    let empty: Report = of(Vec::new());
    write(&path, &[run("native", &empty)]).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), svg(&[run("native", &empty)]));
    assert_eq!(names_in(folder.path()), ["chart.svg"]);
}
