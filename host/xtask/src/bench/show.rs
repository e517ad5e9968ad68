//! A line's figures for whoever watches, and all lines as a table for the README.

use super::figures::Figures;
use super::lines::Line;
use super::rounds::Spread;

/// A line as text, a contestant a line.
pub fn text(line: &Line, figures: &Figures) -> String {
    let mut text = format!("{}: {}", line.name, line.what);
    for (name, of) in [("guest", &figures.guest), ("native", &figures.native), ("wasmtime", &figures.stock)] {
        if let Some(Spread { median, lowest, highest }) = Spread::of(of) {
            let [median, lowest, highest] = [median, lowest, highest].map(|figure| line.unit.show(figure));
            text += &format!("\n    {name:9} {median:>10}  ({lowest} to {highest}, {} rounds)", of.len());
        }
    }
    for (name, base) in [("native", &figures.native), ("wasmtime", &figures.stock)] {
        if let Some(Spread { median, lowest, highest }) = Spread::of_ratios(&figures.guest, base) {
            text += &format!("\n    of {name:9} {median:>7.2}  ({lowest:.2} to {highest:.2})");
        }
    }
    text + &format!("\n    limit     {}: {}", line.limit.show(line.unit), verdict(line, figures))
}

/// All of them in Markdown, medians and, of the ratios within a round, the lowest and the highest.
pub fn table(results: &[(&Line, Figures)]) -> String {
    let mut table = String::from(
        "| what | guest | native | ratio (lowest to highest) | limit | verdict |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for (line, figures) in results {
        let median = |of| Spread::of(of).map(|spread| line.unit.show(spread.median)).unwrap_or_default();
        let ratio = |base| {
            Spread::of_ratios(&figures.guest, base)
                .map(|Spread { median, lowest, highest }| format!("{median:.2} ({lowest:.2} to {highest:.2})"))
        };
        let mut ratios = ratio(&figures.native).unwrap_or_default();
        if let Some(of_stock) = ratio(&figures.stock) {
            ratios += &format!(", of wasmtime {of_stock}");
        }
        let cells = [
            line.what.to_owned(),
            median(&figures.guest),
            median(&figures.native),
            ratios,
            line.limit.show(line.unit),
            verdict(line, figures).to_owned(),
        ];
        table += &format!("| {} |\n", cells.join(" | "));
    }
    table
}

fn verdict(line: &Line, figures: &Figures) -> &'static str {
    figures.verdict(line.limit).unwrap_or("ok")
}

#[cfg(test)]
mod tests {
    use super::super::figures::{Limit, Unit};
    use super::*;

    fn line(limit: Limit) -> Line {
        let measure = |_: &_| Ok(Figures { guest: Vec::new(), native: Vec::new(), stock: Vec::new() });
        Line { name: "start", what: "a guest that does nothing", unit: Unit::Milliseconds, limit, measure }
    }

    #[test]
    fn a_row_has_medians_the_ratios_with_their_spread_the_limit_and_the_verdict() {
        let ratio = line(Limit::Ratio(1.2));
        let below = line(Limit::AtMost { most: 10e6, below_stock: true });
        let guest = vec![2e6, 3e6, 2.2e6];
        let native = vec![2e6, 2e6, 2e6];
        let rows = table(&[
            (&ratio, Figures { guest: guest.clone(), native: native.clone(), stock: Vec::new() }),
            (&below, Figures { guest, native, stock: vec![2e6, 2e6, 2e6] }),
        ]);
        let rows: Vec<&str> = rows.lines().collect();
        assert_eq!(
            rows,
            [
                "| what | guest | native | ratio (lowest to highest) | limit | verdict |",
                "| --- | --- | --- | --- | --- | --- |",
                "| a guest that does nothing | 2.2 ms | 2.0 ms | 1.10 (1.00 to 1.50) | 1.20 of native | ok |",
                "| a guest that does nothing | 2.2 ms | 2.0 ms | 1.10 (1.00 to 1.50), of wasmtime 1.10 (1.00 to 1.50) \
                 | 10.0 ms, and below wasmtime | not below stock wasmtime |",
            ]
        );
    }
}
