//! Colours, and what tells runs and states apart where colours do not.
//!
//! The colours are those of Okabe and Ito, which people with any of the common colour blindnesses can tell apart, some
//! darker on white and lighter on black so that thin lines are seen; yellow is left out. Each run has a marker of its
//! own as well.

use super::svg::number;

/// The light and the dark colour of a run.
const COLOURS: [(&str, &str); 7] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#e8793a"),
    ("#009e73", "#2bbd93"),
    ("#b85b8c", "#d98fb8"),
    ("#b57d00", "#e69f00"),
    ("#3b93c9", "#3f83c0"),
    ("#4d4d4d", "#c8c8c8"),
];

/// What else has a colour: class, property, light, dark.
const PARTS: [(&str, &str, &str, &str); 8] = [
    ("paper", "fill", "#ffffff", "#14171a"),
    ("hollow", "fill", "#ffffff", "#14171a"),
    ("halo", "stroke", "#ffffff", "#14171a"),
    ("ink", "fill", "#1f2328", "#e6e9ec"),
    ("faint", "fill", "#57606a", "#a2abb5"),
    ("grid", "stroke", "#e1e5e9", "#2b3036"),
    ("axis", "stroke", "#8b949e", "#6b747d"),
    ("cursor", "stroke", "#1f2328", "#e6e9ec"),
];

/// Shapes and sizes, which are the same in the light and in the dark.
const SHAPES: &str = "\
text { font-family: system-ui, sans-serif; font-size: 13px; font-variant-numeric: tabular-nums; }
.title { font-size: 19px; font-weight: 600; }
.label { font-size: 15px; }
path, line { fill: none; stroke-width: 1; }
.course { stroke-width: 1.5; stroke-opacity: 0.55; }
.hollow { stroke-width: 1.8; }
.failed { stroke-width: 2.4; stroke-linecap: round; }
.crowd { stroke-width: 2; stroke-opacity: 0.75; }
.middle { stroke-width: 3; }
.range { stroke-width: 1.2; }
.box { fill-opacity: 0.35; }
";

/// The style sheet: light, and dark too where the reader wants that and `dark` allows it.
pub fn sheet(dark: bool) -> String {
    let light = colours(COLOURS.map(|run| run.0), PARTS.map(|(class, property, light, _)| (class, property, light)));
    if !dark {
        return format!("{SHAPES}{light}");
    }
    let dark = colours(COLOURS.map(|run| run.1), PARTS.map(|(class, property, _, dark)| (class, property, dark)));
    format!("{SHAPES}{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n")
}

fn colours<'a>(runs: [&str; COLOURS.len()], parts: [(&'a str, &'a str, &'a str); PARTS.len()]) -> String {
    // Runs first: a hollow marker has its run's line, and the paper's colour inside.
    let mut rules = String::new();
    for (index, colour) in runs.iter().enumerate() {
        rules += &format!(".fill{index} {{ fill: {colour}; }}\n.line{index} {{ stroke: {colour}; }}\n");
    }
    for (class, property, colour) in parts {
        rules += &format!(".{class} {{ {property}: {colour}; }}\n");
    }
    rules
}

/// The class of what is filled with a run's colour.
pub fn fill(run: usize) -> String {
    format!("fill{}", run % COLOURS.len())
}

/// The class of what is drawn in a run's colour.
pub fn line(run: usize) -> String {
    format!("line{}", run % COLOURS.len())
}

/// A run's marker around a point, as part of a path. `radius` is about its reach.
///
/// There is one shape less than colours, so that forty-two runs are told apart by both together.
pub fn marker(run: usize, (x, y): (f64, f64), radius: f64) -> String {
    const SHAPES: usize = COLOURS.len() - 1;
    match run % SHAPES {
        0 => {
            // Rounded first: an arc whose ends are not quite two radii apart is no half of a circle.
            let radius = (radius * 10.0).round() / 10.0;
            let (r, across) = (number(radius), number(radius * 2.0));
            format!("M{} {}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0 -{across} 0z", number(x - radius), number(y))
        }
        1 => polygon((x, y), &[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)], radius),
        2 => polygon((x, y), &[(0.0, -1.15), (1.1, 0.8), (-1.1, 0.8)], radius),
        3 => polygon((x, y), &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)], radius),
        4 => polygon((x, y), &[(0.0, 1.15), (1.1, -0.8), (-1.1, -0.8)], radius),
        _ => polygon((x, y), &[(0.0, -1.15), (1.1, -0.35), (0.68, 0.95), (-0.68, 0.95), (-1.1, -0.35)], radius),
    }
}

/// The cross of what failed, whichever run it was.
pub fn cross((x, y): (f64, f64), radius: f64) -> String {
    let (left, right, top, bottom) = (number(x - radius), number(x + radius), number(y - radius), number(y + radius));
    format!("M{left} {top}L{right} {bottom}M{left} {bottom}L{right} {top}")
}

fn polygon((x, y): (f64, f64), corners: &[(f64, f64)], radius: f64) -> String {
    let corner = |(dx, dy): &(f64, f64)| format!("{} {}", number(x + dx * radius), number(y + dy * radius));
    format!("M{}z", corners.iter().map(corner).collect::<Vec<_>>().join("L"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn forty_two_runs_are_told_apart_and_the_first_six_without_colour() {
        let both: BTreeSet<_> = (0..42).map(|run| (fill(run), marker(run, (0.0, 0.0), 4.0))).collect();
        let shapes: BTreeSet<_> = (0..6).map(|run| marker(run, (0.0, 0.0), 4.0)).collect();
        assert_eq!((both.len(), shapes.len()), (42, 6));
    }
}
