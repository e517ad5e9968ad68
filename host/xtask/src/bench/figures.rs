//! The figures of a line, and whether they are within its limit.

use super::rounds::Spread;

/// One figure a round, in nanoseconds, bytes or what the unit of the line says.
pub struct Figures {
    pub guest: Vec<f64>,
    /// Empty where a limit stands by itself.
    pub native: Vec<f64>,
    /// Empty where there is no stock wasmtime, or where it is no matter.
    pub stock: Vec<f64>,
}

/// How much a guest may cost.
#[derive(Clone, Copy)]
pub enum Limit {
    /// Times the native figure.
    Ratio(f64),
    /// In the unit of the figures; with `below_stock`, also less than stock wasmtime takes, where that is there.
    AtMost { most: f64, below_stock: bool },
}

/// How figures are shown.
#[derive(Clone, Copy)]
pub enum Unit {
    Microseconds,
    Milliseconds,
    Megabytes,
    /// The figure is a share, 1 for all.
    Percent,
    /// The figure is how far a count is from what was expected, in standard deviations.
    Deviations,
}

impl Unit {
    pub fn show(self, figure: f64) -> String {
        match self {
            Self::Microseconds => format!("{:.2} us", figure / 1e3),
            Self::Milliseconds => format!("{:.1} ms", figure / 1e6),
            Self::Megabytes => format!("{:.1} MB", figure / 1e6),
            Self::Percent => format!("{:.2} %", figure * 100.0),
            Self::Deviations => format!("{figure:.2} sd"),
        }
    }
}

impl Limit {
    pub fn show(self, unit: Unit) -> String {
        match self {
            Self::Ratio(most) => format!("{most:.2} of native"),
            Self::AtMost { most, below_stock: false } => unit.show(most),
            Self::AtMost { most, below_stock: true } => format!("{}, and below wasmtime", unit.show(most)),
        }
    }
}

impl Figures {
    /// What is wrong, if anything is.
    pub fn verdict(&self, limit: Limit) -> Option<&'static str> {
        let ratio = |base| Spread::of_ratios(&self.guest, base).map(|ratio| ratio.median);
        match limit {
            Limit::Ratio(most) => ratio(&self.native).is_none_or(|ratio| ratio > most).then_some("over the limit"),
            Limit::AtMost { most, below_stock } => {
                if Spread::of(&self.guest).is_none_or(|guest| guest.median > most) {
                    Some("over the limit")
                } else if below_stock && ratio(&self.stock).is_some_and(|ratio| ratio >= 1.0) {
                    Some("not below stock wasmtime")
                } else {
                    None
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_wrong_only_within_the_limit() {
        let figures = |guest, stock: &[f64]| Figures { guest: vec![guest], native: vec![100.0], stock: stock.to_vec() };
        let at_most = Limit::AtMost { most: 100.0, below_stock: true };
        for (figures, limit, expected) in [
            (figures(110.0, &[]), Limit::Ratio(1.15), None),
            (figures(120.0, &[]), Limit::Ratio(1.15), Some("over the limit")),
            (figures(90.0, &[]), at_most, None),
            (figures(90.0, &[95.0]), at_most, None),
            (figures(90.0, &[80.0]), at_most, Some("not below stock wasmtime")),
            (figures(101.0, &[200.0]), at_most, Some("over the limit")),
        ] {
            assert_eq!(figures.verdict(limit), expected);
        }
    }
}
