//! Making text fit: how wide it is about, and what is left of it when that is too much.

use std::borrow::Cow;

use crate::report::words;

/// About how wide a text is, as a multiple of its size. The letters of DejaVu Sans are taken, which are wider than most.
pub fn width(text: &str) -> f64 {
    text.chars().map(advance).sum()
}

/// `text`, or its beginning and an ellipsis, in at most this width. `size` and `room` are in the same unit.
pub fn fit(text: &str, size: f64, room: f64) -> Cow<'_, str> {
    if width(text) * size <= room {
        return Cow::Borrowed(text);
    }
    let mut left = room / size - advance('…');
    let kept = text.chars().take_while(|c| {
        left -= advance(*c);
        left >= 0.0
    });
    Cow::Owned(format!("{}…", kept.collect::<String>().trim_end()))
}

/// The same of a stranger's text, which is made printable first: what is escaped takes more room.
pub fn printable(text: &str, size: f64, room: f64) -> String {
    fit(&words::printable(text), size, room).into_owned()
}

fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | 'J' | '\'' | '|' => 0.34,
        ' ' | '.' | ',' | ':' | ';' | '!' | '/' | '-' | '(' | ')' | '[' | ']' | 'f' | 'r' | 't' => 0.41,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 1.0,
        'A'..='Z' | '×' | '#' | '&' => 0.79,
        '\0'..='\u{24f}' => 0.64,
        '\u{2e80}'.. => 1.05,
        _ => 0.8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_fits_is_left_and_one_that_does_not_keeps_its_beginning() {
        assert_eq!(fit("native", 14.0, 100.0), "native");
        assert_eq!(fit("throttled by netmf3-board", 10.0, 100.0), "throttled by net…");
        assert_eq!(fit("名前名前名前名前", 10.0, 40.0), "名前…");
        assert_eq!(fit("anything", 10.0, 0.0), "…");
    }
}
