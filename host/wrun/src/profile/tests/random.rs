//! Claims about any text at all, and about good profiles that somebody has damaged.

use proptest::prelude::*;

use super::super::{load, presets};
use super::EVERYTHING;

/// What is put into a text to damage it: parts of the format, good and bad.
const PIECES: [&str; 24] = [
    "",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    "-1",
    "nan",
    "1e400",
    "0",
    "'5 ms'",
    "'0 kB/s'",
    "'100 %'",
    "true",
    "[[rule]]\n",
    "[[schedule]]\nlasts = '1 s'\n",
    "match = { port = 7 }\n",
    "rtt = '1 s'\n",
    "up.delay = '1 s'\n",
    "\u{1b}[31m",
    "é",
];

fn damaged() -> impl Strategy<Value = String> {
    let texts: Vec<_> = presets::all().map(|preset| preset.text).chain([EVERYTHING, EVERYTHING]).collect();
    let damage = (any::<prop::sample::Index>(), 0..12usize, prop::sample::select(&PIECES[..]));
    (prop::sample::select(texts), prop::collection::vec(damage, 0..4)).prop_map(|(text, damage)| {
        let mut text = text.to_owned();
        for (at, cut, piece) in damage {
            let start = text.floor_char_boundary(at.index(text.len() + 1));
            let end = text.ceil_char_boundary((start + cut).min(text.len()));
            text.replace_range(start..end, piece);
        }
        text
    })
}

/// Whatever is good is shown so that it is the same profile again; whatever is not has words that are safe to print.
fn check(text: &str) {
    match load(text) {
        Ok(loaded) => {
            let again = load(&loaded.effective).unwrap_or_else(|unfit| panic!("{unfit}"));
            assert_eq!((again.profile, again.effective), (loaded.profile, loaded.effective));
        }
        Err(unfit) => {
            assert!(!unfit.problems.is_empty());
            assert!(!unfit.to_string().contains(|c: char| c.is_control() && c != '\n'));
        }
    }
}

/// Long files of nothing but the same.
#[test]
fn no_amount_of_anything_breaks_the_reading_or_takes_for_ever() {
    for (begin, again, end) in [
        ("up = ", "[", ""),
        ("up = ", "{a=", ""),
        ("", "a.", "a = 1"),
        ("", "\n", "x"),
        ("", "x", ""),
        ("rtt = '", "9", " ms'"),
        ("", "[[rule]]\n", ""),
        ("rule = [", "{match.port=1},", "]"),
        ("schedule = [", "{},", "]"),
        ("stall.answer = [", "{},", "]"),
        ("board.unsupported = [", "'linger',", "]"),
        ("board.send-queue = { depth = 1, clears-after = '1 s', kinds = [", "['::1'],", "] }"),
        ("board.send-queue = { depth = 1, clears-after = '1 s', kinds = [[", "'::1',", "]] }"),
        ("rule = [{ match.address = [", "'::1',", "] }]"),
        ("rule = [{ match.operation = [", "'send',", "] }]"),
        ("up.trace = [", "1,", "]"),
        ("up.distribution = [", "1,", "]"),
    ] {
        let text = format!("{begin}{}{end}", again.repeat(300_000 / again.len()));
        assert!(load(&text).is_err(), "{begin}{again}");
        check(&text);
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_reading_of_a_profile(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn a_damaged_profile_is_told_as_damaged_or_is_the_same_when_shown(text in damaged()) {
        check(&text);
    }
}
