//! What is wrong with a profile, and where: told as the line itself with the place marked in it.

use std::fmt;
use std::ops::Range;

use crate::report::words::{cut, printable};

/// More than these are not told: they only bury the first.
const TOLD: usize = 20;

/// Of a line of the file this many bytes at most are shown before where the place begins, and as many from there on.
const AROUND: usize = 60;

/// Something wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Bytes of the text. `None` where it is about all of it.
    pub span: Option<Range<usize>>,
    pub message: String,
    /// What is allowed, or the next step. May be empty.
    pub help: String,
}

/// A profile that cannot be used, with all that is wrong with it. Its words are several lines, and safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Unfit {
    /// The file, or what else the text came from.
    pub origin: String,
    pub text: String,
    /// At least one, in the order of the text.
    pub problems: Vec<Problem>,
}

impl Unfit {
    pub fn new(origin: String, text: &str, mut problems: Vec<Problem>) -> Self {
        let place = |problem: &Problem| problem.span.as_ref().map_or((0, 0), |span| (span.start, span.end));
        problems.sort_by(|one, other| (place(one), &one.message).cmp(&(place(other), &other.message)));
        // What stands in `both` is looked at once for each way.
        problems.dedup();
        Self { origin, text: text.to_owned(), problems }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = printable(&self.origin);
        let count = match self.problems.len() {
            1 => "an error".to_owned(),
            many => format!("{many} errors"),
        };
        write!(f, "the profile {origin} cannot be used: {count}")?;
        for problem in self.problems.iter().take(TOLD) {
            write!(f, "\n\n{origin}")?;
            match &problem.span {
                Some(span) => Place::of(&self.text, span).write(f, &problem.message)?,
                None => write!(f, ": {}", printable(&problem.message))?,
            }
            if !problem.help.is_empty() {
                write!(f, "\n  {}", printable(&problem.help))?;
            }
        }
        match self.problems.len().saturating_sub(TOLD) {
            0 => Ok(()),
            more => write!(f, "\n\nand {more} more"),
        }
    }
}

/// A place as people count: from 1.
struct Place<'a> {
    line: usize,
    column: usize,
    before: &'a str,
    marked: &'a str,
    after: &'a str,
}

impl<'a> Place<'a> {
    fn of(text: &'a str, span: &Range<usize>) -> Self {
        let start = text.floor_char_boundary(span.start);
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = begin + text[begin..end].trim_end_matches('\r').len();
        // The place may be the end of the line, or reach past it.
        let start = start.min(end);
        let stop = text.ceil_char_boundary(span.end).clamp(start, end);
        Self {
            line: 1 + text[..begin].matches('\n').count(),
            column: 1 + text[begin..start].chars().count(),
            before: &text[begin..start],
            marked: &text[start..stop],
            after: &text[stop..end],
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, message: &str) -> fmt::Result {
        let Self { line, column, .. } = self;
        // A tab is as wide as a terminal likes: here it is one blank, so that the mark stands where it should.
        let plain = |text: &str| printable(&text.replace('\t', " ")).into_owned();
        let near = &self.before[self.before.ceil_char_boundary(self.before.len().saturating_sub(AROUND))..];
        let before = format!("{}{}", if near.len() < self.before.len() { "…" } else { "" }, plain(near));
        let marked = plain(cut(self.marked, AROUND));
        let after = cut(self.after, AROUND.saturating_sub(self.marked.len()));
        let more = if cut(self.marked, AROUND).len() + after.len() < self.marked.len() + self.after.len() {
            "…"
        } else {
            ""
        };
        let gutter = " ".repeat(line.to_string().len());
        let blank = " ".repeat(before.chars().count());
        let mark = "^".repeat(marked.chars().count().max(1));
        writeln!(f, ":{line}:{column}: {}", printable(message))?;
        writeln!(f, "  {line} | {before}{marked}{}{more}", plain(after))?;
        write!(f, "  {gutter} | {blank}{mark}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(text: &str, span: Range<usize>) -> String {
        let problem = Problem { span: Some(span), message: "wrong".to_owned(), help: "do this".to_owned() };
        Unfit::new("a.toml".to_owned(), text, vec![problem]).to_string()
    }

    #[test]
    fn the_mark_stands_below_its_place() {
        let text = "one = 1\n\té = \"zwei\"\r\nthree = 3";
        insta::assert_snapshot!(
            [told(text, 14..20), told(text, 0..3), told(text, 31..99), told("", 0..0)].join("\n\n")
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_place_and_a_hostile_one_moves_no_cursor() {
        let long = format!("{}here{}", "b".repeat(5000), "a".repeat(5000));
        insta::assert_snapshot!([told(&long, 5000..5004), told("x = \"\u{1b}[31m\u{202e}\" y", 4..14)].join("\n\n"));
    }

    proptest! {
        #[test]
        fn no_text_and_no_place_breaks_the_telling(text in any::<String>(), from: u8, to: u8) {
            let told = told(&text, from.into()..to.into());
            prop_assert!(!told.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
