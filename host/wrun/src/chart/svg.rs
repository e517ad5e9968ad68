//! The one writer of SVG: elements with escaped attributes and text, nothing else.

use std::fmt::Write as _;

use crate::report::words::printable;

/// Elements as they gather, a line each.
#[derive(Default)]
pub struct Svg {
    text: String,
}

/// The side of its place that a text keeps to.
#[derive(Debug, Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub fn text(self) -> String {
        self.text
    }

    /// An element without content.
    pub fn element(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.begin(name, attributes);
        self.text.push_str("/>\n");
    }

    /// A line of text with its baseline at `y`.
    pub fn words(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, words: &str) {
        let (x, y) = (number(x), number(y));
        let mut attributes = vec![("class", class), ("x", x.as_str()), ("y", y.as_str())];
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => attributes.push(("text-anchor", "middle")),
            Anchor::End => attributes.push(("text-anchor", "end")),
        }
        self.begin("text", &attributes);
        _ = writeln!(self.text, ">{}</text>", escaped(words));
    }

    /// A path, unless it is empty.
    pub fn path(&mut self, class: &str, d: &str) {
        if !d.is_empty() {
            self.element("path", &[("class", class), ("d", d)]);
        }
    }

    pub fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let (x, y, width, height) = (number(x), number(y), number(width), number(height));
        self.element("rect", &[("class", class), ("x", &x), ("y", &y), ("width", &width), ("height", &height)]);
    }

    pub fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let (x1, y1, x2, y2) = (number(x1), number(y1), number(x2), number(y2));
        self.element("line", &[("class", class), ("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)]);
    }

    fn begin(&mut self, name: &str, attributes: &[(&str, &str)]) {
        _ = write!(self.text, "<{name}");
        for (name, value) in attributes {
            _ = write!(self.text, " {name}=\"{}\"", escaped(value));
        }
    }
}

/// A coordinate, to a tenth.
pub fn number(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    // Zero has a sign, which would be written.
    format!("{}", if tenths == 0.0 { 0.0 } else { tenths })
}

/// Text for an element or an attribute. It may be a stranger's: what XML forbids or a reader could not see is escaped as
/// on a terminal.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_strangers_stays_text() {
        let mut svg = Svg::default();
        svg.words("ink", (1.0, -0.01), Anchor::End, "</text><script>alert(\"&\")</script>\u{0}\u{1b}\u{ffff}");
        insta::assert_snapshot!(svg.text(), @r#"<text class="ink" x="1" y="0" text-anchor="end">&lt;/text&gt;&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;\u{0}\u{1b}�</text>"#);
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!([12.34567, 12.0, -0.04, 0.06].map(number), ["12.3", "12", "0", "0.1"]);
    }
}
