//! The rectangle of a plot: where a share of it lies, and the axes around it.

use super::label;
use super::scale::{Scale, rounds};
use super::svg::{Anchor, Svg};
use crate::report::text::units::count;

/// Size of the words at an axis.
const WORDS: f64 = 13.0;
/// Space right of a plot that its words may reach into.
const FREE: f64 = 18.0;

/// In the picture's units, from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Frame {
    /// `share` of the way from the left edge.
    pub fn x(&self, share: f64) -> f64 {
        self.left + self.width * share
    }

    /// `share` of the way up from the lower edge.
    pub fn y(&self, share: f64) -> f64 {
        self.bottom() - self.height * share
    }

    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Durations up the left edge, with a line across for each tick.
    pub fn durations_up(&self, svg: &mut Svg, scale: &Scale) {
        for tick in scale.ticks(scale.room(self.height, 20.0)) {
            let y = self.y(tick.place);
            svg.line("grid", (self.left, y), (self.right(), y));
            svg.words("faint", (self.left - 8.0, y + WORDS * 0.35), Anchor::End, &tick.words);
        }
        svg.line("axis", (self.left, self.top), (self.left, self.bottom()));
    }

    /// Durations along the lower edge, with a line up for each tick.
    pub fn durations_along(&self, svg: &mut Svg, scale: &Scale) {
        for tick in scale.ticks(scale.room(self.width, 64.0)) {
            let x = self.x(tick.place);
            svg.line("grid", (x, self.top), (x, self.bottom()));
            self.below(svg, x, &tick.words);
        }
        svg.line("axis", (self.left, self.bottom()), (self.right(), self.bottom()));
    }

    /// Numbers of samples, from 1 to `last`, along the lower edge.
    pub fn numbers_along(&self, svg: &mut Svg, last: usize) {
        let most = self.width / (label::width(&count(last as u64)) * WORDS + 24.0);
        let step = rounds().map(|step| step as usize).find(|step| last / step <= most as usize).unwrap_or(last.max(1));
        for number in (step..=last).step_by(step) {
            let x = self.x(middle(number - 1, last));
            svg.line("axis", (x, self.bottom()), (x, self.bottom() + 4.0));
            self.below(svg, x, &count(number as u64));
        }
        svg.line("axis", (self.left, self.bottom()), (self.right(), self.bottom()));
    }

    /// Words below a place on the lower edge: under its middle, but not beyond what is free on the right.
    fn below(&self, svg: &mut Svg, x: f64, words: &str) {
        let most = self.right() + FREE - label::width(words) * WORDS / 2.0;
        svg.words("faint", (x.min(most), self.bottom() + WORDS + 6.0), Anchor::Middle, words);
    }
}

/// Where the one of `index` among so many stands, as a share: each in the middle of its part of the axis.
pub fn middle(index: usize, of: usize) -> f64 {
    (index as f64 + 0.5) / of.max(1) as f64
}
