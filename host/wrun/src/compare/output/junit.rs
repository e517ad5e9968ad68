//! A comparison as JUnit's XML, for build servers: a test for each condition of each run and for each verdict on a name.
//!
//! Only conditions fail, as they do for the exit code. A verdict that says nothing, or a condition that nobody can judge, is
//! skipped.

use std::fmt::Write;

use crate::compare::data::{Comparison, ConditionResult, Verdict};
use crate::report::words::printable;

/// What came of a test, with its words.
enum Came<'a> {
    Well(&'a str),
    Failed(&'a str),
    Skipped(&'a str),
}

pub fn render(comparison: &Comparison) -> String {
    let conditions = comparison.conditions.iter().map(|condition| {
        let words = condition.words.as_str();
        let came = match condition.result {
            ConditionResult::Passed => Came::Well(words),
            ConditionResult::Failed | ConditionResult::TooFew => Came::Failed(words),
            ConditionResult::Inconclusive | ConditionResult::NotComparable => Came::Skipped(words),
        };
        (format!("fail-if {}", condition.expression), condition.label.as_str(), condition.result.word(), came)
    });
    let verdicts = comparison.samples.iter().flat_map(|name| {
        name.verdicts.iter().zip(&comparison.against_base).map(move |(judgement, against)| {
            let words = judgement.words.as_str();
            let came = match judgement.verdict {
                Verdict::NotComparable | Verdict::TooFew | Verdict::Inconclusive => Came::Skipped(words),
                Verdict::Failing | Verdict::Slower | Verdict::Faster | Verdict::Same => Came::Well(words),
            };
            (format!("verdict {}", name.name), against.label.as_str(), judgement.verdict.word(), came)
        })
    });
    let tests: Vec<_> = conditions.chain(verdicts).collect();
    let failed = tests.iter().filter(|(_, _, _, came)| matches!(came, Came::Failed(_))).count();
    let skipped = tests.iter().filter(|(_, _, _, came)| matches!(came, Came::Skipped(_))).count();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let totals = format!("tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\"", tests.len());
    let mut line = |text: String| {
        // Writing to a string cannot fail.
        _ = writeln!(xml, "{text}");
    };
    line(format!("<testsuites {totals}>"));
    line(format!("  <testsuite name=\"wrun compare\" {totals}>"));
    for (name, label, word, came) in tests {
        let said = |words: &str| escaped(&format!("{word}: {words}"));
        line(format!("    <testcase classname=\"{}\" name=\"{}\">", escaped(label), escaped(&name)));
        line(match came {
            Came::Well(words) => format!("      <system-out>{}</system-out>", said(words)),
            Came::Failed(words) => format!("      <failure message=\"{}\"/>", said(words)),
            Came::Skipped(words) => format!("      <skipped message=\"{}\"/>", said(words)),
        });
        line("    </testcase>".to_owned());
    }
    line("  </testsuite>".to_owned());
    line("</testsuites>".to_owned());
    xml
}

/// A stranger's words as XML 1.0 may have them, in an element or an attribute.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => safe.push(c),
            // XML has no way to write the others.
            _ => safe.push('\u{fffd}'),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_have_is_replaced_and_what_it_misreads_is_escaped() {
        assert_eq!(escaped("<a & 'b'> \"ü\""), "&lt;a &amp; &apos;b&apos;&gt; &quot;ü&quot;");
        assert_eq!(escaped("\u{1b}\n\u{ffff}"), "\\u{1b}\\n\u{fffd}");
    }
}
